import Control
import Engine
import FoundationEssentials
import GRDB
import Lifecycle
import NIOPosix
import Settings
import Storage
import Testing

@testable import Daemon

/// Two real databases, the second keyed by the first, that work and are not as they could be.
struct StoreAdviceTests {
    private static let stores = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "{here}/app.db"
        [[store.table]]
        table = "posts"
        column = "author"
        action = "delete"
        created_at_column = "made"
        created_at_unit = "unix_ms"
        [[store.table]]
        table = "posts"
        column = "editor"
        action = "delete"
        created_at_column = "made"
        created_at_unit = "unix_ms"
        [[store.key]]
        name = "team"
        table = "posts"
        column = "author"
        value = "team"
        [[store]]
        name = "crm"
        kind = "sqlite"
        path = "{here}/crm.db"
        keyed_by = "app-db.team"
        [[store.table]]
        table = "notes"
        column = "team"
        action = "delete"

        """

    private static func make(_ name: String, _ sql: String, in bench: Bench) async throws {
        let database = try Bench.application(bench.directory + "/" + name)
        try await database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)

    private static func check(
        _ name: String,
        on bench: Bench,
        _ more: String = ""
    ) async throws -> WireHealth {
        try await ask(bench, more) { backend in
            try await backend.control(.check, store: StoreName(name), caller: Self.caller)
        }
    }

    /// Asks the control API of a service with both stores.
    private static func ask<Answer: Sendable>(
        _ bench: Bench,
        _ more: String = "",
        _ question: @Sendable (DaemonBackend) async throws -> Answer
    ) async throws -> Answer {
        let text = (stores + more).replacing("{here}", with: bench.directory)
        var factory = AdapterFactory(
            credentials: nil,
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: bench.log.logger
        )
        factory.keys = FoundKeyService(
            state: bench.state,
            vault: try SealedUsers.vault(1),
            hasher: bench.hasher,
            logger: bench.log.logger
        )
        let configuration = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
        let made = try await factory.make(configuration)
        let backend = try bench.backend(more: text, stores: made.stores, clock: StillClock())
        let answer = try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            defer { group.cancelAll() }
            return try await question(backend)
        }
        await made.shutDown()
        return answer
    }

    @Test func `rows of a clock that was years ahead do not pause their store`() async throws {
        let bench = try Bench()
        try await Self.make(
            "app.db",
            """
            CREATE TABLE posts(author TEXT, editor TEXT, team TEXT, made INTEGER);
            INSERT INTO posts VALUES ('a', 'e', 't', 2000000000000);
            """,
            in: bench
        )
        try await Self.make("crm.db", "CREATE TABLE notes(team TEXT, text TEXT)", in: bench)
        #expect(try await Self.check("app-db", on: bench).findings.isEmpty)
    }

    @Test func `what a check would have somebody know is told, once, and is no finding`()
        async throws
    {
        let bench = try Bench()
        try await Self.make(
            "app.db",
            """
            CREATE TABLE posts(author TEXT, editor TEXT, team TEXT, made INTEGER);
            CREATE INDEX posts_author ON posts (author);
            INSERT INTO posts VALUES ('canary-user-3e19b7d0', 'e', 't', 1700000000000),
                ('canary-user-3e19b7d0', 'e', 't', 1900000000000), ('b', 'e', 't', 'soon'),
                ('b', 'e', 't', NULL);
            """,
            in: bench
        )
        try await Self.make("crm.db", "CREATE TABLE notes(team TEXT, text TEXT)", in: bench)
        let rows = try await Self.check("app-db", on: bench)
        #expect(rows.findings.isEmpty && rows.uncovered == [])
        #expect(rows.lastSuccessAt == Bench.start)
        #expect(
            rows.advice == [
                "column 'editor' of table 'posts' has no index, so every purge reads the whole"
                    + " table; CREATE INDEX posts_editor ON posts (editor) mends that",
                "column 'made' of table 'posts' is NULL in some rows; rows without a time count as"
                    + " old and are purged",
                "column 'made' of table 'posts' holds values that are no plausible time;"
                    + " rows dated in the future or unreadably are never purged",
            ]
        )
        let keyed = try await Self.check("crm", on: bench)
        #expect(keyed.findings.isEmpty)
        #expect(
            keyed.advice == [
                "column 'team' of table 'notes' has no index, so every purge reads the whole table;"
                    + " CREATE INDEX notes_team ON notes (team) mends that",
                "there is no time cutoff (no created_at_column for notes): what is newer than a"
                    + " request goes with it, also that of a later account with the same id; name"
                    + " the column that dates their rows, or never give an id again",
            ]
        )
    }

    @Test(arguments: [("misconfigured", false), (PauseReason.byOperator, true)])
    func `a check ends the service's own pause of a store that was repaired, and no operator's`(
        reason: String,
        staysPaused: Bool
    ) async throws {
        let bench = try Bench()
        try await Self.make(
            "app.db",
            "CREATE TABLE posts(author TEXT, editor TEXT, team TEXT, made INTEGER)",
            in: bench
        )
        try await Self.make("crm.db", "CREATE TABLE notes(team TEXT, text TEXT)", in: bench)
        let crm = StoreName("crm")
        let (checked, listed) = try await Self.ask(bench) { backend in
            let pause = StateChange.pauseStore(crm, reason: reason, at: Bench.start)
            _ = try await backend.parts.state.commit([pause])
            backend.parts.engine.post(.pauseStore(crm, reason: reason))
            await backend.parts.engine.probe()
            let checked = try await backend.control(.check, store: crm, caller: Self.caller)
            return (checked, try await backend.stores(caller: Self.caller).items)
        }
        let state = WireValue<HealthState>.known(staysPaused ? .paused : .ready)
        #expect(checked.findings.isEmpty && checked.state == state)
        #expect(checked.summary?.contains("stays paused (operator)") == staysPaused)
        #expect(listed.first { $0.name == "crm" }?.state == state)
    }

    @Test func `of several stores of one database the first reports a column`() async throws {
        let bench = try Bench()
        try await Self.make(
            "app.db",
            """
            CREATE TABLE posts(author TEXT, editor TEXT, team TEXT, made INTEGER);
            CREATE TABLE notes(team TEXT); CREATE TABLE audit(actor_user_id TEXT);
            """,
            in: bench
        )
        let schema = "CREATE TABLE notes(team TEXT); CREATE TABLE audit(actor_user_id TEXT)"
        try await Self.make("crm.db", schema, in: bench)
        let second = """
            [[store]]
            name = "notes"
            kind = "sqlite"
            path = "{here}/app.db"
            keyed_by = "app-db.team"
            [[store.table]]
            table = "notes"
            column = "team"
            action = "delete"

