import Testing

@Suite("The texts")
struct ProseTests {
    private let tree: SourceTree

    init() throws { tree = try SourceTree.shared.get() }

    @Test("link to pages and headings that exist")
    func links() {
        let problems = Links(tree.files).problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("say each thing once: no paragraph of twelve words or more stands in two places")
    func duplicates() {
        let problems = Self.duplicates(in: tree.files)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("of settings stand in one place each, if they are not short")
    func settings() {
        let files = tree.files.filter { file in
            file.path.hasPrefix("Sources/")
                && ["Setting(", "Setting.keys("].contains { !file.offsets(of: $0).isEmpty }
        }
        let lines = files.flatMap { file in file.literals().map { (file.path, $0.line, $0.text) } }
        let texts = lines.filter { $0.2.count >= 28 && $0.2.hasSuffix(".\"") }
        #expect(texts.count > 100)
        for (text, places) in Dictionary(grouping: texts, by: \.2) where places.count > 1 {
            Issue.record("\(text) stands in \(places.map { "\($0.0):\($0.1)" })")
        }
    }

    @Test("a link is looked for where it leads, and a page by its path")
    func linkSamples() {
        let files = [
            SourceFile("docs/a.md", "# A b, c\n[x](b/c.md#d) [y](#a-b-c) [z](b) [w](b/e.md)\n"),
            SourceFile(
                "docs/b/c.md",
                "[x](../a.md) [y](../a.md#a) `[z](q)`\n```\n[v](q)\n```\n## D\n"
            ),
            SourceFile("Sources/A.swift", "// docs/a.md, docs/q.md and https://a/docs/r.md\n"),
        ]
        #expect(
            Links(files).problems() == [
                "docs/a.md:2: 'b/e.md' leads nowhere",
                "docs/b/c.md:1: '../a.md#a' leads nowhere",
                "Sources/A.swift:1: 'docs/q.md' is missing",
            ]
        )
    }

    @Test("a paragraph is compared without its line breaks")
    func duplicateSamples() {
        let one = "one two three four five six seven eight nine ten eleven twelve"
        let files = [
            SourceFile("docs/a.md", "# A\n\n\(one)\n\n- \(one) more\n"),
            SourceFile("docs/b.md", "\(one.replacing(" six ", with: "\nsix "))\n\nshort\n"),
            SourceFile("docs/c.md", "short\n"),
        ]
        #expect(Self.duplicates(in: files) == ["docs/b.md:1 repeats docs/a.md:3"])
    }

    private static func duplicates(in files: [SourceFile]) -> [String] {
        var places: [String: String] = [:]
        var problems: [String] = []
        for file in files where Prose.isMarkdown(file) {
            for paragraph in Prose(file).paragraphs where !paragraph.isTabular {
                guard paragraph.text.split(separator: " ").count >= 12 else { continue }
                let place = "\(file.path):\(paragraph.line)"
                if let first = places[paragraph.text] {
                    problems.append("\(place) repeats \(first)")
                } else {
                    places[paragraph.text] = place
                }
            }
        }
        return problems
    }
}
