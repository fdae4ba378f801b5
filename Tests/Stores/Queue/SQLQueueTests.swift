import Engine
import FoundationEssentials
import Lifecycle
import Testing

@testable import Stores

/// A queue at a real server, made with the file that is installed.
protocol QueueFixture: Sendable {
    var server: any QueueServer { get }
    /// Runs SQL as the owner of the tables; `{requests}` and `{credentials}` stand for them.
    func sql(_ text: String) throws -> [String]
    /// Ends every session of the service.
    func disturb() throws
}

extension QueueFixture {
    func submit(_ users: String...) throws {
        for user in users {
            let values = "('delete_account', '\(user)')"
            _ = try sql("INSERT INTO {requests} (kind, user_id) VALUES \(values)")
        }
    }

    /// The text of an installed file.
    static func example(_ name: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        return String(
            decoding: try Data(contentsOf: URL(filePath: root + "/Config/examples/\(name)")),
            as: UTF8.self
        )
    }
}

struct PostgreSQLQueueFixture: QueueFixture {
    let postgres: PostgreSQLServer
    let server: any QueueServer

    init() throws {
        let postgres = try PostgreSQLServer.shared.get()
        self.postgres = postgres
        _ = try postgres.psql(
            """
            DROP SCHEMA IF EXISTS expunged CASCADE;
            DO $$ BEGIN CREATE ROLE queue LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$
            """
        )
        let text = try Self.example("queue-postgresql.sql").split(separator: "\n")
            .filter { !$0.hasPrefix("\\set") }.joined(separator: "\n")
            .replacing(":\"app\"", with: "eraser").replacing(":\"queue\"", with: "queue")
        _ = try postgres.psql(text)
        server = SQLQueue<PostgreSQLSession>(name: "app", clock: .patient(wall: .distantPast)) {
            PostgreSQLStorePlan(
                name: StoreName("app"),
                conninfo: Secret(
                    "host=\(postgres.folder) port=\(postgres.port) user=queue dbname=postgres"
                ),
                schemas: [],
                rules: [],
                statementTimeout: .seconds(300),
                lockTimeout: .seconds(300)
            )
        }
    }

    func sql(_ text: String) throws -> [String] {
        try postgres.psql(
            text.replacing("{requests}", with: "expunged.requests")
                .replacing("{credentials}", with: "expunged.credentials")
        )
    }

    func disturb() throws {
        _ = try sql(
            "SELECT pg_terminate_backend(pid, 120000) FROM pg_stat_activity"
                + " WHERE usename = 'queue'"
        )
    }
}

struct MySQLQueueFixture: QueueFixture {
    let mysql: MySQLServer
    let server: any QueueServer

    init() throws {
        let mysql = try MySQLServer.shared.get()
        self.mysql = mysql
        _ = try mysql.client(
            """
            DROP DATABASE IF EXISTS queued;
            CREATE DATABASE queued CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
            CREATE USER IF NOT EXISTS expunged_queue@localhost;
            """
        )
        let text = try Self.example("queue-mysql.sql")
        let grants = text.split(separator: "\n").filter { $0.contains("   GRANT") }
            .map { $0.dropFirst(2).replacing("DATABASE", with: "queued") }
        _ = try mysql.client(text + "\n" + grants.joined(separator: "\n"), in: "queued")
        server = SQLQueue<MySQLSession>(name: "app", clock: .patient(wall: .distantPast)) {
            var plan = MySQLStorePlan(
                name: StoreName("app"),
                place: .socket(mysql.folder + "/socket"),
                username: "expunged_queue",
                database: "queued",
                rules: []
            )
            plan.statementTimeout = .seconds(300)
            plan.lockTimeout = .seconds(300)
            return plan
        }
    }

    func sql(_ text: String) throws -> [String] {
        try mysql.client(
            text.replacing("{requests}", with: "expunged_requests")
                .replacing("{credentials}", with: "expunged_credentials"),
            in: "queued"
        )
    }