            """
        // The third one is in another file, whose table only has the same name.
        for (name, isFirst) in [("app-db", true), ("notes", false), ("crm", true)] {
            let uncovered = try await Self.check(name, on: bench, second).uncovered
            let expected = isFirst ? ["audit.actor_user_id: named like a user id"] : []
            #expect(uncovered == expected, "\(name)")
        }
        // What was left to the first is recorded for both: nothing says when that was searched.
        let document = try #require(try await bench.state.enforcedScope())
        let searches = try ErasureScope(document: document).stores.compactMap(\.search)
        let names = searches.map(\.unmapped.names)
        #expect(names == Array(repeating: ["audit.actor_user_id"], count: 3))
    }

    @Test func `nothing is said of a store that is as it should be`() async throws {
        let bench = try Bench()
        try await Self.make(
            "app.db",
            """
            CREATE TABLE posts(author TEXT, editor TEXT, team TEXT, made INTEGER);
            CREATE INDEX posts_author ON posts (author);
            CREATE INDEX posts_editor ON posts (editor);
            INSERT INTO posts VALUES ('a', 'e', 't', 1700000000000);
            """,
            in: bench
        )
        try await Self.make(
            "crm.db",
            "CREATE TABLE notes(team TEXT, made TEXT); CREATE INDEX teams ON notes (team)",
            in: bench
        )
        let dated = "created_at_column = \"made\"\ncreated_at_unit = \"iso8601\"\n"
        #expect(try await Self.check("app-db", on: bench, dated).advice == [])
        #expect(try await Self.check("crm", on: bench, dated).advice == [])
    }
}
