import Engine
import Lifecycle
import PostgreSQL
import Testing

@testable import Stores

@Suite("What a PostgreSQL store checks", .serialized) struct PostgreSQLCheckTests {
    private let rule = TableRule(table: "t", column: "u", action: .delete)

    @Test(
        "a rule that does not fit the catalogs is a problem, and nothing is purged",
        arguments: [
            (TableRule(table: "gone", column: "u", action: .delete), "does not exist"),
            (TableRule(table: "t", column: "gone", action: .delete), "no column"),
            (TableRule(table: "v", column: "u", action: .delete), "not a table"),
            (TableRule(table: "t", column: "n", action: .delete), "never matches"),
            (TableRule(table: "t", column: "u", idType: .uuid, action: .delete), "never matches"),
            (
                TableRule(
                    table: "t",
                    column: "u",
                    action: .anonymize([ColumnMask(column: "short", strategy: .hash)])
                ), "holds 10 characters"
            ),
            (
                TableRule(
                    table: "t",
                    column: "u",
                    action: .delete,
                    creation: CreationColumn(column: "n", unit: .timestamp)
                ), "not timestamp"
            ),
            (
                TableRule(
                    table: "t",
                    column: "u",
                    action: .delete,
                    creation: CreationColumn(column: "n", unit: .unixSeconds)
                ), "no plausible time"
            ),
            (
                TableRule(
                    table: "t",
                    column: "u",
                    action: .anonymize([ColumnMask(column: "j", strategy: .text("x"))])
                ), "cannot be worked on"
            ),
            (
                TableRule(
                    table: "t",
                    column: "u",
                    action: .anonymize([ColumnMask(column: "mail", strategy: .hash)])
                ), "use random"
            ),
        ]
    )
    func startupProblems(rule: TableRule, text: String) async throws {
        let app = try PostgreSQLFixture(
            "CREATE TABLE t(u text, n int, short varchar(10), j json, mail text UNIQUE);"
                + " INSERT INTO t VALUES ('x', 1, 'x', '{}'); CREATE VIEW v AS SELECT * FROM t"
        )
        let store = app.store(rule)
        let problems = await store.diagnose()
        #expect(problems.count == 1 && problems[0].contains(text), "\(problems)")
        #expect(try app.sql("SELECT count(*) FROM t") == ["1"])
    }

