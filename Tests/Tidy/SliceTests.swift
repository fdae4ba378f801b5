import Testing

/// A kind of provider, directory or store: where it lives, and what it is called.
struct Slice: Sendable, CustomStringConvertible {
    /// Below `Sources`.
    let folder: String
    /// What no other source file contains, comments apart and names of code included; in lower
    /// case.
    var words: [String] = []
    /// Files, and folders with a slash at the end, that have the words, too; each with the reason.
    var sharing: [String: String] = [:]

    var description: String { folder }

    private static let tableRules = [
        "Sources/Stores/SQL/SQLSettings.swift":
            "the manual has one text for a key of all databases, and says which has what value"
    ]
    private static let state = [
        "Sources/Daemon/State/": "the service's own state is in such a database",
        "Sources/Daemon/Start/DaemonOptions.swift": "moves the service's own state",
        "Sources/Storage/": "the service's own state is in such a database",
    ]

    static let all: [Slice] = [
        Slice(folder: "Providers/Apple", words: ["apple"]),
        Slice(folder: "Providers/Google", words: ["\"google\"", "accounts.google.com"]),
        Slice(folder: "Providers/Facebook", words: ["facebook", "meta's"]),
        Slice(folder: "Providers/Microsoft", words: ["microsoft"]),
        Slice(
            folder: "Providers/GitHub",
            words: ["github"],
            sharing: [
                "Sources/Control/Input/NotificationInput.swift":
                    "the header fields that may travel: a contract of the control API"
            ]
        ),
        Slice(folder: "Providers/X", words: ["twitter", "api.x.com"]),
        Slice(folder: "Providers/Command"),
        Slice(folder: "Providers/OAuth2", words: ["\"oauth2\"", "kakao"]),
        Slice(folder: "Providers/Firebase"),
        Slice(
            folder: "Stores/SQLite",
            words: ["sqlite"],
            sharing: tableRules.merging(state).merging([
                "Sources/Daemon/Backup/Restore.swift": "a command for the public spool, a file"
            ])
        ),
        Slice(
            folder: "Stores/PostgreSQL",
            words: ["postgres"],
            sharing: tableRules.merging(state).merging([
                "Sources/PostgreSQL/": "the connection that the state and the stores share",
                "Sources/Stores/MySQL/MySQLHandle.swift": "its library has the same meter",
                "Sources/Daemon/Backup/": "a state in PostgreSQL has backups of its own",
                "Sources/expungectl/Commands/ServiceCommands.swift":
                    "the service's own state is in such a database",
            ])
        ),
        Slice(
            folder: "Stores/MySQL",
            words: ["mysql", "mariadb", "innodb", "binlog"],
            sharing: tableRules
        ),
        Slice(folder: "Stores/Files"),
        Slice(folder: "Stores/Redis", words: ["redis"]),
        Slice(folder: "Stores/Command"),
        Slice(folder: "Stores/Webhook", words: ["\"webhook\""]),
        Slice(
            folder: "Stores/S3",
            words: ["s3"],
            sharing: [
                "Sources/Stores/Shared/AWSSigner.swift":
                    "every other service signs a path that is encoded once more"
            ]
        ),
        Slice(
            folder: "Stores/CloudStorage",
            words: ["cloudstorage", "cloud-storage", "cloud_storage"]
        ),
        Slice(folder: "Stores/DynamoDB", words: ["dynamodb"]),
        Slice(folder: "Stores/Firestore", words: ["firestore"]),
        Slice(folder: "Stores/RealtimeDatabase", words: ["realtimedatabase", "realtime-database"]),
        Slice(
            folder: "Stores/HTTP",
            words: [
                "algolia", "amplitude", "hubspot", "intercom", "mailchimp", "meilisearch",
                "mixpanel", "onesignal", "posthog", "revenuecat", "sendgrid", "stripe", "zendesk",
            ]
        ),
        Slice(
            folder: "Stores/FirebaseAuth",
            words: ["firebase"],
            sharing: [
                "Sources/HTTP/Google/": "the API of accounts, which the directory asks, too",
                "Sources/Providers/Firebase/": "the directory of the same accounts",
                "Sources/Stores/RealtimeDatabase/": "another product of the same name",
            ]
        ),
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
    private static let sources = Result {
        try SourceTree.shared.get().files.filter {
            $0.isSwift && $0.path.hasPrefix("Sources/")
                && !$0.path.hasPrefix("Sources/Sandbox/")
                && !$0.path.hasPrefix("Sources/expunged-sandbox/")
        }
    }
    /// Read once for all slices.
    private static let names = Result { try sources.get().map(NamesOfFile.init) }

    @Test("are named by the one list of kinds, and by no other file outside", arguments: Slice.all)
    func isSeparate(slice: Slice) throws {
        let types = slice.types(in: try Self.sources.get())
        #expect(!types.isEmpty, "there is nothing in Sources/\(slice.folder)")
        let outside = try Self.names.get().filter { !$0.path.hasPrefix("Sources/\(slice.folder)/") }
        let speaking = slice.words.isEmpty ? [] : outside.filter { $0.contains(anyOf: slice.words) }
        let naming = outside.filter { file in
            !types.isDisjoint(with: file.words)
                || speaking.contains { $0.path == file.path }
                    && !slice.sharing.keys.contains { KindSteps.does($0, cover: file.path) }
        }
        #expect(naming.map(\.path) == [Self.list])
        let needless = slice.sharing.keys.filter { path in
            !speaking.contains { KindSteps.does(path, cover: $0.path) }
        }
        #expect(needless.isEmpty, "remove the exceptions")
    }

    @Test("are found by their words in names of code and in texts, and not in comments")
    func wordsAreFound() {
        let code = [
            ("case mysql(UInt32)", true), ("let text = \"InnoDB's log\"", true),
            ("error.code == .mariaDB", true), ("// as MySQL does", false), ("let sql = 1", false),
        ]
        for (text, isFound) in code {
            let file = NamesOfFile(SourceFile("Sources/Stores/SQL/Some.swift", text + "\n"))
            #expect(file.contains(anyOf: ["mysql", "mariadb", "innodb"]) == isFound, "\(text)")
        }
    }

    @Test("have the files that the steps to a new kind name", arguments: KindSteps.all)
    func areListed(steps: KindSteps) throws {
        let tree = try SourceTree.shared.get()
        let paths = try steps.paths(in: tree.file(KindSteps.page))
        #expect(paths.count > 20)
        for path in paths {
            let isThere = tree.files.contains { KindSteps.does(path, cover: $0.path) }
            #expect(isThere == (steps.missing[path] == nil), "\(path)")
        }
        #expect(Set(steps.missing.keys).subtracting(paths).isEmpty, "no step names them")
    }

    @Test("are named by no file that the steps to a new kind omit", arguments: KindSteps.all)
    func areFound(steps: KindSteps) throws {
        let tree = try SourceTree.shared.get()
        let paths = try steps.paths(in: tree.file(KindSteps.page))
        let naming = tree.files.filter { steps.isNamed(in: $0) }.map(\.path)
        #expect(naming.count > 20)
        let known = paths + steps.exceptions.keys
        let omitted = naming.filter { path in
            !known.contains { KindSteps.does($0, cover: path) }
        }
        #expect(omitted.isEmpty, "name them in '\(steps.heading)' of \(KindSteps.page)")
        let needless = steps.exceptions.keys.filter { exception in
            !naming.contains { KindSteps.does(exception, cover: $0) }
        }
        #expect(needless.isEmpty, "remove the exceptions")
    }
}

/// What the text of a file names.
private struct NamesOfFile: Sendable {
    let path: String
    /// The words of the code, except members.
    let words: Set<String>
    /// The text without its comments, in lower case.
    private let text: [UInt8]

    init(_ file: SourceFile) {
        path = file.path
        // A to Z of ASCII; as numbers, since this goes through every byte of the sources.
        text = CodeBlanker.blank(file.bytes, strings: false)
            .map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 }
        let point = UInt8(ascii: ".")
        words = Set(
            file.code.split { !SourceFile.isWord($0) }.filter { word in
                word.startIndex == 0 || file.code[word.startIndex - 1] != point
            }.map { String(decoding: $0, as: UTF8.self) }
        )
    }

    func contains(anyOf words: [String]) -> Bool {
        words.contains { !SourceFile.offsets(of: $0, in: text).isEmpty }
    }
}

extension [String: String] {
    fileprivate func merging(_ other: [String: String]) -> [String: String] {
        merging(other) { first, _ in first }
    }
}
