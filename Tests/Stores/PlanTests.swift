import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("What a SQLite store tells before it purges") struct PlanTests {
    let schema = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT);
        CREATE TABLE posts(u TEXT, made INTEGER); CREATE INDEX pu ON posts(u);
        CREATE TABLE invoices(u TEXT, name TEXT);
        INSERT INTO users VALUES ('a', 'a@x'), ('b', 'b@x');
        INSERT INTO posts VALUES
            ('a', 1700000000), ('a', NULL), ('a', 9000000000), ('b', 1700000000);
        INSERT INTO invoices VALUES ('a', 'A'), ('a', NULL), ('b', 'B');
        """

    @Test("every table is counted for this user alone, and nothing changes")
    func counts() async throws {
        let app = try AppDatabase(schema)
        let before = try app.texts("SELECT * FROM posts UNION ALL SELECT * FROM invoices")
        let store = app.store(
            TableRule(table: "users", column: "id", action: .keep, reason: "the law"),
            TableRule(
                table: "posts",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            ),
            TableRule(
                table: "invoices",
                column: "u",
                action: .anonymize([ColumnMask(column: "name", strategy: .null)]),
                reason: "tax"
            )
        )
        let expected: [PlanItem] = [
            .init(name: "users", action: .keep, reason: "the law", count: 1),
            .init(name: "posts", action: .delete, count: 2, newerCount: 1, undatedCount: 1),
            .init(
                name: "invoices",
                action: .anonymize,
                reason: "tax",
                count: 1,
                hasNoTimestamps: true
            ),
        ]
        #expect(await store.plan(order("a")) == .items(expected))
        #expect(
            try app.texts("SELECT * FROM posts UNION ALL SELECT * FROM invoices") == before
        )
        _ = await store.purge([order("a")])
        guard case .items(let after) = await store.plan(order("a")) else {
            Issue.record("no plan after the purge")
            return
        }
        #expect(after.map(\.count) == [1, 0, 0])
    }

    @Test("a hundred thousand rows and one more are so many")
    func unbounded() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE t(u TEXT); CREATE INDEX tu ON t(u);
            WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
            INSERT INTO t SELECT 'a' FROM c
            """
        )
        let store = app.store(TableRule(table: "t", column: "u", action: .delete))
        let item = PlanItem(name: "t", action: .delete, count: 100_001, hasNoTimestamps: true)
        #expect(await store.plan(order("a")) == .items([item]))
    }

    @Test("a rule that does not fit the schema is failure")
    func startupProblem() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(TableRule(table: "gone", column: "u", action: .delete))
        #expect(await store.plan(order("a")) == .failure(.misconfigured))
    }
}

@Suite("What looks like user data in a schema") struct CoverageTests {
    private func findings(_ schema: String, _ rules: [TableRule]) async throws -> [String] {
        let app = try AppDatabase(schema)
        let store = SQLiteStore(
            plan: SQLiteStorePlan(name: StoreName("app-db"), path: app.path, rules: rules),
            hasher: StandInHasher(),
            clock: .still()
        )
        guard case .findings(let found) = await store.coverage() else { return ["failure"] }
        let whole = found.filter { !$0.isSample }
        return whole.map { "\($0.isCovered ? "" : "! ")\($0.name): \($0.reason)" }
    }

    @Test("a column without a rule is not hidden behind a thousand others")
    func bound() {
        let columns = Array(repeating: "email", count: 1100)
        let rule = TableRule(table: "a", column: "user_id", action: .delete)
        let coverage = SchemaCoverage(
            tables: [
                TableShape("a", columns: columns), TableShape("z", columns: ["user_id"]),
            ],
            claims: SchemaClaims(rules: [rule])
        )
        let findings = coverage.findings()
        #expect(findings.count == 1101)
        #expect(findings.filter { !$0.isCovered }.map(\.name) == ["z.user_id"])
    }

    @Test("what tells of the user in a row that a rule deletes needs no rule of its own")
    func ownRow() async throws {
        var byAddress = TableRule(table: "newsletter", column: "email", action: .delete)
        byAddress.via = ParentColumn(table: "users", column: "email")
        let schema = """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT UNIQUE, friend_id TEXT);
            CREATE TABLE newsletter(email TEXT); CREATE TABLE invitations(email TEXT, by TEXT);
            """
        let rules = [
            TableRule(table: "users", column: "id", action: .delete), byAddress,
            TableRule(table: "invitations", column: "by", action: .delete),
        ]
        let found = try await findings(schema, rules)
        #expect(found.contains("users.email: named as the user id of a configured table"))
        // Of a row that somebody else made, the address is another's.
        let others = "! invitations.email: named as the user id of a configured table"
        #expect(found.contains(others), "\(found)")
        let without = try await findings(schema, Array(rules.dropFirst()))
        #expect(without.contains { $0.hasPrefix("! users.email") }, "\(without)")
    }

