import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Keys whose SET NULL meets NOT NULL, and rows that are their own parents", .serialized)
struct SetNullKeyTests {
    /// One key of a table.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var columns = ["a", "b"]
        var action = "SET NULL"
        /// Columns that are NOT NULL.
        let required: [String]
        /// Columns that the key sets; `nil` for all of them.
        var nulled: [String]?
        var kept: [String] = []
    }

    private static let cases = [
        Case(testDescription: "nothing is NOT NULL", required: ["id"]),
        Case(testDescription: "its only column", columns: ["a"], required: ["a"], kept: ["a"]),
        Case(testDescription: "one of two", required: ["a"], kept: ["a"]),
        Case(testDescription: "both", required: ["a", "b"], kept: ["a", "b"]),
        Case(testDescription: "it sets another one", required: ["a"], nulled: ["b"]),
        Case(testDescription: "it sets this one", required: ["a"], nulled: ["a"], kept: ["a"]),
        Case(testDescription: "it deletes", action: "CASCADE", required: ["a"]),
        Case(testDescription: "it sets a default", action: "SET DEFAULT", required: ["a"]),
    ]

    @Test("a key cannot set NULL what is NOT NULL", arguments: cases)
    func kept(example: Case) throws {
        var child = TableShape(name: "child", reference: "child")
        child.columns = ["id", "a", "b"].map { name in
            ColumnShape(
                name: name,
                type: "text",
                typeText: "is of type 'text'",
                idTypes: [.text],
                units: [],
                holdsText: true,
                isNotNull: example.required.contains(name)
            )
        }
        child.foreignKeys = [
            ForeignKey(
                parent: "parent",
                childColumns: example.columns,
                parentColumns: example.columns,
                onDelete: example.action,
                nulledColumns: example.nulled
            )
        ]
        let schema = SQLSchema([child], ignoresCase: true)
        let key = try #require(schema.table("child")?.foreignKeys.first)
        let cannotSetNull = !example.kept.isEmpty
        #expect(key.keptColumns == example.kept)
        #expect((key.cannotSetNull, key.restricts) == (cannotSetNull, cannotSetNull))
        #expect(key.setsNull == (example.action == "SET NULL" && !cannotSetNull))
    }

    // MARK: Databases; InnoDB refuses to make such a key (errors 1005 and 1830)

    private static let posts = """
        CREATE TABLE users(id TEXT PRIMARY KEY);
        CREATE TABLE posts(id INTEGER PRIMARY KEY, user_id TEXT REFERENCES users);
        CREATE TABLE comments(id INTEGER PRIMARY KEY,
            post_id INTEGER NOT NULL REFERENCES posts ON DELETE SET NULL);
        CREATE TABLE drafts(id INTEGER PRIMARY KEY,
            writer TEXT NOT NULL REFERENCES users ON DELETE SET NULL);
        INSERT INTO users VALUES ('user-anna'), ('user-bert');
        INSERT INTO posts VALUES (1, 'user-anna'), (2, 'user-bert');
        INSERT INTO comments VALUES (1, 1), (2, 2);
        INSERT INTO drafts VALUES (1, 'user-anna'), (2, 'user-bert');
        """
    private static let rules = [
        SchemaShape.rule("users", "id"), SchemaShape.rule("posts", "user_id"),
        SchemaShape.rule("drafts", "writer"),
    ]
    private static let sentence =
        "rows of 'comments' can stop the deletion from 'posts' by ON DELETE SET NULL, which fails"
        + " since 'post_id' is NOT NULL, unless the key is changed; a rule for it deletes them"
        + " first: table = \"comments\", column = \"post_id\", via = \"posts.id\", action ="
        + " \"delete\""

    private func expectDone(
        _ app: any ShapeStore,
        _ rules: [TableRule],
        _ user: String,
        left: [String: [String]]
    ) async throws {
        let store = app.store(rules)
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered == [])
        let answers = await store.purge([order(user)])
        guard case .done? = answers.first else {
            Issue.record("not done: \(answers)")
            return
        }
        #expect(await store.verify([order(user)]) == [.clean])
        #expect(try app.dump(left.keys.sorted()) == left)
    }

    @Test(
        "the check names the key, and the rule that goes first",
        arguments: [ShapeKind.sqlite, .postgresql]
    )
    func checked(kind: ShapeKind) async throws {
        let app = try kind.open(Self.posts)
        let store = app.store(Self.rules)
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [])
        #expect(found.uncovered.map(\.name) == ["comments.post_id"])
        #expect(found.uncovered.map(\.reason) == [Self.sentence])
        let answers = await store.purge([order("user-anna")])
        guard case .failure(.blocked)? = answers.first else {
            Issue.record("not blocked: \(answers)")
            return
        }
        try await expectDone(
            app,
            Self.rules + [SchemaShape.rule("comments", "post_id", via: "posts.id")],
            "user-anna",
            left: ["comments": ["2|2"], "drafts": ["2|user-bert"], "users": ["user-bert"]]
        )
    }

    @Test(
        "the suggestion has that rule, and asks",
        arguments: [ShapeKind.sqlite, .postgresql]
    )
    func suggested(kind: ShapeKind) async throws {
        let app = try kind.open(Self.posts)
        let made = try await SuggestedRules(app.store([]), userTable: "users.id")
        #expect(
            made.lines == [
                "comments.post_id via posts.id: delete", "drafts.writer: delete",
                "posts.user_id: delete", "users.id: delete",
            ]
        )
        let words = made.text.replacing("\n#", with: "").replacing("  ", with: " ")
        for column in ["post_id", "writer"] {
            let fact = "ON DELETE SET NULL, which fails since '\(column)' is NOT NULL."
            #expect(words.contains(fact), "\(made.text)")
        }
        #expect(words.contains("the foreign key says that the row stays, but it cannot be NULL"))
        try await expectDone(app, made.rules, "user-anna", left: ["comments": ["2|2"]])
    }

    @Test(
        "a tree goes from its leaves, and a root that is its own parent with it",
        arguments: [ShapeKind.sqlite, .postgresql]
    )
    func tree(kind: ShapeKind) async throws {
        let sql = SchemaShape.treeOfItself.sql
            .replacing("REFERENCES notes", with: "REFERENCES notes ON DELETE SET NULL")
        let app = try kind.open(sql)
        let rules = SchemaShape.treeOfItself.rules
        let found = await app.store([rules[0]]).inspect(withOutages: true)
        #expect(found.uncovered.map(\.name) == ["notes.up"])
        #expect(found.uncovered.allSatisfy { $0.reason.contains("since 'up' is NOT NULL") })
        try await expectDone(app, rules, "a", left: ["notes": ["3|3|b"]])
    }

    private static let goods = """
        CREATE TABLE shops(tenant TEXT, id INTEGER, u TEXT, PRIMARY KEY (tenant, id));
        CREATE TABLE goods(id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, shop INTEGER,
            FOREIGN KEY (tenant, shop) REFERENCES shops ON DELETE SET NULL);
        INSERT INTO shops VALUES ('x', 1, 'a'); INSERT INTO goods VALUES (1, 'x', 1);
        """

    @Test("a key of two columns", arguments: [ShapeKind.sqlite, .postgresql])
    func twoColumns(kind: ShapeKind) async throws {
        let app = try kind.open(Self.goods)
        let found = await app.store([SchemaShape.rule("shops", "u")]).inspect(withOutages: true)
        #expect(found.uncovered.map(\.name) == ["goods.shop"])
        #expect(found.uncovered.allSatisfy { $0.reason.contains("since 'tenant' is NOT NULL") })
    }

    @Test("PostgreSQL sets the columns that the key lists, and no others")
    func listedColumns() async throws {
        let sql = Self.goods.replacing("SET NULL)", with: "SET NULL (shop))")
        let app = try ShapeKind.postgresql.open(sql)
        let rules = [SchemaShape.rule("shops", "u")]
        try await expectDone(app, rules, "a", left: ["goods": ["1|x|"], "shops": []])
    }

    @Test("a domain of PostgreSQL can be NOT NULL, too", arguments: ["needed", "above"])
    func domain(_ name: String) async throws {
        let sql =
            "CREATE DOMAIN needed AS INTEGER NOT NULL; CREATE DOMAIN above AS needed;"
            + Self.posts.replacing("post_id INTEGER NOT NULL", with: "post_id \(name)")
        let store = try ShapeKind.postgresql.open(sql).store(Self.rules)
        let found = await store.inspect(withOutages: true)
        #expect(found.uncovered.map(\.reason) == [Self.sentence])
    }

    // MARK: Rows that are their own parents

    @Test("the suggestion asks about them where InnoDB keeps them", arguments: ShapeKind.allCases)
    func ownParents(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE notes(id INTEGER PRIMARY KEY, up INTEGER NOT NULL REFERENCES notes,
                user_id TEXT NOT NULL REFERENCES users);
            INSERT INTO users VALUES ('user-anna'); INSERT INTO notes VALUES (1, 1, 'user-anna');
            """
        )
        let made = try await SuggestedRules(app.store([]), userTable: "users.id")
        let words = made.text.replacing("\n#", with: "").replacing("  ", with: " ")
        let question = "DECIDE: a row of 'notes' that refers to itself by 'up' cannot be deleted"
        #expect(words.contains(question) == (kind == .mysql), "\(made.text)")
    }
}
