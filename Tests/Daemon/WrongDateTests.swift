import Control
import Engine
import GRDB
import Lifecycle
import Testing

@testable import Daemon
@testable import Stores

@Suite("Rows that an application's clock dated in the future") struct WrongDateTests {
    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let settings = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[store.table]]
        table = "posts"
        column = "author"
        action = "delete"
        created_at_column = "made"
        created_at_unit = "unix_ms"
        """

    /// Runs a deletion until the row's date is two hours past, or the request has ended.
    private static func run(
        lead: Duration,
        _ body: (DaemonBackend, RequestID, DatabaseQueue, AsyncStream<String>) async throws -> Void
    ) async throws {
        let bench = try Bench()
        let app = try Bench.application(bench.directory + "/app.db")
        try await app.write { db in
            try db.execute(sql: "CREATE TABLE posts (author TEXT, made INTEGER)")
            try db.execute(
                sql: "INSERT INTO posts VALUES ('alice', ?)",
                arguments: [(Bench.start + lead).unixMilliseconds]
            )
        }
        let seen = AsyncStream.makeStream(of: String.self)
        let clock = JumpingClock(onSleep: { seen.continuation.yield("slept") })
        let rule = TableRule(
            table: "posts",
            column: "author",
            action: .delete,
            creation: CreationColumn(column: "made", unit: .unixMilliseconds)
        )
        let store = SQLiteStore(
            plan: SQLiteStorePlan(
                name: StoreName("app-db"),
                path: bench.directory + "/app.db",
                rules: [rule]
            ),
            hasher: bench.hasher,
            clock: .system(wall: { clock.now() })
        )
        let backend = try bench.backend(
            more: settings,
            stores: [store.name: store],
            clock: clock
        )
        try await withThrowingTaskGroup { group in
            let changes = try await backend.events(nil, caller: caller)
            group.addTask { try await backend.parts.engine.run() }
            group.addTask {
                for await change in changes { seen.continuation.yield(change.state ?? "") }
            }
            let deletion = try BackendTests().ask("alice", .deleteAccount)
            let id = try await backend.submit(deletion, idempotencyKey: nil, caller: caller).id
            for await event in seen.stream
            where event == "completed" || clock.now() > Bench.start + lead + .seconds(7200) {
                break
            }
            try await body(backend, id, app, seen.stream)
            group.cancelAll()
        }
    }

    private static func completion(_ seen: AsyncStream<String>) async {
        for await event in seen where event == "completed" { return }
    }

    private static func rows(_ app: DatabaseQueue) async throws -> Int? {
        try await app.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM posts") }
    }

    @Test(
        "stay an obstacle once the date has passed, and go when it is corrected",
        .timeLimit(.minutes(5))
    )
    func corrected() async throws {
        try await Self.run(lead: .seconds(3600)) { backend, id, app, seen in
            #expect(try await Self.rows(app) == 1)
            let shown = try await backend.show(id, caller: Self.caller)
            #expect(shown.state != .known(.completed))
            try await app.write { db in
                try db.execute(sql: "UPDATE posts SET made = made - 7200000")
            }
            await Self.completion(seen)
            #expect(try await Self.rows(app) == 0)
        }
    }

    @Test("count as newer after an operator's retry", .timeLimit(.minutes(5)))
    func retried() async throws {
        try await Self.run(lead: .seconds(3600)) { backend, id, app, seen in
            let shown = try await backend.show(id, caller: Self.caller)
            #expect(shown.state != .known(.completed))
            _ = try await backend.act(.retry, on: id, caller: Self.caller)
            await Self.completion(seen)
            #expect(try await Self.rows(app) == 1)
        }
    }

    @Test("less than a minute ahead count as newer by themselves", .timeLimit(.minutes(5)))
    func skew() async throws {
        try await Self.run(lead: .seconds(30)) { backend, id, app, _ in
            let shown = try await backend.show(id, caller: Self.caller)
            #expect(shown.state == .known(.completed))
            #expect(try await Self.rows(app) == 1)
        }
    }
}
