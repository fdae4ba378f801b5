import Engine
import Foundation
import GRDB
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("A SQLite store beside a writing application", .serialized) struct ContentionTests {
    @Test("a held lock is back-pressure, in both journal modes", arguments: [false, true])
    func busy(wal: Bool) async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a')", wal: wal)
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.diagnose() == [])
        let holder = try app.secondConnection()
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        var first = order("a")
        let gate = PurgeGate()
        first.gate = gate
        let answers = await store.purge([first, order("b")])
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(answers == Array(repeating: .failure(.throttled(retryAfter: nil)), count: 2))
        #expect(gate.reason?.hasPrefix("another process holds the database, SQLite") == true)
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
    }

    @Test(
        "100,000 rows of one user go while the application's writers wait only a moment",
        arguments: [false, true]
    )
    func manyRows(wal: Bool) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, n INTEGER, body TEXT);
            CREATE INDEX pu ON p(u); CREATE INDEX pn ON p(n);
            CREATE TABLE log(n INTEGER);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 102000)
            INSERT INTO p(u, n, body)
            SELECT iif(i > 100000, 'b', 'a'), i, 'body of row ' || i FROM c;
            """,
            wal: wal
        )
        let checksum =
            "SELECT count(*), sum(id * 31 + n), sum(length(body)) FROM p WHERE u = 'b'"
        let others = try app.texts(checksum)
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete),
            clock: .real()
        )
        let writer = Writer(app)
        writer.start()
        let answers = await store.purge([order("a")])
        let (longest, count) = try await writer.stop()
        #expect(answers.map(\.text) == ["p delete, cutoff: none 100000"])
        #expect(await store.verify([order("a")]) == [.clean])
        if Bars.areHeld {
            #expect(longest < .seconds(1), "the longest of \(count) writes took \(longest)")
            // One can come before the purge and one after it; a third came between two batches.
            #expect(count >= 3)
        }
        #expect(try app.texts(checksum) == others)
        #expect(try app.integer("SELECT count(*) FROM log") == count)
    }

    @Test(
        "a million rows of one user go in bounded memory, and nobody waits long",
        .enabled(if: Bars.areHeld, "a bar: make bars")
    )
    func millionRows() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, n INTEGER); CREATE INDEX pu ON p(u);
            CREATE TABLE log(n INTEGER);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1001000)
            INSERT INTO p(u, n) SELECT iif(i % 1001 = 0, 'b', 'a'), i FROM c;
            """,
            wal: true
        )
        let others = try app.texts("SELECT count(*), sum(id * 31 + n) FROM p WHERE u = 'b'")
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete),
            clock: .real()
        )
        let writer = Writer(app)
        let memory = try PeakMemory()
        writer.start()
        var answers: [PurgeAnswer] = []
        let took = await ContinuousClock().measure { answers = await store.purge([order("a")]) }
        let waits = try await writer.waits()
        let grown = try memory.grownMebibytes()
        let late = waits.filter { $0 > .milliseconds(100) }.count
        Swift.print(
            "bench: 1,000,000 rows in \(took), \(grown) MiB more resident, \(waits.count) writes,"
                + " longest \(waits.last ?? .zero), \(late) over 100 ms"
        )
        #expect(answers.map(\.text) == ["p delete, cutoff: none 1000000"])
        #expect(await store.verify([order("a")]) == [.clean])
        // What the other suites left in this process is not the purge's; it has half of the bar.
        #expect(grown <= 48)
        // On a machine that does nothing else none is late.
        #expect(late * 100 <= waits.count)
        #expect(
            try app.texts("SELECT count(*), sum(id * 31 + n) FROM p WHERE u = 'b'") == others
        )
    }

    @Test(
        "a plan of many rows keeps no writer waiting, whatever index there is",
        arguments: [
            ("CREATE INDEX pu ON p(u)", Bars.areHeld ? 1_000_000 : 300_000),
            ("CREATE INDEX pu ON p(u, n)", 300_000), ("", 300_000),
        ]
    )
    func manyRowsPlanned(index: String, count: Int) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, n INTEGER); \(index);
            CREATE TABLE log(n INTEGER);
            WITH RECURSIVE c(i) AS
                (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count + 1000))
            INSERT INTO p(u, n) SELECT iif(i <= 1000, 'b', 'a'), i FROM c;
            """
        )
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete),
            clock: .real()
        )
        #expect(await store.diagnose() == [])
        let writer = Writer(app)
        writer.start()
        var plan = PlanAnswer.unknown
        let took = await ContinuousClock().measure { plan = await store.plan(order("a")) }
        let waits = try await writer.waits()
        let late = waits.filter { $0 > .milliseconds(100) }.count
        Swift.print(
            "bench: \(count) rows planned in \(took) ('\(index)'), \(waits.count) writes beside"
                + " it, longest \(waits.last ?? .zero), \(late) over 100 ms"
        )
        #expect(
            plan
                == .items([
                    PlanItem(name: "p", action: .delete, count: count, hasNoTimestamps: true)
                ])
        )
        if Bars.areHeld { #expect(late <= max(1, waits.count / 5)) }
    }

    @Test("free pages go back to the file system where the database allows it")
    func vacuum() async throws {
        let app = try AppDatabase(
            """
            PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE p(u TEXT, body BLOB);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300)
            INSERT INTO p SELECT 'a', zeroblob(4000) FROM c;
            """
        )
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete),
            vacuum: .incremental
        )
        #expect(await store.diagnose() == [])
        _ = await store.purge([order("a")])
        #expect(try app.integer("PRAGMA freelist_count") == 0)
        #expect(try app.integer("PRAGMA page_count") < 20)
        let plain = try AppDatabase("CREATE TABLE p(u TEXT)")
        let refused = plain.store(
            TableRule(table: "p", column: "u", action: .delete),
            vacuum: .incremental
        )
        #expect(await refused.diagnose().count == 1)
    }
}

/// An application that writes as fast as it can, on a thread of its own because it blocks.
private final class Writer: Sendable {
    private let app: AppDatabase
    private let isOver = Mutex(false)
    private let results = AsyncThrowingStream<[Duration], any Error>.makeStream()

    init(_ app: AppDatabase) { self.app = app }

    func start() {
        Thread { [self] in
            do {
                results.continuation.yield(try run())
                results.continuation.finish()
            } catch {
                results.continuation.finish(throwing: error)
            }
        }.start()
    }

    /// The longest wait and the number of writes.
    func stop() async throws -> (Duration, Int) {
        let waits = try await waits()
        return (waits.last ?? .zero, waits.count)
    }

    /// How long each write took, the longest last.
    func waits() async throws -> [Duration] {
        isOver.withLock { $0 = true }
        for try await result in results.stream { return result }
        throw Missing()
    }

    private func run() throws -> [Duration] {
        let clock = ContinuousClock()
        var waits: [Duration] = []
        while !isOver.withLock({ $0 }) {
            let statement = "INSERT INTO log VALUES (\(waits.count))"
            waits.append(try clock.measure { try app.execute(statement) })
        }
        return waits.sorted()
    }
}
