import Engine
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Storage

@Suite("The spool's file") struct SpoolFileTests {
    @Test("it has the public schema, a random id, mode 0660 whatever the umask, and no WAL")
    func creation() throws {
        let directory = try StateFixture.makeDirectory()
        defer { SpoolFixture.remove(directory) }
        let before = umask(0o077)
        try SpoolFile.makeIfMissing(path: directory + "/queue.db")
        umask(before)
        var status = stat()
        #expect(unsafe stat(directory + "/queue.db", &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o660)
        #expect(status.st_nlink == 1)
        let queue = try DatabaseQueue(path: directory + "/queue.db")
        try queue.inDatabase { database in
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1)
            #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "delete")
            let id = try String.fetchOne(database, sql: "SELECT spool_id FROM spool_meta")
            #expect(id?.count == 32)
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            #expect(tables == ["credentials", "requests", "spool_meta"])
        }
        try queue.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["queue.db"])
    }

    @Test("making it again keeps it, its rows and its id, and repairs its mode")
    func again() throws {
        let spool = try SpoolFixture()
        try spool.submit("u1")
        unsafe chmod(spool.path, 0o600)
        let id = try spool.text("SELECT spool_id FROM spool_meta")
        try SpoolFile.makeIfMissing(path: spool.path)
        #expect(try spool.text("SELECT spool_id FROM spool_meta") == id)
        #expect(try spool.int("SELECT count(*) FROM requests") == 1)
        var status = stat()
        #expect(unsafe stat(spool.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o660)
    }

    @Test(
        "what is no spool is named and left alone",
        arguments: [
            ("text", SpoolFailure.corrupt), ("header", .corrupt), ("database", .wrongSchema),
            ("newer", .newerVersion), ("link", .refused), ("folder", .unopenable),
        ]
    )
    func foreign(kind: String, failure: SpoolFailure) throws {
        let directory = try StateFixture.makeDirectory()
        defer { SpoolFixture.remove(directory) }
        let path = directory + "/queue.db"
        try SpoolFile.makeIfMissing(path: path)
        #expect(SpoolFile.examine(path: path) == nil)
        let other = directory + "/other.db"
        switch kind {
        case "text": try Data(repeating: 65, count: 5000).write(to: URL(filePath: path))
        case "header": try SpoolFixture.patch(path, at: 0, [0])
        case "newer": try SpoolFixture.patch(path, at: 63, [2])
        case "database":
            let queue = try DatabaseQueue(path: other)
            try queue.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t(a)") }
            try queue.close()
            try #require(unsafe rename(other, path) == 0)
        default:
            try #require(unsafe rename(path, other) == 0)
            let isMade = unsafe kind == "link" ? symlink(other, path) : mkdir(path, 0o700)
            try #require(isMade == 0)
        }
        let before = try kind == "folder" ? nil : Data(contentsOf: URL(filePath: path))
        #expect(SpoolFile.examine(path: path) == failure)
        try SpoolFile.makeIfMissing(path: path)
        #expect(SpoolFile.examine(path: path) == failure)
        if let before { #expect(try Data(contentsOf: URL(filePath: path)) == before) }
    }

    @Test("a spool that an application has locked, or switched to WAL, is sound")
    func locked() throws {
        let spool = try SpoolFixture()
        try spool.execute("BEGIN EXCLUSIVE")
        #expect(SpoolFile.examine(path: spool.path) == nil)
        try spool.execute("COMMIT")
        try spool.execute("PRAGMA journal_mode = WAL")
        try spool.submit("u1")
        #expect(SpoolFile.examine(path: spool.path) == nil)
    }

    @Test("the schema may be written with other spaces, letter case and comments, not otherwise")
    func normalization() throws {
        let variants = SpoolSchema.requests.replacing("\n  ", with: " /* x */ ")
            .replacing("-- output only, written by expunged, never read back:", with: "")
            .replacing("TEXT NOT NULL", with: "text not  null")
        #expect(SpoolSchema.normalized(variants) == SpoolSchema.normalized(SpoolSchema.requests))
        let other = SpoolSchema.requests.replacing("'submitted'", with: "'Submitted'")
        #expect(SpoolSchema.normalized(other) != SpoolSchema.normalized(SpoolSchema.requests))
        #expect(SpoolSchema.normalized("a /* never ends") == "a")
    }

    @Test("the guide shows the schema that is made")
    func guide() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let page = URL(filePath: root + "/docs/guides/spool-reference.md")
        let guide = SpoolSchema.normalized(try String(contentsOf: page, encoding: .utf8))
        for text in [SpoolSchema.meta, SpoolSchema.requests, SpoolSchema.credentials] {
            #expect(guide.contains(SpoolSchema.normalized(text)))
        }
    }
}
