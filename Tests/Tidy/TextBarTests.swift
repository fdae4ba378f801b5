import Testing

@Suite("The texts stay short")
struct TextBarTests {
    /// Keys whose entry in expunged.conf(5) needs more than three lines, each with the reason.
    private static let longEntries = [
        "provider.kind": "lists the kinds",
        "provider.on_unrevocable": "says what each value does",
        "provider.notifications": "lists the formats, and which kind has which",
        "provider.preset": "lists the presets",
        "provider.issuer": "may be left out in two cases",
        "provider.client_authentication": "lists the methods",
        "directory.providers": "lists the names that need no entry",
        "store.kind": "lists the kinds",
        "store.residual_copies_kept": "names the files of each database",
        "store.triggers": "says what each value does",
        "store.items": "shows both forms of an entry",
        "store.preset": "lists the presets",
        "store.table.inside": "says what each value means",
        "store.table.set.COLUMN.strategy": "lists the strategies",
        "store.erase.path": "lists what a path may contain",
    ]

    private let tree: SourceTree

    init() throws { tree = try SourceTree.shared.get() }

    @Test("the README has at most 600 words")
    func readme() throws {
        #expect(try tree.file("README.md").wordCount <= 600)
    }

    @Test("before the first release the changelog has one section, and at most 80 lines")
    func changelog() throws {
        let file = try tree.file("CHANGELOG.md")
        #expect(file.lineCount <= 80)
        let headings = (1...file.lineCount).map(file.trimmed).filter { $0.hasPrefix("## ") }
        #expect(headings.count == 1)
        #expect(headings.first?.hasPrefix("## [0.1.0] - ") == true)
    }

    @Test("guides, providers, manuals, catalog, glossary and changelog have at most 40,000 words")
    func documentation() {
        let places = [
            "docs/guides/", "docs/providers/", "docs/man/", "docs/GLOSSARY.md", "CHANGELOG.md",
            "systemd/expunged.catalog",
        ]
        let counts = places.map { place in
            tree.files.filter { $0.path.hasPrefix(place) }.map(\.wordCount).reduce(0, +)
        }
        #expect(!counts.contains(0), "a place has no text")
        #expect(counts.reduce(0, +) <= 40_000)
    }

    @Test("a key in expunged.conf(5) has at most three lines, unless it has special cases")
    func keys() throws {
        let entries = Self.entries(of: try tree.file("docs/man/expunged.conf.5"))
        #expect(entries.count > 200)
        let long = entries.filter { $0.lineCount > 3 }
        for entry in long {
            #expect(Self.longEntries[entry.key] != nil, "\(entry.key): \(entry.lineCount) lines")
        }
        let needless = Set(Self.longEntries.keys).subtracting(long.map(\.key))
        #expect(needless.isEmpty, "remove them from the list")
    }

    @Test("an entry ends at the next key, and at the end of the list")
    func entrySamples() {
        let page = SourceFile(
            "docs/man/a.5",
            ".Bl -tag\n.It Cm a.b\n(text)\nOne.\n.It Cm a.c\n(text)\n.El\nText.\n.It d\nText.\n"
        )
        let entries = Self.entries(of: page)
        #expect(entries.map(\.key) == ["a.b", "a.c"])
        #expect(entries.map(\.lineCount) == [2, 1])
    }

    /// Each key of the page, and how many lines stand behind it.
    private static func entries(of page: SourceFile) -> [(key: String, lineCount: Int)] {
        var entries: [(key: String, lineCount: Int)] = []
        var isEntry = false
        for line in 1...page.lineCount {
            let text = page.trimmed(line: line)
            if text.hasPrefix(".It Cm ") {
                entries.append((String(text.dropFirst(7)), 0))
                isEntry = true
            } else if text.hasPrefix(".El") || text.hasPrefix(".It") {
                isEntry = false
            } else if isEntry {
                entries[entries.count - 1].lineCount += 1
            }
        }
        return entries
    }
}

extension SourceFile {
    /// What blanks and line feeds part, as `wc -w` counts.
    var wordCount: Int { bytes.split { " \n\t".utf8.contains($0) }.count }
}
