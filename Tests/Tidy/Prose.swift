/// The text of a Markdown file, a manual page or the journal catalog, without code.
struct Prose: Sendable {
    /// A paragraph, a list item, a heading or a cell of a table.
    struct Paragraph: Sendable {
        /// Where it begins, from 1.
        let line: Int
        /// On one line, code spans as `#`, links without their addresses.
        let text: String
        let isTabular: Bool
    }

    private(set) var paragraphs: [Paragraph] = []
    private var pending: (line: Int, texts: [String]) = (0, [])

    static func isMarkdown(_ file: SourceFile) -> Bool { file.path.hasSuffix(".md") }

    static func isManual(_ file: SourceFile) -> Bool { file.path.hasPrefix("docs/man/") }

    static func isCatalog(_ file: SourceFile) -> Bool { file.path.hasSuffix(".catalog") }

    /// Empty for files of other kinds.
    init(_ file: SourceFile) {
        if Self.isMarkdown(file) {
            readMarkdown(file)
        } else if Self.isManual(file) {
            readManual(file)
        } else if Self.isCatalog(file) {
            readCatalog(file)
        }
        flush()
    }

    /// Words in a row that no sentence, cell or list item ends, each as `words`.
    func sentences() -> [(line: Int, words: [Substring])] {
        paragraphs.flatMap { paragraph in
            var found: [(line: Int, words: [Substring])] = []
            var words: [Substring] = []
            for word in paragraph.text.split(separator: " ") {
                if word.contains(where: { $0.isLetter || $0.isNumber || $0 == "#" }) {
                    words.append(word)
                }
                let end = word.last { !")\"'”’".contains($0) }
                guard let end, ".!?".contains(end) else { continue }
                found.append((paragraph.line, words))
                words = []
            }
            return found + [(paragraph.line, words)]
        }
    }

    /// The lines outside of code, each with its number from 1.
    static func markdownLines(of file: SourceFile) -> [(line: Int, text: String)] {
        var isCode = false
        return (1...file.lineStarts.count).compactMap { line in
            let text = String(decoding: file.bytes[file.range(ofLine: line)], as: UTF8.self)
            let content = text.drop { $0 == " " }
            if content.hasPrefix("```") {
                isCode.toggle()
                return (line, "")
            }
            return isCode ? nil : (line, text)
        }
    }

    private mutating func readMarkdown(_ file: SourceFile) {
        for (line, text) in Self.markdownLines(of: file) {
            let content = text.drop { $0 == " " }
            let indentation = text.count - content.count
            if content.isEmpty || indentation >= 4 && pending.texts.isEmpty {
                flush()
            } else if content.hasPrefix("|") {
                flush()
                for cell in Self.withoutCode(content).split(separator: "|") {
                    add(String(cell), at: line, isTabular: true)
                }
            } else if content.hasPrefix("#") {
                flush()
                add(String(content.drop { $0 == "#" }), at: line, isTabular: true)
            } else {
                let item = Self.withoutMarker(content)
                if item.startIndex != content.startIndex { flush() }
                if pending.texts.isEmpty { pending.line = line }
                pending.texts.append(String(item))
            }
        }
    }

    private mutating func readManual(_ file: SourceFile) {
        for line in 1...file.lineStarts.count {
            let text = file.trimmed(line: line)
            guard !text.isEmpty, !text.hasPrefix("."), !text.hasPrefix("'") else {
                flush()
                continue
            }
            if pending.texts.isEmpty { pending.line = line }
            pending.texts.append(Self.withoutFonts(text))
        }
    }

    private mutating func readCatalog(_ file: SourceFile) {
        let heads = ["-- ", "#", "Defined-By:", "Documentation:"]
        for line in 1...file.lineStarts.count {
            let text = file.trimmed(line: line)
            guard !text.isEmpty, !heads.contains(where: { text.hasPrefix($0) }) else {
                flush()
                continue
            }
            if pending.texts.isEmpty { pending.line = line }
            pending.texts.append(text)
        }
    }

    private mutating func flush() {
        guard !pending.texts.isEmpty else { return }
        add(
            Self.withoutCode(pending.texts.joined(separator: " ")),
            at: pending.line,
            isTabular: false
        )
        pending.texts = []
    }

    private mutating func add(_ text: String, at line: Int, isTabular: Bool) {
        let plain = Self.withoutAddresses(text).filter { $0 != "*" }
        guard plain.contains(where: { $0 != " " }) else { return }
        paragraphs.append(Paragraph(line: line, text: plain, isTabular: isTabular))
    }

    /// Without the marker of a list item at its beginning.
    private static func withoutMarker(_ content: Substring) -> Substring {
        if content.hasPrefix("- ") || content.hasPrefix("* ") { return content.dropFirst(2) }
        let digits = content.prefix { $0.isNumber }
        guard !digits.isEmpty, content.dropFirst(digits.count).hasPrefix(". ") else {
            return content
        }
        return content.dropFirst(digits.count + 2)
    }

    /// With each code span as one sign.
    static func withoutCode(_ text: some StringProtocol) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "#" }.joined()
    }

    /// Without what stands in parentheses behind a bracket, and in angle brackets.
    private static func withoutAddresses(_ text: String) -> String {
        var result = ""
        var depth = 0
        var previous: Character = " "
        for character in text {
            if depth > 0 {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
            } else if character == "(", previous == "]" {
                depth = 1
            } else if character != "[", character != "]" {
                result.append(character)
            }
            previous = character
        }
        return result
    }

    /// Without what a manual page prints as code: bold and italic text.
    private static func withoutFonts(_ text: String) -> String {
        var result = ""
        for (index, part) in text.replacing("\\-", with: "-").split(
            separator: "\\f",
            omittingEmptySubsequences: false
        ).enumerated() {
            if index == 0 {
                result += part
            } else if let font = part.first {
                result += "RP".contains(font) ? String(part.dropFirst()) : "#"
            }
        }
        return result
    }
}
