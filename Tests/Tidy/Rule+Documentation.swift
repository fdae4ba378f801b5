extension Rule {
    /// Types that other modules use, and functions that throw, have a doc comment.
    ///
    /// Properties, initializers and functions that cannot fail need one only where the name leaves
    /// a unit, a range or a reason open.
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

    /// Throwing witnesses of the protocols of the standard library and of the kinds.
    private static let witnesses = [
        "func encode(to", "func makeReceiver(_", "func make(_ setup: ProviderSetup)",
        "func open(_ environment: StoreEnvironment)", "func copy(at place: String)",
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
        guard !witnesses.contains(where: { head.contains($0) }) else { return false }
        let words = head.split { $0 == " " || $0 == "(" || $0 == "?" || $0 == "<" }
        let types = ["struct", "class", "enum", "protocol", "actor"]
        let isType = words.contains { types.contains(String($0)) }
        return isType && !words.contains("func") || isThrowing(head)
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
