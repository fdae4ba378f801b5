extension Rule {
    /// What another target uses has a doc comment.
    ///
    /// Left out is what a comment could only repeat: stored properties (their type's comment speaks
    /// of them), initializers that cannot fail, and witnesses of the protocols of the standard
    /// library and of the kinds.
    static let documentation = Rule("documentation") { file in
        packageDeclarations(in: file).compactMap { line, declaration in
            guard file.doc(aboveLine: line).isEmpty, needsDocumentation(declaration) else {
                return nil
            }
            return (
                line, "a package declaration needs a doc comment: one sentence, then why and limits"
            )
        }
    }

    /// Where parameters or the result are documented, so are the errors.
    static let throwsDocumented = Rule("throws-documented") { file in
        packageDeclarations(in: file).compactMap { line, declaration in
            let doc = file.doc(aboveLine: line)
            let isDetailed = doc.contains {
                $0.hasPrefix("/// - Parameter") || $0.hasPrefix("/// - Returns")
            }
            guard isDetailed, isThrowing(declaration),
                !doc.contains(where: { $0.hasPrefix("/// - Throws:") })
            else { return nil }
            return (line, "it throws: document '- Throws:' with the error and when")
        }
    }

    private static let witnesses = [
        "var description:", "var debugDescription:", "var customMirror:", "func hash(into",
        "func next()", "subscript(metadataKey", "func log(event", "func encode(to",
        // What every kind of provider or store has; its protocol says what it is.
        "var traits: ProviderTraits", "func make(_ setup: ProviderSetup)", "func makeReceiver(_",
        "var notificationFormats:", "var usualFormat:", "var directoryWord:",
        "var clientIDsNote:", "var secretText:", "var settings: [Setting]",
        "var cutoff: StoreCutoff", "func open(_ environment: StoreEnvironment)",
        "func copy(at place:", "func overlaps(_ other:", "func sharesDatabase(with other:",
        "var naming: TableNaming",
    ]

    /// The line of each declaration, and its head as one line of code.
    private static func packageDeclarations(in file: SourceFile) -> [(line: Int, head: String)] {
        guard file.path.hasPrefix("Sources/"), file.isSwift else { return [] }
        return file.offsets(of: "package ").compactMap { offset in
            let declaration = Declaration(in: file, at: offset, isProperty: false)
            let head = String(decoding: file.code[declaration.head], as: UTF8.self)
            guard !head.hasPrefix("package import") else { return nil }
            let isComputed = declaration.body != nil
            return (file.line(of: offset), isComputed ? head + "{" : head)
        }
    }

    private static func needsDocumentation(_ head: String) -> Bool {
        let words = head.split { $0 == " " || $0 == "(" || $0 == "?" || $0 == "<" }
        if witnesses.contains(where: { head.contains($0) }) || isOperator(head) { return false }
        if words.contains("init") { return isThrowing(head) }
        let isProperty = words.contains("let") || words.contains("var")
        return !isProperty || head.hasSuffix("{") && !head.contains("=")
    }

    /// An operator means what its sign says.
    private static func isOperator(_ head: String) -> Bool {
        guard let name = head.firstRange(of: "func ") else { return false }
        return head[name.upperBound...].first.map { !$0.isLetter && $0 != "`" } ?? false
    }

    /// Whether the head itself throws, not a function that it takes.
    private static func isThrowing(_ head: String) -> Bool {
        let result = head.split(separator: ")", omittingEmptySubsequences: false).dropFirst()
        guard !result.isEmpty, !head.contains("rethrows") else { return false }
        var depth = 0
        var outside = ""
        for character in head {
            if character == "(" { depth += 1 }
            if depth == 0 { outside.append(character) }
            if character == ")" { depth -= 1 }
        }
        return outside.contains(" throws")
    }
}

extension SourceFile {
    /// The lines of the doc comment above a line; attributes may stand between.
    func doc(aboveLine line: Int) -> [String] {
        var doc: [String] = []
        var above = line - 1
        while above >= 1 {
            let text = trimmed(line: above)
            if text.hasPrefix("///") {
                doc.append(text)
            } else if !(doc.isEmpty && text.hasPrefix("@")) {
                break
            }
            above -= 1
        }
        return doc.reversed()
    }
}
