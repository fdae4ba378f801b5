/// Where the texts refer to files of the project.
struct Links {
    private let tree: [SourceFile]
    private let headings: [String: Set<String>]
    private let paths: Set<String>

    init(_ tree: [SourceFile]) {
        self.tree = tree
        var paths: Set<String> = []
        for file in tree {
            let parts = file.path.split(separator: "/")
            for count in parts.indices { paths.insert(parts[...count].joined(separator: "/")) }
        }
        self.paths = paths
        headings = Dictionary(
            tree.filter(Prose.isMarkdown).map { ($0.path, Self.anchors(of: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Links of Markdown files that lead nowhere, and pages below `docs` that do not exist.
    func problems() -> [String] {
        tree.filter(Prose.isMarkdown).flatMap(brokenLinks) + tree.flatMap(missingPages)
    }

    private func brokenLinks(in file: SourceFile) -> [String] {
        Prose.markdownLines(of: file).flatMap { line, text in
            Prose.withoutCode(text).matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
                let link = match.output.1
                guard !link.contains(":") else { return nil }
                let parts = link.split(separator: "#", omittingEmptySubsequences: false)
                let path = parts[0].isEmpty ? file.path : resolved(parts[0], from: file.path)
                let isFound =
                    paths.contains(path)
                    && (parts.count == 1 || headings[path]?.contains(String(parts[1])) == true)
                return isFound ? nil : "\(file.path):\(line): '\(link)' leads nowhere"
            }
        }
    }

    private func resolved(_ link: Substring, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast()
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// What names a page by its path from the root, in whatever file.
    private func missingPages(in file: SourceFile) -> [String] {
        guard !file.path.hasPrefix("Tests/Tidy/") else { return [] }
        return file.rawOffsets(of: "docs/").compactMap { offset in
            if offset > 0, SourceFile.isWord(file.bytes[offset - 1]) { return nil }
            if offset > 0, "/.-".utf8.contains(file.bytes[offset - 1]) { return nil }
            let bytes = file.bytes[offset...].prefix {
                SourceFile.isWord($0) || "/.-".utf8.contains($0)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.firstRange(of: ".md") else { return nil }
            let path = String(text[..<end.upperBound])
            // NAME stands for a kind.
            return paths.contains(path) || path.contains("NAME")
                ? nil : "\(file.path):\(file.line(of: offset)): '\(path)' is missing"
        }
    }

    /// Of each heading, as GitHub makes them.
    private static func anchors(of file: SourceFile) -> Set<String> {
        Set(
            Prose.markdownLines(of: file).filter { $0.text.hasPrefix("#") }.map { _, text in
                let title = text.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                return String(title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) })
                    .replacing(" ", with: "-")
            }
        )
    }
}
