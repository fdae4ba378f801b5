import CSQLiteGuard
import Engine
import Foundation
import GRDB
import GRDBSQLite
import Lifecycle
import Testing

@testable import Stores

@Suite("A SQLite store and a difficult file") struct HostileFileTests {
    let rule = TableRule(table: "p", column: "u", action: .delete)
    let schema = "CREATE TABLE p(u TEXT, secret TEXT); INSERT INTO p VALUES ('a', 's'), ('b', 's')"

    @Test("a planted journal parks the store and says why; the victim lives")
    func plantedJournal() async throws {
        let attack = try GuardTests.Attack()
        let store = SQLiteStore(
            plan: SQLiteStorePlan(
                name: StoreName("app"),
                path: attack.queue,
                rules: [TableRule(table: "t", column: "a", idType: .integer, action: .delete)]
            ),
            hasher: StandInHasher(),
            clock: .still()
        )
        #expect(await store.purge([order("1")]) == [.failure(.misconfigured)])
        #expect(await store.verify([order("1")]) == [.failure(.misconfigured)])
        #expect(await store.diagnose().contains { $0.hasSuffix("the last one: super_journal") })
        #expect(attack.isVictimAlive)
    }

    @Test("a journal planted while the connection is open is refused too")
    func latePlantedJournal() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rule)
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
        let attack = try GuardTests.Attack(superJournal: app.folder + "/state.db")
        try Data("victim".utf8).write(to: URL(fileURLWithPath: app.folder + "/state.db"))
        try FileManager.default.copyItem(
            atPath: attack.queue + "-journal",
            toPath: app.path + "-journal"
        )
        #expect(await store.purge([order("b")]) == [.failure(.misconfigured)])
        #expect(FileManager.default.fileExists(atPath: app.folder + "/state.db"))
        #expect(await !store.diagnose().isEmpty)
        try FileManager.default.removeItem(atPath: app.path + "-journal")
        _ = await store.diagnose()
        #expect(await store.diagnose() == [], "the operator's repair counts")
        #expect(await store.purge([order("b")]).map(\.text) == ["p delete, cutoff: none 1"])
    }

    @Test("a missing file is away; foreign and empty files and links are a wrong set-up")
    func unfitFiles() async throws {
        let app = try AppDatabase(schema)
        func store(_ path: String) -> SQLiteStore {
            SQLiteStore(
                plan: SQLiteStorePlan(name: StoreName("app"), path: path, rules: [rule]),
                hasher: StandInHasher(),
                clock: .still()
            )
        }
        let missing = app.folder + "/missing.db"
        #expect(await store(missing).purge([order("a")]) == [.failure(.unreachable)])
        #expect(await store(missing).diagnose().first == "'\(missing)' does not exist")
        #expect(!FileManager.default.fileExists(atPath: missing))

        let text = app.folder + "/text.db"
        try Data(repeating: 65, count: 4096).write(to: URL(fileURLWithPath: text))
        #expect(await store(text).purge([order("a")]) == [.failure(.misconfigured)])
        let empty = app.folder + "/empty.db"
        try Data().write(to: URL(fileURLWithPath: empty))
        #expect(await store(empty).purge([order("a")]) == [.failure(.misconfigured)])
        #expect(await store(app.folder).purge([order("a")]) == [.failure(.unreachable)])
        #expect(
            await store("relative.db").diagnose().first == "path 'relative.db' is not absolute"
        )
        let link = app.folder + "/link.db"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: app.path)
        #expect(await store(link).purge([order("a")]) == [.failure(.misconfigured)])
        #expect(try app.integer("SELECT count(*) FROM p") == 2)
    }

    @Test("a file replaced under the connection is noticed, and the new one is purged")
    func replacedFile() async throws {
        let app = try AppDatabase(schema)
        let restored = try AppDatabase(schema)
        let store = app.store(rule)
        #expect(await store.verify([order("a")]) == [.remaining(1)])
        // A verification closes its connection, a check does not.
        #expect(await store.diagnose() == [])
        try FileManager.default.removeItem(atPath: app.path)
        try FileManager.default.moveItem(atPath: restored.path, toPath: app.path)
        #expect(await store.purge([order("a")]) == [.failure(.lost)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
        let fresh = try DatabaseQueue(path: app.path)
        #expect(try await fresh.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM p") } == 1)
        try fresh.close()
    }

    @Test("a check looks at the file that is at the path now")
    func mendedFile() async throws {
        let app = try AppDatabase("CREATE TABLE other(u TEXT)")
        let mended = try AppDatabase(schema)
        let store = app.store(rule)
        #expect(await store.startupProblems().contains { $0.contains("does not exist") })
        try FileManager.default.removeItem(atPath: app.path)
        try FileManager.default.moveItem(atPath: mended.path, toPath: app.path)
        #expect(await store.startupProblems() == [])
    }

    @Test("a WAL index that another program cuts short fails the call, and the next one works")
    func lostIndex() async throws {
        let app = try AppDatabase(schema, wal: true)
        let store = app.store(rule)
        #expect(await store.diagnose() == [])
        // The last connection would remove the index, so the store's is the only one left.
        try app.queue.close()
        for user in ["a", "b"] {
            // Without the handler, the next line but one ends the process.
            try #require(unsafe truncate(app.path + "-shm", 0) == 0)
            #expect(await store.purge([order(user)]) == [.failure(.misconfigured)])
            #expect(await store.diagnose().contains { $0.hasSuffix("index_lost") })
            #expect(await store.diagnose() == [], "it was opened afresh")
            #expect(await store.purge([order(user)]).map(\.text) == ["p delete, cutoff: none 1"])
        }
        let fresh = try DatabaseQueue(path: app.path)
        #expect(try await fresh.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM p") } == 0)
        #expect(
            try await fresh.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
        )
        try fresh.close()
    }

    @Test("a WAL index that is cut short between reads and writes harms no row", arguments: 0..<20)
    func cutIndex(seed: UInt64) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, secret TEXT); CREATE INDEX pu ON p(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4000)
            INSERT INTO p SELECT 'u' || (i % 40), hex(randomblob(200)) FROM c;
            """,
            wal: true
        )
        let store = app.store(rule)
        _ = await store.diagnose()
        try app.queue.close()
        let shm = app.path + "-shm"
        let (purges, purge) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for index in 0..<40 {
                    purge.yield(index)
                    _ = await store.purge([order("u\(index)")])
                }
                purge.finish()
            }
            var generator = SeededGenerator(seed: seed)
            for await index in purges where index.isMultiple(of: 2) {
                unsafe truncate(shm, off_t(Int.random(in: 0...2, using: &generator) * 4096))
            }
            try await group.waitForAll()
        }
        _ = await store.diagnose()
        for index in 0..<40 {
            #expect(
                await store.purge([order("u\(index)")]).map(\.text).first?.hasPrefix("p delete")
                    == true
            )
        }
        let fresh = try DatabaseQueue(path: app.path)
        #expect(
            try await fresh.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
        )
        #expect(try await fresh.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM p") } == 0)
        try fresh.close()
    }

    @Test(
        "result codes mean retry, other set-up or lost work",
        arguments: [
            (SQLITE_BUSY, EffectFailure.throttled(retryAfter: nil)),
            (SQLITE_BUSY | 2 << 8, .throttled(retryAfter: nil)),
            (SQLITE_LOCKED, .throttled(retryAfter: nil)), (SQLITE_FULL, .unusable),
            (SQLITE_IOERR | 4 << 8, .unusable), (SQLITE_NOMEM, .unusable),
            (SQLITE_TOOBIG, .misconfigured),
            (SQLITE_CONSTRAINT | 3 << 8, .unusable), (SQLITE_INTERRUPT, .unusable),
            (SQLITE_NOTADB, .misconfigured), (SQLITE_CORRUPT, .misconfigured),
            (SQLITE_CANTOPEN, .unreachable), (SQLITE_READONLY, .unreachable),
            (SQLITE_ERROR, .misconfigured), (SQLITE_PERM, .misconfigured),
            (SQLITE_READONLY | 4 << 8, .lost),
        ]
    )
    func resultCodes(code: Int32, failure: EffectFailure) {
        let error = SQLError(resultCode: code, store: StoreName("app-db"))
        #expect(error.failure == failure)
        #expect(
            error.description.hasPrefix("cannot purge store at 'app-db' (\(error.kind.rawValue))")
        )
    }

    @Test("no byte of a deleted row stays in the file", arguments: [false, true])
    func residue(wal: Bool) async throws {
        let app = try AppDatabase(
            """
            PRAGMA secure_delete = ON; CREATE TABLE p(u TEXT, secret TEXT);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300)
            INSERT INTO p SELECT iif(i % 2, 'a', 'b'), iif(i % 2, 'XYZZY', 'PLUGH') || i FROM c;
            """,
            wal: wal
        )
        #expect(
            await app.store(rule).purge([order("a")]).map(\.text) == ["p delete, cutoff: none 150"]
        )
        if wal { try app.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: app.path))
        #expect(bytes.range(of: Data("XYZZY".utf8)) == nil)
        #expect(bytes.range(of: Data("PLUGH".utf8)) != nil)
    }

    @Test("the connection never checkpoints the application's WAL before SQLite 3.51.3")
    func checkpoint() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, secret TEXT); CREATE INDEX pu ON p(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 40000)
            INSERT INTO p SELECT 'u' || (i % 100), hex(randomblob(200)) FROM c;
            """,
            wal: true
        )
        try app.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        let before = try Data(contentsOf: URL(fileURLWithPath: app.path))
        let store = app.store(rule)
        let answers = await store.purge((0..<50).map { order("u\($0)") })
        #expect(answers.allSatisfy { $0.text == "p delete, cutoff: none 400" })
        if sqlite3_libversion_number() < 3_051_003 {
            #expect(try Data(contentsOf: URL(fileURLWithPath: app.path)) == before)
            await store.closeIdleFiles()
            #expect(try Data(contentsOf: URL(fileURLWithPath: app.path)) == before)
        }
        #expect(try app.integer("SELECT count(*) FROM p") == 20_000)
    }
}