    func disturb() throws {
        // One of them may end by itself meanwhile.
        _ = try mysql.client("KILL USER expunged_queue@localhost")
    }
}

@Suite("A queue at a server", .serialized, .timeLimit(.minutes(10))) struct SQLQueueTests {
    static let kinds: [@Sendable () throws -> any QueueFixture] = [
        { try PostgreSQLQueueFixture() }, { try MySQLQueueFixture() },
    ]

    @Test("rows that wait come page by page in the order of their ids", arguments: 0..<2)
    func pages(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        let queue = fixture.server
        let facts = try await queue.open()
        #expect(facts.id.utf8.count == 32)
        #expect(facts.foreignCount == 0)
        #expect(try await queue.lastID(of: .requests) == nil)
        try fixture.submit("u1", "u2", "u3", "u4")
        _ = try fixture.sql("UPDATE {requests} SET state = 'completed' WHERE user_id = 'u2'")
        let last = try #require(try await queue.lastID(of: .requests))
        let first = try await queue.page(of: .requests, in: .min...last, limit: 2)
        #expect(first.rows.map { $0.cells[1] } == ["u1", "u3"])
        #expect(first.rows.map { $0.cells[0] } == ["delete_account", "delete_account"])
        let next = try #require(first.lastID) + 1
        let second = try await queue.page(of: .requests, in: next...last, limit: 2)
        #expect(second.rows.map { $0.cells[1] } == ["u4"])
        #expect(second.lastID == last)
        let created = try #require(second.rows[0].cells[4])
        #expect(WallTime(rfc3339: created) != nil)
        await queue.close()
    }

    @Test("a row that is too large is counted and not read", arguments: 0..<2)
    func oversized(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        _ = try await fixture.server.open()
        try fixture.submit("u1")
        let values = "('u', 'apple', 'refresh_token', 't', "
        let insert = "INSERT INTO {credentials} (user_id, provider, kind, secret, raw_nonce)"
        let columns = insert + " VALUES"
        _ = try fixture.sql("\(columns) \(values) repeat('x', 65000)), \(values) 'n')")
        _ = try fixture.sql("\(columns) \(values) concat(repeat('x', 60000), repeat('x', 5000)))")
        let last = try #require(try await fixture.server.lastID(of: .credentials))
        let page = try await fixture.server.page(of: .credentials, in: .min...last, limit: 10)
        #expect(page.rows.count + page.oversizedCount == 3)
        #expect(page.lastID == last)
    }

    @Test("what is decided under the lock is committed as a whole", arguments: 0..<2)
    func change(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        let queue = fixture.server
        _ = try await queue.open()
        try fixture.submit("u1", "u2")
        _ = try fixture.sql(
            "INSERT INTO {credentials} (user_id, provider, kind, secret, subject) VALUES"
                + " ('u1', 'apple', 'refresh_token', 'token', 'subject')"
        )
        let last = try #require(try await queue.lastID(of: .requests))
        let ids = [last - 1, last, last + 1]
        let seen = try await queue.change(.requests, rows: ids) { rows in
            let changes = rows.map { row in
                QueueChange.show(
                    id: row.id,
                    request: "r\(row.id)",
                    state: "completed",
                    detail: "it's \"done\"",
                    updatedAt: nil,
                    isErased: row.id == last
                )
            }
            return (changes, rows.map { $0.cells[1] })
        }
        #expect(seen == ["u1", "u2"])
        let shown = try fixture.sql(
            "SELECT concat(user_id, ' ', state, ' ', detail, ' ', request_id) FROM {requests}"
                + " ORDER BY id"
        )
        #expect(
            shown == [
                "u1 completed it's \"done\" r\(last - 1)",
                "erased:r\(last) completed it's \"done\" r\(last)",
            ]
        )
        let row = try #require(try await queue.lastID(of: .credentials))
        try await queue.change(.credentials, rows: [row]) { rows in
            (rows.map { .scrub(id: $0.id, state: "sealed", detail: nil) }, ())
        }
        let left = try fixture.sql(
            "SELECT concat(user_id, ' ', state, ' ', coalesce(secret, '-'), coalesce(subject, '-'))"
                + " FROM {credentials}"
        )
        #expect(left == ["sealed:\(row) sealed --"])
    }

    @Test("a commit of an application wakes who waits", arguments: 0..<2)
    func notification(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        let wait = Duration.milliseconds(kind == 0 ? 100_000 : 50)
        #expect(await fixture.server.awaitChange(within: wait) == .changed)
        try fixture.submit("u1")
        #expect(await fixture.server.awaitChange(within: wait) == .changed)
        guard kind == 0 else { return }
        #expect(await fixture.server.awaitChange(within: .milliseconds(50)) == .quiet)
    }

    @Test("a session that is cut is unreachable, and comes back", arguments: 0..<2)
    func cut(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        let queue = fixture.server
        let facts = try await queue.open()
        try fixture.disturb()
        await #expect(throws: SpoolFailure.unreachable) {
            try await queue.lastID(of: .requests)
        }
        await #expect(throws: SpoolFailure.unreachable) {
            try await queue.change(.requests, rows: [1]) { _ in ([], ()) }
        }
        #expect(try await queue.open() == facts)
        #expect(try await queue.lastID(of: .requests) == nil)
    }

    @Test("tables that are not those of the contract are refused", arguments: 0..<2)
    func wrongSchema(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        _ = try await fixture.server.open()
        _ = try fixture.sql("ALTER TABLE {credentials} DROP COLUMN raw_nonce")
        await #expect(throws: SpoolFailure.wrongSchema) { try await fixture.server.open() }
        _ = try fixture.sql("DROP TABLE {credentials}")
        await #expect(throws: SpoolFailure.wrongSchema) { try await fixture.server.open() }
    }

    @Test("the role of the service can change nothing but the queue", arguments: 0..<2)
    func rights(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        _ = try await fixture.server.open()
        try fixture.submit("u1")
        let table = kind == 0 ? "expunged.requests" : "queued.expunged_requests"
        let role = kind == 0 ? "queue" : "expunged_queue@localhost"
        _ = try fixture.sql("REVOKE UPDATE ON \(table) FROM \(role)")
        if kind == 0 {
            _ = try fixture.sql("REVOKE UPDATE (state, user_id) ON \(table) FROM \(role)")
        }
        let last = try #require(try await fixture.server.lastID(of: .requests))
        await #expect(throws: SpoolFailure.denied) {
            try await fixture.server.change(.requests, rows: [last]) { rows in
                (
                    rows.map {
                        .show(
                            id: $0.id,
                            request: nil,
                            state: "completed",
                            detail: nil,
                            updatedAt: nil,
                            isErased: false
                        )
                    },
                    ()
                )
            }
        }
        #expect(try fixture.sql("SELECT state FROM {requests}") == ["submitted"])
    }

    @Test("triggers of others are counted", arguments: 0..<2)
    func triggers(_ kind: Int) async throws {
        let fixture = try Self.kinds[kind]()
        let trigger =
            kind == 0
            ? """
            CREATE FUNCTION expunged.other() RETURNS trigger LANGUAGE plpgsql AS
              'BEGIN RETURN NEW; END';
            CREATE TRIGGER other BEFORE INSERT ON {requests} FOR EACH ROW
              EXECUTE FUNCTION expunged.other()
            """
            : "CREATE TRIGGER other BEFORE INSERT ON {requests} FOR EACH ROW"
                + " SET NEW.detail = ''"
        _ = try fixture.sql(trigger)
        if kind == 1 {
            _ = try fixture.sql("GRANT TRIGGER ON {requests} TO expunged_queue@localhost")
        }
        #expect(try await fixture.server.open().foreignCount == 1)
    }
}
