import CSQLiteGuard
import Foundation
import GRDB
import GRDBSQLite
import Testing

/// What other connections and processes see of transactions whose frames were gathered.
@Suite("Gathered writes to a WAL") struct WALGatherTests {
    /// A database in WAL mode, opened through the guarded VFS.
    final class Ledger {
        let folder: String
        var path: String { folder + "/app.db" }
        let queue: DatabaseQueue

        // `setUp`: pragmas of the connection.
        init(_ setUp: String) throws {
            #expect(csqliteguard_install() == SQLITE_OK)
            folder = FileManager.default.temporaryDirectory.path + "/gather-" + UUID().uuidString
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            queue = try DatabaseQueue(path: folder + "/app.db", configuration: configuration)
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
                try database.execute(sql: setUp)
                try database.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
            }
        }

        deinit {
            do {
                try FileManager.default.removeItem(atPath: folder)
            } catch {
                print("cannot remove \(folder), ignoring")
            }
        }

        func run(_ sql: String) throws {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        }

        /// Rows of about a page each.
        func insert(_ count: Int) -> String {
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))
            INSERT INTO t (body) SELECT randomblob(3900) FROM c
            """
        }

        /// What SQLite's own program says, in a process of its own.
        func elsewhere(_ sql: String) throws -> String {
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
            program.arguments = ["-cmd", ".timeout 300000", path, sql]
            let output = Pipe()
            program.standardOutput = output
            program.standardError = output
            try program.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            program.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static let count = "SELECT count(*) FROM t; PRAGMA integrity_check"

    @Test(
        "another process sees a commit at once, synced or not",
        arguments: ["FULL", "NORMAL", "OFF"]
    )
    func visibility(synchronous: String) throws {
        let ledger = try Ledger("PRAGMA synchronous = \(synchronous)")
        for round in 1...3 {
            try ledger.run(ledger.insert(150))
            #expect(try ledger.elsewhere(Self.count) == "\(150 * round)\nok")
        }
    }

    @Test(
        "pages that a large transaction writes twice are right, synced or not",
        arguments: [
            "FULL", "OFF",
        ]
    )
    func rewrites(synchronous: String) throws {
        // A cache of ten pages spills, and the frames that are written again get new checksums.
        let ledger = try Ledger(
            "PRAGMA synchronous = \(synchronous); PRAGMA cache_size = 10; PRAGMA cache_spill = 5"
        )
        try ledger.run(ledger.insert(300))
        try ledger.run(
            """
            BEGIN IMMEDIATE;
            UPDATE t SET body = zeroblob(3900);
            UPDATE t SET body = randomblob(3901) WHERE id % 3 = 0;
            UPDATE t SET body = x'01' WHERE id % 5 = 0;
            COMMIT
            """
        )
        let question = "SELECT count(*), sum(length(body)) FROM t; PRAGMA integrity_check"
        let expected = (1...300).reduce(0) {
            $0 + ($1 % 5 == 0 ? 1 : $1 % 3 == 0 ? 3901 : 3900)
        }
        #expect(try ledger.elsewhere(question) == "300|\(expected)\nok")
        // Nothing but the file: the frames as a recovery after a crash reads them.
        try FileManager.default.copyItem(atPath: ledger.path, toPath: ledger.folder + "/copy.db")
        try FileManager.default.copyItem(
            atPath: ledger.path + "-wal",
            toPath: ledger.folder + "/copy.db-wal"
        )
        let copy = try DatabaseQueue(path: ledger.folder + "/copy.db")
        let length = try copy.read { try Int.fetchOne($0, sql: "SELECT sum(length(body)) FROM t") }
        #expect(length == expected)
        try copy.close()
    }

    @Test("what a rolled back transaction left never lands on the frames of the next writer")
    func rolledBack() throws {
        let ledger = try Ledger(
            "PRAGMA synchronous = FULL; PRAGMA cache_size = 10; PRAGMA cache_spill = 5"
        )
        // Emptied, so that undoing reads nothing of it.
        try ledger.run("\(ledger.insert(20)); PRAGMA wal_checkpoint(TRUNCATE)")
        // Fewer frames than the buffer holds, and more than the cache.
        try ledger.run("BEGIN IMMEDIATE; \(ledger.insert(25)); ROLLBACK")
        #expect(
            try ledger.elsewhere("INSERT INTO t (body) SELECT zeroblob(3900) FROM t") == "",
            "the other process writes where those frames would go"
        )
        try ledger.run("INSERT INTO t (body) VALUES (x'02')")
        #expect(try ledger.elsewhere(Self.count) == "41\nok")
        try ledger.run("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try ledger.elsewhere(Self.count) == "41\nok")
    }

    @Test("a transaction reads back what it has written and not committed")
    func readsBack() throws {
        let ledger = try Ledger(
            "PRAGMA synchronous = FULL; PRAGMA cache_size = 10; PRAGMA cache_spill = 5"
        )
        let sum = try ledger.queue.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE; \(ledger.insert(200))")
            let sum = try Int.fetchOne(database, sql: "SELECT sum(length(body)) FROM t")
            try database.execute(sql: "COMMIT")
            return sum
        }
        #expect(sum == 200 * 3900)
    }

    @Test("a transaction of two hundred pages costs a few writes, not four hundred")
    func fewWrites() throws {
        let ledger = try Ledger("PRAGMA synchronous = FULL")
        let before = try Self.writeCount()
        try ledger.run(ledger.insert(200))
        let written = try Self.writeCount() - before
        // Other tests of the process write, too: the bound leaves them room.
        #expect(written < 150, "\(written) writes")
    }

    /// Write calls of this thread (proc(5), `/proc/pid/task/tid/io`); GRDB runs a synchronous write
    /// on the calling thread.
    private static func writeCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst("syscw: ".count)))
    }
}
