import Testing

/// A kind of provider, directory or store: where it lives, and what it is called.
struct Slice: Sendable, CustomStringConvertible {
    /// Below `Sources`.
    let folder: String
    /// What no other source file contains, comments apart; in lower case.
    var words: [String] = []

    var description: String { folder }

    static let all: [Slice] = [
        Slice(folder: "Providers/Apple", words: ["apple"]),
        Slice(folder: "Providers/Google", words: ["\"google\"", "accounts.google.com"]),
        Slice(folder: "Providers/Facebook", words: ["facebook", "meta's"]),
        Slice(folder: "Providers/Microsoft", words: ["microsoft"]),
        Slice(folder: "Providers/GitHub", words: ["github"]),
        Slice(folder: "Providers/X", words: ["twitter", "api.x.com"]),
        Slice(folder: "Providers/Command"),
        Slice(folder: "Providers/OAuth2", words: ["\"oauth2\"", "kakao"]),
        Slice(folder: "Providers/Firebase"),
        Slice(folder: "Stores/SQLite"),
        Slice(folder: "Stores/PostgreSQL", words: ["\"postgresql\""]),
        Slice(folder: "Stores/MySQL", words: ["\"mysql\""]),
        Slice(folder: "Stores/Files"),
        Slice(folder: "Stores/Redis", words: ["\"redis\""]),
        Slice(folder: "Stores/Command"),
        Slice(folder: "Stores/Webhook", words: ["\"webhook\""]),
        Slice(folder: "Stores/S3", words: ["\"s3\""]),
        Slice(folder: "Stores/CloudStorage", words: ["google-cloud-storage"]),
        Slice(folder: "Stores/DynamoDB", words: ["\"dynamodb\""]),
        Slice(folder: "Stores/Firestore", words: ["\"firestore\""]),
        Slice(folder: "Stores/RealtimeDatabase", words: ["\"realtime-database\""]),
        Slice(folder: "Stores/HTTP"),
        Slice(folder: "Stores/FirebaseAuth", words: ["\"firebase-auth\""]),
    ]

    /// The types that the folder declares and others can see.
    func types(in files: [SourceFile]) -> Set<String> {
        let keywords = ["struct ", "class ", "enum ", "actor ", "protocol "]
        let own = files.filter { $0.path.hasPrefix("Sources/\(folder)/") }
        return Set(
            own.flatMap { file in
                keywords.flatMap { keyword in
                    file.offsets(of: keyword).filter { isVisible($0, in: file) }.map { offset in
                        let name = file.code[(offset + keyword.utf8.count)...]
                            .prefix { SourceFile.isWord($0) }
                        return String(decoding: name, as: UTF8.self)
                    }
                }
            }
        )
    }

    /// Whether a declaration is neither inside another one nor private.
    private func isVisible(_ offset: Int, in file: SourceFile) -> Bool {
        let line = file.trimmed(line: file.line(of: offset))
        let start = file.range(ofLine: file.line(of: offset)).lowerBound
        return file.code[start] != UInt8(ascii: " ") && !line.contains("private ")
    }
}

@Suite("The slices of the source tree")
struct SliceTests {
    /// The one list of kinds.
    private static let list = "Sources/Daemon/Start/Kinds.swift"
    /// Files that share a word with a kind, and why.
    private static let exceptions: Set<String> = [
        // Writes the configuration of another program's four stores, as text for an operator.
        "Sources/Daemon/Convert/ExtensionConversion.swift",
        // The header fields that may travel: a contract of the control API, whoever reads them.
        "Sources/Control/Input/NotificationInput.swift",
        // Every other service signs a path that is encoded once more.
        "Sources/Stores/Shared/AWSSigner.swift",
        // The scheme of an API that takes tokens of the client credentials grant.
        "Sources/Stores/HTTP/Presets/Auth0.swift",
    ]

    private let files: [SourceFile]

    init() throws {
        files = try SourceTree.shared.get().files.filter {
            $0.isSwift && $0.path.hasPrefix("Sources/")
                && !$0.path.hasPrefix("Sources/Sandbox/")
                && !$0.path.hasPrefix("Sources/expunged-sandbox/")
        }
    }

    @Test("are named by the one list of kinds, and by no other file outside", arguments: Slice.all)
    func isSeparate(slice: Slice) {
        let types = slice.types(in: files)
        #expect(!types.isEmpty, "there is nothing in Sources/\(slice.folder)")
        let outside = files.filter { !$0.path.hasPrefix("Sources/\(slice.folder)/") }
        let naming = outside.filter { file in
            types.contains { !file.offsets(of: $0).isEmpty && file.isNaming($0) }
                || (!slice.words.isEmpty && !Self.exceptions.contains(file.path)
                    && file.contains(anyOf: slice.words))
        }
        #expect(naming.map(\.path) == [Self.list])
    }

    @Test(
        "have the files that docs/ARCHITECTURE.md lists for a new kind",
        arguments: [("## Adding a provider\n", "GitHub")]
    )
    func isListed(heading: String, name: String) throws {
        let tree = try SourceTree.shared.get()
        let page = try tree.file("docs/ARCHITECTURE.md")
        let text = String(decoding: page.bytes, as: UTF8.self)
        let start = try #require(text.firstRange(of: heading)).upperBound
        let rest = text[start...]
        let section = rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        let spans = section.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { $0.element.replacing("NAME", with: name) }
        let paths = spans.filter { $0.contains("/") }
        #expect(paths.count > 5)
        for path in paths {
            let isThere = tree.files.contains {
                $0.path == path || path.hasSuffix("/") && $0.path.hasPrefix(path)
            }
            #expect(isThere, "\(path)")
        }
    }
}

extension SourceFile {
    /// Whether the code has the name as a whole word.
    fileprivate func isNaming(_ type: String) -> Bool {
        offsets(of: type).contains { offset in
            let end = offset + type.utf8.count
            return end >= code.count || !Self.isWord(code[end])
        }
    }

    /// Whether the text without its comments has one of the words, in any case.
    fileprivate func contains(anyOf words: [String]) -> Bool {
        let text = String(decoding: CodeBlanker.blank(bytes, strings: false), as: UTF8.self)
            .lowercased()
        return words.contains { text.contains($0) }
    }
}
