import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("Ids that rows of a SQLite database hold for other stores")
struct KeySourceTests {
    private static let schema = """
        CREATE TABLE accounts (user_id TEXT PRIMARY KEY, crm_id TEXT);
        CREATE TABLE members (
          user_id TEXT NOT NULL COLLATE NOCASE, workspace INTEGER NOT NULL, joined INTEGER);
        CREATE INDEX members_user ON members (user_id);
        CREATE INDEX members_workspace ON members (workspace);
        """

    static let customer = KeyRule(
        name: "customer",
        user: TableRule(table: "accounts", column: "user_id", action: .delete),
        value: "crm_id"
    )
    private static let members = TableRule(
        table: "members",
        column: "user_id",
        action: .delete,
        creation: CreationColumn(column: "joined", unit: .unixMilliseconds)
    )
    private static let workspace = KeyRule(
        name: "workspace",
        user: members,
        value: "workspace",
        valueType: .integer,
        isShared: true
    )

    private static func store(
        _ app: AppDatabase,
        keys: [KeyRule] = [customer, workspace],
        clock: StoreClock = .still()
    ) -> SQLiteStore {
        var plan = SQLiteStorePlan(
            name: StoreName("app-db"),
            path: app.path,
            rules: [TableRule(table: "accounts", column: "user_id", action: .delete), members]
        )
        plan.keys = keys
        return SQLiteStore(plan: plan, hasher: StandInHasher(), clock: clock)
    }

    private static func ids(_ answers: [KeysAnswer]) -> [[String]] {
        answers.map { answer in
            switch answer {
            case .found(let ids): ids.map { $0.exposeText() }.sorted()
            case .failure(let failure): [failure.code]
            }
        }
    }

    private static func users(_ texts: String...) -> [UserID] { texts.compactMap { UserID($0) } }

    private static func names(_ answer: OwnersAnswer) -> [String] {
        guard case .named(let ids) = answer else { return ["\(answer)"] }
        return ids.map { $0.exposeText() }.sorted()
    }

    @Test("each user's ids are found, byte for byte, once, and behind the time cutoff only")
    func finds() async throws {
        let app = try AppDatabase(Self.schema)
        let (old, new) = (present.unixMilliseconds - 1, present.unixMilliseconds + 1)
        try app.execute(
            """
            INSERT INTO accounts VALUES ('u1', 'c1'), ('u2', NULL), ('u3', 'Ünï c');
            INSERT INTO members VALUES ('u1', 7, \(old)), ('u1', 7, \(old)), ('u1', 8, NULL),
              ('u1', 9, \(new)), ('U1', 10, \(old)), ('u2', 7, \(old));
            """
        )
        let orders = [order("u1"), order("u2"), order("u3"), order("u9")]
        for clock in [StoreClock.still(), .hasty()] {
            let store = Self.store(app, clock: clock)
            #expect(await store.diagnose() == [])
            let customers = await store.keys("customer", of: orders)
            #expect(Self.ids(customers) == [["c1"], [], ["Ünï c"], []])
            let workspaces = await store.keys("workspace", of: orders)
            #expect(Self.ids(workspaces) == [["7", "8"], ["7"], [], []])
            #expect(await store.keys("gone", of: [orders[0]]) == [.failure(.misconfigured)])
        }
    }

