extension Rule {
    /// 100 columns, so that a change shows in a few lines; tables, code and addresses are as long
    /// as they are.
    static let proseWidth = Rule("prose-width") { file in
        guard Prose.isMarkdown(file) else { return [] }
        return Prose.markdownLines(of: file).compactMap { line, text in
            let content = text.drop { $0 == " " }
            guard text.count > 100, !content.hasPrefix("|"), content.contains(" "),
                !content.contains("](") || content.split(separator: " ").count > 4
            else { return nil }
            return (line, "\(text.count) columns, at most 100; break the line")
        }
    }

    /// 35 words: a longer sentence is read twice.
    static let sentenceLength = Rule("sentence-length") { file in
        guard Prose.isMarkdown(file), !file.path.hasPrefix("Sources/") else { return [] }
        return Prose(file).sentences().filter { $0.words.count > 35 }.map {
            let begin = $0.words.prefix(5).joined(separator: " ")
            return ($0.line, "'\(begin) …' has \($0.words.count) words, at most 35; divide it")
        }
    }

    /// 900 words: a guide is one task.
    static let guideLength = Rule("guide-length") { file in
        let isGuide = ["docs/guides/", "docs/stores/"].contains { file.path.hasPrefix($0) }
        guard isGuide else { return [] }
        guard file.wordCount > 900 else { return [] }
        return [(1, "\(file.wordCount) words, at most 900; divide it by task")]
    }

    /// The field has better words than those that this project once coined.
    static let plainWords = Rule("plain-words") { file in
        guard Prose.isMarkdown(file) || Prose.isManual(file) || Prose.isCatalog(file) else {
            return []
        }
        return Prose(file).paragraphs.flatMap { paragraph in
            advice(on: paragraph.text).map { (paragraph.line, $0) }
        }
    }

    /// The same for string literals: messages, help and what manuals are made of.
    static let plainStrings = Rule("plain-strings") { file in
        guard file.isSwift, file.path.hasPrefix("Sources/") else { return [] }
        return file.literals().flatMap { line, text in advice(on: text).map { (line, $0) } }
    }

    private static func advice(on text: String) -> [String] {
        let words = text.lowercased().split { !$0.isLetter && $0 != "_" }
        let pairs = zip(words, words.dropFirst()).map { "\($0) \($1)" }
        return (words.map(String.init) + pairs).compactMap { word in
            instead[word].map { "'\(word)': write \($0)" }
        }
    }

    /// What not to write, and what to write instead.
    private static let instead: [String: String] = {
        let rows: [(words: String, instead: String)] = [
            ("trouble troubles", "failure or error"),
            ("surroundings", "environment or context"),
            ("moment moments", "the time, or when it is"),
            ("dice", "random source"),
            ("desk desks", "service"),
            ("afterlife", "recheck"),
            ("told tell tells minded met", "reports, checks or finds"),
            ("stray strays", "unmapped data"),
            ("misfit misfits", "startup problem"),
            ("misspelling misspellings", "non-canonical id"),
            ("lingering remnants", "residual copies"),
            ("fence fences fenced", "cutoff, or newer than the cutoff"),
            ("round rounds", "attempt"),
            ("nudge nudges", "signal"),
            ("turnstile", "lock"),
            ("mint mints minted", "generator, or create"),
            ("tally tallies", "counter"),
            ("shelf", "registry"),
            ("news", "update"),
            ("somebody nobody", "who it is"),
            ("afterwards", "then"),
            ("behaviour", "behavior"),
            ("honour honours honoured", "honor"),
            ("neighbour neighbours", "neighbor"),
            ("recognise recognises recognised", "recognize"),
            ("organisation", "organization"),
        ]
        let pairs: [(words: [String], instead: String)] = [
            (["look again", "looks again", "looked again", "looking again", "a look"], "recheck"),
            (["brought back"], "restored"),
            (["taken up", "taken in", "handed in"], "accepted or submitted"),
            (["dates nothing"], "has no timestamps"),
        ]
        let all = rows.map { ($0.words.split(separator: " ").map(String.init), $0.instead) } + pairs
        return Dictionary(
            all.flatMap { words, instead in words.map { ($0, instead) } },
            uniquingKeysWith: { first, _ in first }
        )
    }()
}

extension Rule {
    /// The same for names and comments, where such a word may be a part of a name.
    static let coinedNames = Rule("coined-names") { file in
        guard file.isSwift || file.path.hasSuffix(".py"), !file.path.hasPrefix("Tests/Tidy/")
        else { return [] }
        return (file.isSwift ? coined : coined + coinedInPython).flatMap { word, instead in
            [word, word.prefix(1).uppercased() + word.dropFirst()].flatMap { needle in
                file.rawOffsets(of: needle).filter { isWhole($0, needle.utf8.count, in: file) }
                    .map { (file.line(of: $0), "'\(needle)': write \(instead)") }
            }
        }
    }

    private static let coined = [
        ("afterlife", "recheck"), ("desk", "service"), ("dice", "random source"),
        ("fence", "cutoff"), ("fenced", "newer"), ("lingering", "residual copies"),
        ("mint", "generator"), ("misfit", "startup problem"), ("misspelling", "non-canonical id"),
        ("nudge", "signal"), ("remnants", "residual copies"), ("shelf", "registry"),
        ("stray", "unmapped data"), ("surroundings", "environment"), ("tally", "counter"),
        ("trouble", "failure"), ("turnstile", "lock"),
    ]

    private static let coinedInPython = [
        ("moment", "a time"), ("tell", "report"), ("told", "reported"),
    ]

    /// Whether the bytes there are a word, or one of the words that a name is made of.
    private static func isWhole(_ offset: Int, _ count: Int, in file: SourceFile) -> Bool {
        let lowercase = UInt8(ascii: "a")...UInt8(ascii: "z")
        let uppercase = UInt8(ascii: "A")...UInt8(ascii: "Z")
        if offset > 0, lowercase.contains(file.bytes[offset]) {
            let before = file.bytes[offset - 1]
            guard !lowercase.contains(before), !uppercase.contains(before) else { return false }
        }
        let rest = file.bytes[(offset + count)...].prefix { lowercase.contains($0) }
        return rest.isEmpty || rest.elementsEqual("s".utf8)
    }
}

extension SourceFile {
    /// The text of string literals, line by line, without the code of their interpolations.
    func literals() -> [(line: Int, text: String)] {
        // Blanks differ from what is blanked.
        let shown = bytes.map { $0 == UInt8(ascii: " ") ? 1 : $0 }
        let (text, blanked) = (CodeBlanker.blank(shown, strings: false), CodeBlanker.blank(shown))
        var literals: [(line: Int, text: [UInt8])] = []
        // Parentheses that an interpolation has opened.
        var depth = 0
        for offset in text.indices where text[offset] != blanked[offset] {
            if offset == 0 || text[offset - 1] == blanked[offset - 1] {
                literals.append((line(of: offset), []))
            }
            let isEscaped = offset > 0 && text[offset - 1] == UInt8(ascii: "\\")
            if text[offset] == UInt8(ascii: "("), depth > 0 || isEscaped { depth += 1 }
            if depth == 0 { literals[literals.count - 1].text.append(bytes[offset]) }
            if text[offset] == UInt8(ascii: ")"), depth > 0 { depth -= 1 }
        }
        return literals.map { ($0.line, String(decoding: $0.text, as: UTF8.self)) }
    }
}
