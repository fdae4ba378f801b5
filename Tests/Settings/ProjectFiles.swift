import FoundationEssentials
import Glibc
import Testing

@testable import Daemon
@testable import Settings

/// Files of the project that the tests compare with the table.
enum ProjectFiles {
    /// The project's root, three levels above this file.
    static let root = #filePath.split(separator: "/").dropLast(3)
        .map { "/\($0)" }.joined()

    static func path(_ relative: String) -> String { "\(root)/\(relative)" }

    static func text(_ relative: String) throws -> String {
        String(decoding: try bytes(relative), as: UTF8.self)
    }

    /// Compares a file with what it should be; `UPDATE_GOLDEN=1` rewrites it.
    static func expect(_ relative: String, is text: String) throws {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: URL(filePath: path(relative)))
        }
        let isCurrent = try Self.text(relative) == text
        #expect(isCurrent, "\(relative) is stale: run again with UPDATE_GOLDEN=1")
    }

    /// The bytes, whoever owns the checkout.
    static func bytes(_ relative: String) throws -> [UInt8] {
        var status = stat()
        unsafe stat(path(relative), &status)
        return try ConfigurationFile(path: path(relative), callerUID: max(1, status.st_uid)).read()
    }
}

/// Shorthand for tables of files and messages.
enum Sample {
    static func load(_ text: String) throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
    }

    /// The message of a refused file; a file that loads gives "loads".
    static func message(_ text: String) -> String {
        do {
            _ = try load(text)
            return "loads"
        } catch {
            return error.description
        }
    }

    static let provider = """
        [[provider]]
        name = "apple"
        kind = "apple"
        team_id = "ABCDE12345"
        key_id = "KEY1234567"
        client_ids = ["com.example.app"]
        private_key_credential = "apple-key.p8"

        """

    static let store = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[store.table]]
        table = "posts"
        column = "author_id"
        action = "delete"

        """
}
