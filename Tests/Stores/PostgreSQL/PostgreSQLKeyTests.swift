import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Ids that rows of a PostgreSQL database hold for other stores", .serialized)
struct PostgreSQLKeyTests {
    private static let schema = """
        CREATE TABLE accounts (user_id text PRIMARY KEY, crm uuid, badge bytea, nick text);
        CREATE TABLE members (user_id text NOT NULL, workspace int NOT NULL, joined timestamptz);
        CREATE INDEX ON members (user_id);
        CREATE INDEX ON members (workspace);
        """
    private static let accounts = TableRule(table: "accounts", column: "user_id", action: .delete)
    private static let members = TableRule(
        table: "members",
        column: "user_id",
        action: .delete,
        creation: CreationColumn(column: "joined", unit: .timestamp)
    )

    private static func key(_ name: String, _ type: IDType) -> KeyRule {
        KeyRule(name: name, user: accounts, value: name, valueType: type)
    }

    private static func store(_ app: PostgreSQLFixture, keys: [KeyRule]? = nil) -> PostgreSQLStore {
        var plan = app.plan([accounts, members])
        plan.keys =
            keys ?? [
                key("crm", .uuid), key("badge", .blob), key("nick", .text),
                KeyRule(
                    name: "workspace",
                    user: members,
                    value: "workspace",
                    valueType: .integer,
                    isShared: true
                ),
            ]
        return PostgreSQLStore(plan: plan, hasher: StandInHasher(), clock: .still())
    }

    private static func ids(_ answers: [KeysAnswer]) -> [[String]] {
        answers.map { answer in
            switch answer {
            case .found(let ids): ids.map { $0.exposeText() }.sorted()
            case .failure(let failure): [failure.code]
            }
        }
    }

    private static func names(_ answer: OwnersAnswer) -> [String] {
        guard case .named(let ids) = answer else { return ["\(answer)"] }
        return ids.map { $0.exposeText() }.sorted()
    }

    @Test("ids that are too large block their user alone")
    func long() async throws {
        let app = try PostgreSQLFixture(
            Self.schema
                + """
                INSERT INTO accounts (user_id, nick)
                    VALUES ('u1', repeat('x', 70000000)), ('u2', 'c2')
                """
        )
        let found = await Self.store(app).keys("nick", of: [order("u1"), order("u2")])
        #expect(Self.ids(found) == [["blocked_by_size"], ["c2"]])
    }

    @Test("a column that changes its type is read anew, though its statement was prepared")
    func changedType() async throws {
        let app = try PostgreSQLFixture(
            Self.schema
                + """
                INSERT INTO members SELECT 'u' || i, i, '2020-01-01Z'
                    FROM generate_series(1, 9) i
                """
        )
        let store = Self.store(app)
        for user in 1...4 {
            let found = await store.keys("workspace", of: [order("u\(user)")])
            #expect(Self.ids(found) == [["\(user)"]])
        }
        try app.sql("ALTER TABLE members ALTER workspace TYPE bigint")
        #expect(Self.ids(await store.keys("workspace", of: [order("u5")])) == [["throttled"]])
        #expect(Self.ids(await store.keys("workspace", of: [order("u5")])) == [["5"]])
    }

    @Test("each user's ids are found in every type, behind the time cutoff only")
    func finds() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        try app.sql(
            """
            INSERT INTO accounts VALUES
              ('u1', '0a1b2c3d-0000-4000-8000-00000000000a', '\\x00ff', 'Ü n'),
              ('u2', NULL, NULL, NULL),
              ('u3', NULL, '\\x0190a5f0c0de0190a5f0c0de0190a5f0c0de', '');
            INSERT INTO members VALUES ('u1', 7, '2025-01-01Z'), ('u1', 7, '2025-01-02Z'),
              ('u1', 8, NULL), ('u1', 9, '2027-01-01Z'), ('u2', 7, '2025-01-01Z')
            """
        )
        let store = Self.store(app)
        #expect(await store.diagnose() == [])
        let orders = [order("u1"), order("u2"), order("u3")]
        #expect(
            Self.ids(await store.keys("crm", of: orders))
                == [["0a1b2c3d-0000-4000-8000-00000000000a"], [], []]
        )
        // The last has 18 bytes: as many digits as a UUID has characters.
        let badges = [["00ff"], [], ["0190a5f0c0de0190a5f0c0de0190a5f0c0de"]]
        #expect(Self.ids(await store.keys("badge", of: orders)) == badges)
        #expect(Self.ids(await store.keys("nick", of: orders)) == [["Ü n"], [], ["unfit_key"]])
        #expect(Self.ids(await store.keys("workspace", of: orders)) == [["7", "8"], ["7"], []])
        #expect(Self.ids(await store.keys("gone", of: [orders[0]])) == [["misconfigured"]])
    }

    @Test("an id is named while any row names it, and not by rows that are as good as gone")
    func names() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        try app.sql(
            """
            INSERT INTO members VALUES ('u1', 7, '2025-01-01Z'), ('u2', 7, '2025-01-01Z'),
              ('u1', 8, '2025-01-01Z'), ('u1', 9, '2025-01-01Z'), ('u1', 9, '2027-01-01Z')
            """
        )
        let store = Self.store(app)
        let ids = ["7", "8", "9", "10", "x"].compactMap { UserID($0) }
        #expect(
            Self.names(await store.named(ids, as: "workspace", besides: [])) == ["7", "8", "9"]
        )
        let others = await store.named(ids, as: "workspace", besides: [order("u1")])
        #expect(Self.names(others) == ["7", "9"])
        let both = [order("u1"), order("u2")]
        #expect(Self.names(await store.named(ids, as: "workspace", besides: both)) == ["9"])
        _ = await store.purge(both)
        #expect(Self.names(await store.named(ids, as: "workspace", besides: [])) == ["9"])
    }

    @Test("more ids than any user has are a failure, and a server that is gone is one, too")
    func failures() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        try app.sql("INSERT INTO members SELECT 'u1', i, NULL FROM generate_series(1, 10001) i")
        let store = Self.store(app)
        #expect(Self.ids(await store.keys("workspace", of: [order("u1")])) == [["too_many_keys"]])
        let gone = PostgreSQLStore(
            plan: app.plan([Self.accounts, Self.members]),
            hasher: StandInHasher(),
            clock: .still(),
            beforeStatement: { _ in false }
        )
        #expect(Self.ids(await gone.keys("workspace", of: [order("u1")])) == [["lost"]])
    }

    @Test(
        "a key that does not fit the catalogs is a problem before anything is purged",
        arguments: [
            (key("gone", .text), "has no column 'gone'"),
            (key("crm", .text), "value_type \"text\" never matches"),
        ]
    )
    func startupProblems(key: KeyRule, text: String) async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let store = Self.store(app, keys: [key])
        let problems = await store.diagnose()
        #expect(problems.contains { $0.contains(text) }, "\(problems)")
        #expect(Self.ids(await store.keys(key.name, of: [order("u1")])) == [["misconfigured"]])
    }

    @Test("two owners who go at the same time: whoever asks last finds nobody left")
    func race() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        try app.sql("INSERT INTO members SELECT 'u' || i, 7, NULL FROM generate_series(1, 8) i")
        let id = try #require(UserID("7"))
        let free = await withTaskGroup(of: Bool.self) { group in
            for number in 1...8 {
                group.addTask {
                    let store = Self.store(app)
                    _ = await store.purge([order("u\(number)")])
                    return await store.named([id], as: "workspace", besides: []) == .named([])
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(free >= 1)
    }
}
