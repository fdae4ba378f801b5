import Engine
import Foundation
import GRDB
import Lifecycle
import Synchronization
import Testing

@testable import Targets

@Suite("A SQLite target beside a writing application", .serialized) struct ContentionTests {
    @Test("a held lock is back-pressure, in both journal modes", arguments: [false, true])
    func busy(wal: Bool) async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a')", wal: wal)
        let target = app.target(TableRule(table: "p", column: "u", action: .delete))
        #expect(await target.diagnose() == [])
        let holder = try app.secondConnection()
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let answers = await target.purge([order("a"), order("b")])
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(answers == Array(repeating: .trouble(.throttled(retryAfter: nil)), count: 2))
        #expect(await target.purge([order("a")]).map(\.text) == ["p delete, fence: none 1"])
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
        let target = app.target(
            TableRule(table: "p", column: "u", action: .delete),
            clock: .real()
        )
        let writer = Writer(app)
        writer.start()
        let answers = await target.purge([order("a")])
        let (longest, count) = try await writer.stop()
        #expect(answers.map(\.text) == ["p delete, fence: none 100000"])
        #expect(await target.verify([order("a")]) == [.clean])
        #expect(longest < .seconds(1), "the longest of \(count) writes took \(longest)")
        // One write can come before the purge and one after it; a third came between two batches.
        #expect(count >= 3)
        #expect(try app.texts(checksum) == others)
        #expect(try app.integer("SELECT count(*) FROM log") == count)
    }
}

/// An application that writes as fast as it can, on a thread of its own because it blocks.
private final class Writer: Sendable {
    private let app: AppDatabase
    private let isOver = Mutex(false)
    private let results = AsyncThrowingStream<(Duration, Int), any Error>.makeStream()

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
        isOver.withLock { $0 = true }
        for try await result in results.stream { return result }
        throw Missing()
    }

    private func run() throws -> (Duration, Int) {
        let clock = ContinuousClock()
        var longest = Duration.zero
        var count = 0
        while !isOver.withLock({ $0 }) {
            let wait = try clock.measure { try app.execute("INSERT INTO log VALUES (\(count))") }
            longest = max(longest, wait)
            count += 1
        }
        return (longest, count)
    }
}