    @Test("missing privileges and row security are problems, and enough privileges are enough")
    func privileges() async throws {
        let app = try PostgreSQLFixture(
            "CREATE TABLE t(u text, \"order\" text, m text); INSERT INTO t VALUES ('x')"
        )
        try app.sql("GRANT USAGE ON SCHEMA \(app.schema) TO eraser")
        let store = app.store(app.plan([rule], conninfo: "\(app.socket) user=eraser"))
        let lacks = "the role lacks privileges on 't'; run: GRANT SELECT,"
        #expect(await store.diagnose() == ["\(lacks) DELETE ON \(app.schema).t TO eraser;"])
        let masks = ["m", "order"].map { ColumnMask(column: $0, strategy: .null) }
        let masking = TableRule(table: "t", column: "u", action: .anonymize(masks))
        let masker = app.store(app.plan([masking], conninfo: "\(app.socket) user=eraser"))
        #expect(
            await masker.diagnose()
                == ["\(lacks) UPDATE (\"order\", m) ON \(app.schema).t TO eraser;"]
        )
        #expect(await store.purge([order("x")]) == [.failure(.misconfigured)])
        guard case .findings(let unread) = await store.coverage() else {
            Issue.record("no coverage")
            return
        }
        #expect(unread.contains { $0.isUnread && $0.reason.contains("may not SELECT") })
        try app.sql("REVOKE USAGE ON SCHEMA \(app.schema) FROM eraser")
        let usage = "GRANT USAGE ON SCHEMA \(app.schema) TO eraser;"
        let remedies = await store.inspect(withOutages: true).problems.map(\.remedy)
        #expect(remedies == ["\(usage) GRANT SELECT, DELETE ON \(app.schema).t TO eraser;"])
        try app.sql("GRANT USAGE ON SCHEMA \(app.schema) TO eraser")
        try app.sql("GRANT SELECT, DELETE ON t TO eraser")
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [])
        #expect(found.advice.map(\.text).contains { $0.contains("may not UPDATE") })
        try app.sql("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
        #expect(await store.diagnose().first?.contains("row security") == true)
        try app.sql("ALTER TABLE t DISABLE ROW LEVEL SECURITY")
        #expect(await store.diagnose() == [])
        let item = PlanItem(name: "t", action: .delete, count: 1, hasNoTimestamps: true)
        #expect(await store.plan(order("x")) == .items([item]))
        #expect(await store.purge([order("x")]).map(\.text) == ["t delete, cutoff: none 1"])
    }

    @Test("what an operator should know is told by the same look, and is no problem")
    func advice() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(id int PRIMARY KEY, u text, made bigint);
            CREATE TABLE child(t int REFERENCES t ON DELETE CASCADE, other int REFERENCES t);
            INSERT INTO t VALUES (1, 'canary-user-5d02c7e4', 1700000000000),
              (2, 'canary-user-5d02c7e4', 4000000000000);
            """
        )
        let store: any PurgeStore = app.store(
            TableRule(
                table: "t",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixMilliseconds)
            )
        )
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [])
        for sentence in [
            "column 'u' of table 't' has no index, so every purge reads the whole table;"
                + " CREATE INDEX t_u ON t (u) mends that",
            "deleting from 't' cascades into 'child', which has no rule; plan and receipt count its"
                + " rows",
            // By its other key the database may have taken such a row away already.
            "rows of 'child' can stop the deletion from 't'; a rule for it takes that"
                + " reference away first: table = \"child\", column = \"other\", via = \"t.id\","
                + " action = \"anonymize\", set = { other = { strategy = \"null\" } },"
                + " keep_reason = \"WHY\". With action = \"delete\" whole rows go instead, also"
                + " those that belong to other users",
            "column 'made' of table 't' holds values that are no plausible time; rows dated in the"
                + " future are never purged",
        ] { #expect(found.advice.map(\.text).contains(sentence), "\(sentence) in \(found.advice)") }
        #expect(found.uncovered == [])
        #expect(!found.advice.map(\.text).joined().contains("canary"))
    }

    @Test("over TCP the server proves its name, and the password stays out of every error")
    func tls() async throws {
        let app = try PostgreSQLFixture("CREATE TABLE t(u text)")
        try app.sql("GRANT USAGE ON SCHEMA \(app.schema) TO eraser; GRANT ALL ON t TO eraser")
        let certificate = app.server.folder + "/server.crt"
        func problems(
            _ host: String,
            _ password: String,
            tls: PostgreSQLStorePlan.TLS = .verifyFull,
            ca: String?
        ) async -> String {
            let conninfo =
                "host=\(host) port=\(app.server.port) dbname=postgres user=eraser"
                + " password='\(password)'"
            let plan = app.plan([rule], conninfo: conninfo, tls: tls, caFile: ca)
            let text = await app.store(plan).diagnose().joined(separator: "\n")
            #expect(!text.contains("horse") && !text.contains("staple"))
            return text
        }
        #expect(await problems("localhost", "correct horse", ca: certificate) == "")
        #expect(await problems("127.0.0.1", "correct horse", ca: certificate).contains("(tls)"))
        #expect(await problems("localhost", "correct horse", ca: nil).contains("(tls)"))
        let wrong = await problems("localhost", "staple", ca: certificate)
        #expect(wrong.contains("(refused)") && wrong.contains("28P01"))
        #expect(await problems("localhost", "correct horse", tls: .off, ca: nil).contains("28000"))
        #expect(await problems("127.0.0.1", "x", tls: .verifyCA, ca: certificate).contains("28P01"))
    }

    @Test(
        "a connection string may not decide what the configuration decides",
        arguments: [
            "host=db.example.com sslmode=disable", "host=a options='-c x=y'", "nonsense", "",
            "service=x", "postgresql://u:secret@h/d?sslmode=prefer",
        ]
    )
    func conninfo(text: String) async throws {
        let app = try PostgreSQLFixture("")
        let problems = await app.store(app.plan([rule], conninfo: text)).diagnose()
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasPrefix(
                "cannot purge store at 'app-pg' (bad_conninfo): conninfo_credential must"
            ) == true
        )
        // Not a word of the text, which may hold a password.
        #expect(problems.first?.contains("secret") == false)
    }

    @Test("without encryption only the loopback interface is reached")
    func plain() async throws {
        let app = try PostgreSQLFixture("")
        let plan = app.plan([rule], conninfo: "host=db.example.com user=x", tls: .off)
        #expect(await app.store(plan).diagnose().first?.contains("bad_conninfo") == true)
    }

    @Test("nobody there is unreachable, which is no wrong set-up")
    func unreachable() async throws {
        let app = try PostgreSQLFixture("")
        let plan = app.plan([rule], conninfo: "host=\(app.server.folder) port=1 user=owner")
        #expect(await app.store(plan).purge([order("x")]) == [.failure(.unreachable)])
        #expect(await app.store(plan).diagnose().count == 1)
        #expect(
            await app.store(plan).startupProblems() == [],
            "an outage must not keep us from starting"
        )
    }

    @Test("references to users and other schemas are found, listed or not")
    func coverage() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE users(id text PRIMARY KEY); CREATE TABLE posts(w text REFERENCES users,
                editor text REFERENCES users, email text);
            """
        )
        let store = app.store(
            TableRule(table: "users", column: "id", action: .delete),
            TableRule(table: "\(app.schema).posts", column: "w", action: .delete)
        )
        let expected: [CoverageFinding] = [
            .init(.covered, "posts.w", "refers to 'users'"),
            .init(.open, "posts.editor", "refers to 'users'"),
            .init(.covered, "posts.email", "named like personal data"),
            .init(.covered, "users", "named like a table of users"),
        ]
        #expect(await store.coverage() == .findings(expected))
    }
    @Test("an address in another schema that its rows' rule deals with is covered by its values")
    func addressElsewhere() async throws {
        let app = try PostgreSQLFixture("")
        let billing = app.schema + "_billing"
        try app.sql(
            """
            CREATE SCHEMA \(billing);
            CREATE TABLE users(id text PRIMARY KEY, email text UNIQUE);
            CREATE TABLE newsletter(email text);
            CREATE TABLE \(billing).invoices(customer_id text, email text);
            CREATE TABLE \(billing).invitations(made_for text, email text);
            INSERT INTO users SELECT 'user-' || n, 'anna' || n || '@example.org'
              FROM generate_series(1, 9) n;
            INSERT INTO \(billing).invoices SELECT id, email FROM users;
            INSERT INTO \(billing).invitations
              SELECT a.id, b.email FROM users a JOIN users b ON a.id < b.id;
            """
        )
        func rule(_ table: String, _ column: String, via: String? = nil) -> TableRule {
            var rule = TableRule(table: table, column: column, action: .delete)
            rule.via = via.flatMap { ParentColumn($0) }
            return rule
        }
        let plan = PostgreSQLStorePlan(
            name: StoreName("app-pg"),
            conninfo: Secret("\(app.socket) user=owner"),
            schemas: [app.schema, billing],
            rules: [
                rule("users", "id"), rule("newsletter", "email", via: "users.email"),
                rule("\(billing).invoices", "customer_id", via: "users.id"),
                rule("\(billing).invitations", "made_for", via: "users.id"),
            ]
        )
        guard case .findings(let found) = await app.store(plan).coverage() else {
            Issue.record("no coverage")
            return
        }
        let covered = found.filter { $0.name.hasSuffix(".email") }
            .reduce(into: [:]) { $0[$1.name] = $1.isCovered }
        #expect(covered["\(billing).invoices.email"] == true, "\(found)")
        #expect(covered["\(billing).invitations.email"] == false, "\(found)")
    }
}
