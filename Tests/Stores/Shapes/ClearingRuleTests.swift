import Engine
import Lifecycle
import Testing

@testable import Stores

/// In SQLite, which checks the keys of a circle when a transaction ends.
@Suite("A rule that clears a reference takes nothing from other rules") struct ClearingRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let rules: [TableRule]
        let left: [String: [String]]
    }

    private static func clearing(_ columns: String...) -> TableAction {
        .anonymize(columns.map { ColumnMask(column: $0, strategy: .null) })
    }

    private static func kind(_ value: String) -> ColumnCondition {
        ColumnCondition(column: "kind", test: .equals(.text(value)))
    }

    private static let cases = [
        Case(
            testDescription: "the reference leads to rows that another rule deletes",
            sql: """
                CREATE TABLE posts(id INTEGER PRIMARY KEY, u TEXT,
                    pinned INTEGER REFERENCES comments);
                CREATE TABLE comments(id INTEGER PRIMARY KEY, post INTEGER REFERENCES posts,
                    kind TEXT);
                INSERT INTO posts VALUES (1, 'a', NULL), (2, 'b', NULL);
                INSERT INTO comments VALUES (1, 1, 'draft'), (2, 1, 'note'), (3, 2, 'draft');
                UPDATE posts SET pinned = 2 WHERE id = 1;
                """,
            rules: [
                SchemaShape.rule("comments", "post", via: "posts.id", where: [kind("draft")]),
                SchemaShape.rule("comments", "post", via: "posts.id", clearing("post")),
                SchemaShape.rule("posts", "u"),
            ],
            left: ["posts": ["2|b|"], "comments": ["2||note", "3|2|draft"]]
        ),
        Case(
            testDescription: "it is about some of the rows",
            sql: """
                CREATE TABLE accounts(id INTEGER PRIMARY KEY, u TEXT, kind TEXT,
                    avatar INTEGER REFERENCES photos);
                CREATE TABLE photos(id INTEGER PRIMARY KEY, account INTEGER REFERENCES accounts);
                INSERT INTO accounts VALUES (1, 'a', 'personal', NULL), (2, 'b', 'personal', NULL);
                INSERT INTO photos VALUES (1, 1), (2, 2);
                UPDATE accounts SET avatar = id;
                """,
            rules: [
                SchemaShape.rule("photos", "account", via: "accounts.id"),
                SchemaShape.rule("accounts", "u", where: [kind("personal")]),
                SchemaShape.rule("accounts", "u", where: [kind("business")], clearing("avatar")),
            ],
            left: ["accounts": ["2|b|personal|2"], "photos": ["2|2"]]
        ),
        Case(
            testDescription: "others find their rows through its table",
            sql: """
                CREATE TABLE comments(id INTEGER PRIMARY KEY, u TEXT,
                    cover INTEGER REFERENCES files);
                CREATE TABLE files(id INTEGER PRIMARY KEY, comment INTEGER REFERENCES comments);
                INSERT INTO comments VALUES (1, 'a', NULL), (2, 'b', NULL);
                INSERT INTO files VALUES (1, 1), (2, 2);
                UPDATE comments SET cover = id;
                """,
            rules: [
                SchemaShape.rule("files", "comment", via: "comments.id"),
                SchemaShape.rule("comments", "u", clearing("u", "cover")),
            ],
            left: ["comments": ["1||", "2|b|2"], "files": ["2|2"]]
        ),
    ]

    @Test(arguments: cases) func `the deletion ends, and leaves what it should`(
        example: Case
    ) async throws {
        let app = try AppDatabase(example.sql)
        let store = app.store(example.rules)
        let answer = await store.purge([order("a")])
        guard case .done? = answer.first else {
            Issue.record("not done: \(answer)")
            return
        }
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump(example.left.keys.sorted()) == example.left)
    }
}
