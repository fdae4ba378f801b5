import Testing

/// A section of docs/ARCHITECTURE.md with the steps to a new kind, and a kind that took them all.
struct KindSteps: Sendable, CustomTestStringConvertible {
    static let page = "docs/ARCHITECTURE.md"
    /// These name every kind of the list below.
    private static let own = [page, "Tests/Tidy/KindSteps.swift"]

    let heading: String
    /// What the section calls NAME.
    let name: String
    /// Files, and folders with a slash at the end, that name the kind and need not name a new one;
    /// each with the reason.
    let exceptions: [String: String]
    /// Files and folders of the section that the kind does without, each with the reason.
    var missing: [String: String] = [:]

    var testDescription: String { "\(heading): \(name)" }

    /// Kinds that take every step between them.
    static let all = [dynamoDB, mySQL, firestore, gitHub, microsoft]

    private static let dynamoDB = KindSteps(
        heading: "Adding a store",
        name: "DynamoDB",
        exceptions: ["docs/decisions/": "a decision of then"],
        missing: [
            "Sources/Stores/DynamoDB/DynamoDBQueue.swift": "it has no queue",
            "Config/examples/queue-DynamoDB.sql": "it has no queue",
        ]
    )

    /// A server with tables and a queue.
    private static let mySQL = KindSteps(
        heading: "Adding a store",
        name: "MySQL",
        exceptions: [
            "Sources/CMariaDB/": "the shim of its library",
            "Sources/Stores/SQL/": "why a rule of all kinds is as it is",
            "Tests/EndToEnd/stores/strangers.py": "its users are applications",
            "Tests/EndToEnd/stores/strangers_schemas.py": "tables of applications",
            "Tests/Stores/ServerClockTests.swift": "further tests of its store",
            "docs/decisions/": "a decision of then",
            "docs/guides/backup-and-restore.md": "where its queue is",
        ],
        missing: [
            "Sources/Stores/MySQL/MySQLStore.swift": "it is a typealias",
            "Tests/MySQLServer/": "the server is a package of Debian",
        ]
    )

    /// A store that the sandbox stands in for.
    private static let firestore = KindSteps(
        heading: "Adding a store",
        name: "Firestore",
        exceptions: [
            "Sources/Encoding/JSONReader.swift": "why a bound is as it is",
            "docs/guides/delete-user-data.md": "the configuration of another program",
        ],
        missing: [
            "Sources/Stores/Firestore/FirestoreQueue.swift": "it has no queue",
            "Config/examples/queue-Firestore.sql": "it has no queue",
            "Tests/FirestoreServer/": "the sandbox stands in",
        ]
    )

    private static let gitHub = KindSteps(
        heading: "Adding a provider",
        name: "GitHub",
        exceptions: [
            "Sources/HTTP/Replies/ReplyTable.swift": "why a rule of all kinds is as it is",
            "Tests/Control/CommandSessionTests.swift": "a kind as an example",
            "Tests/Control/RequestAdviceTests.swift": "a kind as an example",
            "Tests/Daemon/LinkedProvidersTests.swift": "kinds as examples",
            "Tests/Daemon/RevocationEvidenceTests.swift": "why a rule of all kinds is as it is",
            "Tests/Monitoring/rules-test.yml": "a kind as an example",
            "Tests/Systemd/JournalMessageTests.swift": "a kind as an example",
            "Tests/Sandbox/AdminRouteTests.swift": "a kind as an example",
            "Tests/Tidy/Links.swift": "the site that shows the documents",
            "docs/decisions/": "a decision of then",
            "docs/providers/oauth2-answers.md": "kinds that answer alike",
            "scripts/setup": "a package of Debian that is called after the site",
        ]
    )

    /// A provider whose sign-in and clients have something of their own.
    private static let microsoft = KindSteps(
        heading: "Adding a provider",
        name: "Microsoft",
        exceptions: [
            "Sources/Engine/": "why a rule of all kinds is as it is",
            "Sources/Lifecycle/": "why a rule of all kinds is as it is",
            "Tests/Daemon/LinkedProvidersTests.swift": "kinds as examples",
            "Tests/Sandbox/AdminRouteTests.swift": "a kind as an example",
            "Tests/Sandbox/MicrosoftGraphTests.swift": "further tests of its stand-in",
            "docs/stores/firebase-auth.md": "how the directory names providers",
        ],
        missing: [
            "Sources/Providers/Microsoft/MicrosoftNotificationReceiver.swift": "it sends none"
        ]
    )

    /// The files that the section names, and the folders, with a slash at the end.
    ///
    /// A folder is for all that is in it; one before a colon is that of the files that its list
    /// item names next.
    func paths(in page: SourceFile) throws -> [String] {
        let text = String(decoding: page.bytes, as: UTF8.self)
        let start = try #require(text.firstRange(of: "\n## \(heading)\n")).upperBound
        let rest = text[start...]
        let section = rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        var paths: [String] = []
        var folder = ""
        for line in section.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || Self.isItem(line) { folder = "" }
            let parts = line.split(separator: "`", omittingEmptySubsequences: false)
            for index in stride(from: 1, to: parts.count, by: 2) {
                let path = String(parts[index]).replacing("NAME", with: name)
                if path.hasSuffix("/"), index + 1 < parts.count, parts[index + 1].hasPrefix(":") {
                    folder = path
                } else if Self.isFile(path) {
                    paths.append(folder + path)
                } else if path.contains("/") {
                    paths.append(path)
                }
            }
        }
        return paths
    }

    /// Whether the text of a file outside the kind's own folders has the name, in any case.
    ///
    /// `github.com` is an address, and names no kind.
    func isNamed(in file: SourceFile) -> Bool {
        let folders = file.path.split(separator: "/").dropLast()
        guard !Self.own.contains(file.path), !folders.contains(where: { $0 == name }) else {
            return false
        }
        // A to Z of ASCII; as numbers, since this goes through every byte of the project.
        let text: [UInt8] = file.bytes.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 }
        return SourceFile.offsets(of: name.lowercased(), in: text).contains { offset in
            !text[(offset + name.utf8.count)...].starts(with: ".com".utf8)
        }
    }

    /// Whether a path of the section is that of a file, or of a folder that it is in.
    static func does(_ path: String, cover file: String) -> Bool {
        let (path, file) = (path.lowercased(), file.lowercased())
        return path == file || path.hasSuffix("/") && file.hasPrefix(path)
    }

    /// Whether a list item begins with the line.
    private static func isItem(_ line: Substring) -> Bool {
        let content = line.drop { $0 == " " }
        let number = content.prefix { $0.isNumber }
        return content.hasPrefix("- ")
            || !number.isEmpty && content.dropFirst(number.count).hasPrefix(". ")
    }

    private static func isFile(_ path: String) -> Bool {
        [".swift", ".py", ".md", ".toml", ".txt", ".json"].contains { path.hasSuffix($0) }
    }
}