    @Test("a name of a user id says nothing where none of many values in rows that go is one")
    func otherIDs() async throws {
        let logins = (1...10).map { "('user-1', 'g-471\($0)', 0, '\($0 % 9)')" }
        let found = try await findings(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY, username TEXT);
            CREATE TABLE logins(user_id TEXT, uid TEXT, deleted_by INTEGER, created_by TEXT);
            CREATE TABLE teams(uid TEXT);
            INSERT INTO users VALUES('user-1', 'anna_1'); INSERT INTO teams VALUES('g-4711');
            INSERT INTO logins VALUES \(logins.joined(separator: ", "));
            """,
            [Self.rule("users", "id"), Self.rule("logins", "user_id")]
        )
        let named = found.filter { $0.hasSuffix("named like a user id") }
        #expect(
            named
                == [
                    "logins.uid", "! logins.deleted_by", "! logins.created_by", "! teams.uid",
                    "users.username",
                ]
                .map { $0 + ": named like a user id" }
        )
    }

    private static let items = """
        CREATE TABLE users(id TEXT PRIMARY KEY);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id TEXT);
        CREATE TABLE items(id INTEGER PRIMARY KEY, order_id INTEGER);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, item_id INTEGER, order_id INTEGER,
          author TEXT);
        CREATE TABLE parcels(order_id INTEGER);
        """

    private static func rule(_ table: String, _ column: String, via: String? = nil) -> TableRule {
        var rule = TableRule(table: table, column: column, action: .delete)
        rule.via = via.flatMap { ParentColumn($0) }
        return rule
    }

    private static let itemRules = [
        rule("users", "id"), rule("orders", "user_id"),
        rule("items", "order_id", via: "Orders.id"), rule("notes", "item_id", via: "items.id"),
    ]

    @Test("a column that repeats what a chain of rules leads through needs no rule")
    func chain() async throws {
        let reason = "named as the user id of a configured table"
        for key in ["", ", FOREIGN KEY(order_id) REFERENCES orders(id)"] {
            let schema = Self.items.replacing("author TEXT", with: "author TEXT\(key)")
            let found = try await findings(schema, Self.itemRules)
            #expect(found.contains("notes.order_id: \(reason)"), "\(found)")
            #expect(found.contains("! parcels.order_id: \(reason)"), "\(found)")
        }
    }

    @Test("a column beside a chain that misses rows or leads elsewhere needs one")
    func chainWithGaps() async throws {
        let left = "! notes.order_id: named as the user id of a configured table"
        let rows = """
            INSERT INTO users VALUES('user-1'); INSERT INTO orders VALUES(1, 'user-1');
            INSERT INTO notes VALUES(1, NULL, 1, 'user-2');
            """
        #expect(try await findings(Self.items + rows, Self.itemRules).contains(left))
        let other = Self.items.replacing(
            "author TEXT",
            with: "author TEXT, FOREIGN KEY(order_id) REFERENCES parcels(order_id)"
        )
        #expect(try await findings(other, Self.itemRules).contains(left))
        var some = Self.itemRules
        some[3].conditions = [ColumnCondition(column: "id", test: .equals(.integer(1)))]
        #expect(try await findings(Self.items, some).contains(left))
        // Who wrote a note is not who placed the order.
        let schema = Self.items + "CREATE TABLE posts(author TEXT)"
        var byAuthor = Self.itemRules + [Self.rule("posts", "author", via: "users.id")]
        byAuthor[1].via = ParentColumn(table: "users", column: "id")
        let found = try await findings(schema, byAuthor)
        let author = "! notes.author: named as the user id of a configured table"
        #expect(found.contains(author), "\(found)")
    }

    @Test("a reference to users and a name of the user id need a rule, a cascade counts as one")
    func references() async throws {
        let found = try await findings(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT);
            CREATE TABLE posts(writer TEXT REFERENCES users, editor TEXT REFERENCES users);
            CREATE TABLE likes(u TEXT REFERENCES users ON DELETE CASCADE, ip_address TEXT);
            CREATE TABLE audit(actor_user_id TEXT); CREATE TABLE drafts(writer TEXT);
            CREATE TABLE parts(id INTEGER, name TEXT, fullname TEXT, display_name TEXT);
            CREATE TABLE patients(id INTEGER, full_name TEXT, date_of_birth TEXT);
            CREATE TABLE phones(id INTEGER, name TEXT, user_agent TEXT);
            """,
            [
                TableRule(table: "users", column: "id", action: .delete),
                TableRule(table: "posts", column: "writer", action: .delete),
            ]
        )
        #expect(
            found == [
                "! audit.actor_user_id: named like a user id",
                "! drafts.writer: named as the user id of a configured table",
                "likes.u: refers to 'users'",
                "likes.ip_address: named like personal data",
                "! patients.full_name: named like personal data",
                "! patients.date_of_birth: named like personal data",
                "! phones.user_agent: named like personal data",
                "posts.writer: refers to 'users'",
                "! posts.editor: refers to 'users'",
                "users: named like a table of users",
                "users.email: named like personal data",
            ]
        )
    }

    @Test("a key of several columns is one finding, of the column that says who")
    func composite() async throws {
        let found = try await findings(
            """
            CREATE TABLE users(tenant TEXT, id TEXT, PRIMARY KEY(tenant, id));
            CREATE TABLE posts(owner_id TEXT, tenant TEXT,
              FOREIGN KEY(owner_id, tenant) REFERENCES users(id, tenant));
            CREATE TABLE likes(tenant TEXT, who TEXT,
              FOREIGN KEY(tenant, who) REFERENCES users(tenant, id));
            """,
            [TableRule(table: "users", column: "id", action: .delete)]
        )
        #expect(
            found.filter { $0.hasPrefix("!") } == [
                "! likes.who: refers to 'users'", "! posts.owner_id: refers to 'users'",
            ]
        )
    }

    @Test("a cascade covers rows that go by the user's own key, not what stands on others' rows")
    func cascades() async throws {
        let found = try await findings(
            """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, author_id TEXT);
            CREATE TABLE comments(post INTEGER REFERENCES posts ON DELETE CASCADE, user_id TEXT,
              email TEXT);
            CREATE TABLE drafts(post INTEGER REFERENCES posts ON DELETE CASCADE, email TEXT);
            CREATE TABLE notes(author_id TEXT PRIMARY KEY, email TEXT);
            CREATE TABLE marks(author_id TEXT REFERENCES notes ON DELETE CASCADE, email TEXT);
            """,
            [
                TableRule(table: "posts", column: "author_id", action: .delete),
                TableRule(table: "notes", column: "author_id", action: .delete),
            ]
        )
        #expect(
            found == [
                "comments.post: refers to 'posts'",
                "! comments.user_id: named like a user id",
                "! comments.email: named like personal data",
                "drafts.post: refers to 'posts'",
                "drafts.email: named like personal data",
                "marks.author_id: refers to 'notes'",
                "marks.email: named like personal data",
                "notes.author_id: named as the user id of a configured table",
                "notes.email: named like personal data",
                "posts.author_id: named as the user id of a configured table",
            ]
        )
    }

    @Test("a key hides a name of a user id only where its parent shows nothing of persons")
    func keyedNames() async throws {
        let found = try await findings(
            """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, made_by TEXT);
            CREATE TABLE channels(id INTEGER PRIMARY KEY, type_id INTEGER, type INTEGER);
            CREATE TABLE contacts(id INTEGER PRIMARY KEY, phone TEXT);
            CREATE TABLE owned(id INTEGER PRIMARY KEY, owner_id TEXT);
            CREATE TABLE messages(recipient_id INTEGER REFERENCES channels(id),
              sender_id INTEGER REFERENCES contacts, author_id INTEGER REFERENCES owned);
            CREATE TABLE replies(post INTEGER REFERENCES posts ON DELETE CASCADE,
              recipient_id INTEGER REFERENCES channels(id), email TEXT);
            """,
            [Self.rule("posts", "made_by")]
        )
        #expect(
            found == [
                "! contacts.phone: named like personal data",
                "! messages.sender_id: named like a user id",
                "! messages.author_id: named like a user id",
                "! owned.owner_id: named like a user id",
                "posts.made_by: named as the user id of a configured table",
                "replies.post: refers to 'posts'",
                "! replies.email: named like personal data",
            ]
        )
    }

    @Test("keeping with a reason covers, anonymizing covers the columns it sets")
    func otherActions() async throws {
        let found = try await findings(
            """
            CREATE TABLE invoices(user_id TEXT, email TEXT, phone TEXT);
            CREATE TABLE logins(user_id TEXT, ip_address TEXT);
            CREATE TABLE accounts(id TEXT);
            """,
            [
                TableRule(
                    table: "invoices",
                    column: "user_id",
                    action: .anonymize([ColumnMask(column: "email", strategy: .null)]),
                    reason: "tax"
                ),
                TableRule(table: "Logins", column: "USER_ID", action: .keep, reason: "the law"),
            ]
        )
        #expect(
            found == [
                "! accounts: named like a table of users",
                "invoices.user_id: named as the user id of a configured table",
                "invoices.email: named like personal data",
                "! invoices.phone: named like personal data",
                "logins.user_id: named as the user id of a configured table",
                "logins.ip_address: named like personal data",
            ]
        )
    }
}