    @Test("an id is named while any row names it, whoever's and however new it is")
    func names() async throws {
        let app = try AppDatabase(Self.schema)
        let (old, new) = (present.unixMilliseconds - 1, present.unixMilliseconds + 1)
        try app.execute(
            """
            INSERT INTO members VALUES ('u1', 7, \(old)), ('u2', 7, \(old)), ('u1', 8, \(old)),
              ('u1', 8, \(old)), ('u1', 9, \(old)), ('u1', 9, \(new)), ('u1', 11, \(old)),
              ('U1', 11, \(old));
            """
        )
        let ids = Self.users("7", "8", "9", "10", "11", "007", "x")
        for clock in [StoreClock.still(), .hasty()] {
            let store = Self.store(app, clock: clock)
            let all = await store.named(ids, as: "workspace", besides: [])
            #expect(Self.names(all) == ["11", "7", "8", "9"])
            // A later life of the user still owns 9; 11 is also somebody's with a similar name.
            let others = await store.named(ids, as: "workspace", besides: [order("u1")])
            #expect(Self.names(others) == ["11", "7", "9"])
            let both = await store.named(
                ids,
                as: "workspace",
                besides: [order("u1"), order("u2")]
            )
            #expect(Self.names(both) == ["11", "9"])
        }
        let store = Self.store(app)
        _ = await store.purge([order("u1")])
        #expect(
            Self.names(await store.named(ids, as: "workspace", besides: [])) == ["11", "7", "9"]
        )
    }

    @Test("the ids of rows under a hold are found, since their rows are only held up")
    func held() async throws {
        let app = try AppDatabase(Self.schema)
        try app.execute("INSERT INTO accounts VALUES ('u1', 'c1')")
        let hold = StoreHold(
            name: "case",
            store: StoreName("app-db"),
            rows: RowFilter(
                table: "accounts",
                conditions: [.init(column: "crm_id", values: ["c1"])]
            ),
            since: present,
            uid: 1
        )
        let found = await Self.store(app).keys("customer", of: [order("u1", holds: [hold])])
        #expect(Self.ids(found) == [["c1"]])
    }

    @Test(
        "a value that is no id is a failure of its user alone",
        arguments: ["''", "char(10)", "x'00ff'", "12", "1.5", "hex(zeroblob(200))"]
    )
    func unfit(value: String) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE accounts (user_id TEXT PRIMARY KEY, crm_id);
            CREATE TABLE members (user_id TEXT, workspace INTEGER, joined INTEGER);
            INSERT INTO accounts VALUES ('u2', 'c2');
            """
        )
        let store = Self.store(app)
        let orders = [order("u1"), order("u2")]
        #expect(Self.ids(await store.keys("customer", of: orders)) == [[], ["c2"]])
        try app.execute("INSERT INTO accounts VALUES ('u1', \(value))")
        #expect(Self.ids(await store.keys("customer", of: orders)) == [["unfit_key"], ["c2"]])
    }

    @Test("a value that is too long is a failure of its user alone")
    func long() async throws {
        let app = try AppDatabase(Self.schema)
        try app.execute(
            "INSERT INTO accounts VALUES ('u1', hex(zeroblob(8500000))), ('u2', 'c2')"
        )
        let store = Self.store(app)
        let found = await store.keys("customer", of: [order("u1"), order("u2")])
        #expect(Self.ids(found) == [["blocked_by_size"], ["c2"]])
        let named = await store.named(Self.users("c2"), as: "customer", besides: [])
        #expect(named == .named(Set(Self.users("c2"))))
    }

    @Test("more ids than any user has are a wrong column, and nothing is begun with them")
    func tooMany() async throws {
        let app = try AppDatabase(Self.schema)
        try app.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
            INSERT INTO members SELECT 'u1', i, NULL FROM n;
            """
        )
        let store = Self.store(app)
        #expect(Self.ids(await store.keys("workspace", of: [order("u1")])) == [["too_many_keys"]])
        try app.execute("DELETE FROM members WHERE workspace = 1")
        #expect(Self.ids(await store.keys("workspace", of: [order("u1")]))[0].count == 10_000)
    }

    @Test(
        "a key that does not fit the schema is a problem before anything is purged",
        arguments: [
            (KeyRule(name: "k", user: members, value: "gone"), "has no column 'gone'"),
            (KeyRule(name: "k", user: members, value: "workspace"), "value_type \"text\" never"),
            (
                KeyRule(
                    name: "k",
                    user: TableRule(table: "gone", column: "u", action: .keep),
                    value: "v"
                ), "table 'gone' does not exist"
            ),
            (
                KeyRule(
                    name: "k",
                    user: TableRule(table: "members", column: "gone", action: .keep),
                    value: "workspace",
                    valueType: .integer
                ), "has no column 'gone'"
            ),
        ]
    )
    func startupProblems(key: KeyRule, text: String) async throws {
        let app = try AppDatabase(Self.schema)
        let store = Self.store(app, keys: [key])
        let problems = await store.diagnose()
        #expect(problems.contains { $0.contains(text) }, "\(problems)")
        #expect(Self.ids(await store.keys("k", of: [order("u1")])) == [["misconfigured"]])
        #expect(await store.purge([order("u1")]) == [.failure(.misconfigured)])
    }

    @Test(
        "a table that changes under the connection is looked at anew; one that is gone is failure"
    )
    func schemaChanges() async throws {
        let app = try AppDatabase(Self.schema)
        try app.execute("INSERT INTO accounts VALUES ('u1', 'c1')")
        let store = Self.store(app)
        #expect(Self.ids(await store.keys("customer", of: [order("u1")])) == [["c1"]])
        try app.execute("ALTER TABLE accounts ADD COLUMN more TEXT")
        #expect(Self.ids(await store.keys("customer", of: [order("u1")])) == [["c1"]])
        try app.execute("ALTER TABLE accounts RENAME TO gone")
        let found = await store.keys("customer", of: [order("u1")])
        #expect(Self.ids(found) == [["misconfigured"]])
    }

    /// A schema in which the rows of one store refer to those of another one of the same file.
    private static let shop = """
        PRAGMA foreign_keys = ON;
        CREATE TABLE accounts (user_id TEXT PRIMARY KEY);
        CREATE TABLE workspaces (id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE members (
          user_id TEXT NOT NULL REFERENCES accounts (user_id),
          workspace INTEGER NOT NULL REFERENCES workspaces (id), joined INTEGER);
        CREATE TABLE documents (
          workspace_id INTEGER NOT NULL REFERENCES workspaces (id), author_email TEXT);
        CREATE TABLE drafts (workspace_id INTEGER NOT NULL REFERENCES workspaces (id));
        """

    private static func siblings(_ app: AppDatabase) -> (users: SQLiteStore, spaces: SQLiteStore) {
        let mine = [TableRule(table: "accounts", column: "user_id", action: .delete), members]
        let theirs = [
            TableRule(table: "workspaces", column: "id", idType: .integer, action: .delete),
            TableRule(
                table: "documents",
                column: "workspace_id",
                idType: .integer,
                action: .delete
            ),
        ]
        var users = SQLiteStorePlan(name: StoreName("app-db"), path: app.path, rules: mine)
        users.keys = [workspace]
        users.neighbours = SchemaClaims(rules: theirs)
        var spaces = SQLiteStorePlan(name: StoreName("spaces"), path: app.path, rules: theirs)
        spaces.neighbours = SchemaClaims(rules: mine, keys: [workspace])
        return (
            SQLiteStore(plan: users, hasher: StandInHasher(), clock: .still()),
            SQLiteStore(plan: spaces, hasher: StandInHasher(), clock: .still())
        )
    }

    @Test("two stores of one file purge in the order of its foreign keys")
    func oneFile() async throws {
        let app = try AppDatabase(Self.shop)
        try app.execute(
            """
            INSERT INTO accounts VALUES ('u1'), ('u2');
            INSERT INTO workspaces VALUES (1, 'of u1'), (2, 'of both');
            INSERT INTO members VALUES ('u1', 1, NULL), ('u1', 2, NULL), ('u2', 2, NULL);
            INSERT INTO documents VALUES (1, 'a'), (2, 'b');
            """
        )
        let (users, spaces) = Self.siblings(app)
        #expect(await users.diagnose() == [])
        #expect(await spaces.diagnose() == [])
        // The other way round a member would be left without its workspace.
        let members = Obstacle(.foreignKey, at: "members", name: "workspace")
        #expect(await spaces.purge([order("1")]) == [.failure(.blocked(members))])
        for answer in await users.purge([order("u1")]) {
            #expect(answer.text.contains("undated rows 2"))
        }
        for answer in await spaces.purge([order("1")]) {
            #expect(answer.text.contains("workspaces delete, cutoff: none 1"))
        }
        #expect(try app.texts("SELECT id FROM workspaces") == ["2"])
        #expect(try app.texts("SELECT workspace_id FROM documents") == ["2"])
        #expect(try app.integer("SELECT count(*) FROM members") == 1)
    }

    @Test("what another store of the file deals with is covered; what none does, both find alike")
    func coverage() async throws {
        let app = try AppDatabase(Self.shop)
        let (users, spaces) = Self.siblings(app)
        let answers = (await users.coverage(), await spaces.coverage())
        guard case (.findings(let one), .findings(let other)) = answers else {
            Issue.record("no findings")
            return
        }
        let open = { (found: [CoverageFinding]) in found.filter { !$0.isCovered } }
        #expect(open(one).map(\.name) == ["drafts.workspace_id"], "\(one)")
        // By this a check knows what it has reported of an earlier store.
        #expect(open(one) == open(other))
        // Rows of members stop a deletion of workspaces, too, and the other store has a rule.
        #expect(await users.inspect(withOutages: true).uncovered == [])
        let blocking = await spaces.inspect(withOutages: true).uncovered
        #expect(blocking.map(\.name) == ["drafts.workspace_id"])
    }
}
