import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("A search names the tables that it did not read") struct UnreadTableTests {
    private static let tables = [
        TableShape("users", columns: ["id"]), TableShape("letters", columns: ["recipient"]),
    ]
    private static let user = SuggestionUser(table: "users", column: "id", reason: "a test")
    private static let error = SQLError(.locked, store: StoreName("app-db"))

    private static func run(_ schema: SQLSchema) -> SampleRun<SQLiteDialect> {
        SampleRun(schema, user, [])
    }

    /// Tables that a search with this sample did not read.
    private static func unread(_ schema: SQLSchema, _ sample: SchemaSample) -> [CoverageFinding] {
        schema.findings(SchemaClaims(rules: []), user, sample).filter(\.isUnread)
    }

    @Test("one that is locked is named with the reason, and the others are read")
    func locked() {
        let schema = SQLSchema(Self.tables, ignoresCase: true)
        var run = Self.run(schema)
        run.take([])
        let isLeft = run.skip(after: Self.error)
        run.take([])
        let end = run.next
        #expect(isLeft && end == nil)
        let unread = Self.unread(schema, run.end())
        let reason = "only names were looked at: another transaction holds a lock"
        #expect(unread.map(\.name) == ["users"] && unread[0].reason.hasPrefix(reason))
        #expect(unread[0].isSample)
    }

    @Test("without the ids of the users nothing was searched")
    func users() {
        var run = Self.run(SQLSchema(Self.tables, ignoresCase: true))
        let isLeft = run.skip(after: Self.error)
        #expect(!isLeft)
    }

    @Test("an error of the whole database ends the search")
    func lost() {
        var run = Self.run(SQLSchema(Self.tables, ignoresCase: true))
        run.take([])
        let isLeft = run.skip(after: SQLError(.lost, store: StoreName("app-db")))
        #expect(!isLeft)
    }

    @Test("those behind the end of the time are named")
    func deadline() {
        let schema = SQLSchema(Self.tables, ignoresCase: true)
        var run = Self.run(schema)
        run.take([])
        #expect(Self.unread(schema, run.end()).map(\.name) == ["letters", "users"])
    }

    @Test("one without the right to SELECT is named")
    func rights() {
        var tables = Self.tables
        (tables[1].canSelect, tables[1].grantee) = (false, "letters TO app")
        let schema = SQLSchema(tables, ignoresCase: true)
        let unread = Self.unread(schema, SchemaSample())
        #expect(unread.map(\.name) == ["letters"])
        #expect(unread[0].reason.hasSuffix("run: GRANT SELECT ON letters TO app;"))
    }

    @Test("one with addresses or types of others is named, and the others are read")
    func besides() {
        let others = [
            TableShape("user_emails", columns: ["user_id", "email"]),
            TableShape("types", columns: ["id", "app_label", "model"]),
        ]
        let schema = SQLSchema(Self.tables + others, ignoresCase: true)
        var user = Self.user
        user.beside = [(table: "user_emails", id: "user_id", value: "email")]
        var run = SampleRun<SQLiteDialect>(schema, user, [])
        run.take([])
        let areLeft = [run.skip(after: Self.error), run.skip(after: Self.error)]
        while run.next != nil { run.take([]) }
        let unread = Self.unread(schema, run.end())
        #expect(areLeft == [true, true] && unread.map(\.name) == ["types", "user_emails"])
        #expect(unread.allSatisfy { $0.reason.hasPrefix("its values were not looked for") })
    }

    @Test("a connection string says which database it is, and no secret is part of that")
    func location() {
        let location = { (conninfo: String) in
            let plan = PostgreSQLStorePlan(
                name: StoreName("app-pg"),
                conninfo: Secret(conninfo),
                schemas: [],
                rules: []
            )
            return PostgreSQLStore(plan: plan, hasher: StandInHasher(), clock: .still()).location
        }
        let named = location("host=h user=canary password=canary dbname=d")
        #expect(named?.contains("dbname=d") == true && named?.contains("canary") == false)
        // The database of a user who names none.
        #expect(location("host=h user=d password=canary") == named)
        #expect(location("host=h user=e") != named)
    }
}
