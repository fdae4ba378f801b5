import Lifecycle
import Testing

@testable import Stores

/// A shape of real schemas, with the rules that express it and what a purge of `a` must leave.
struct SchemaShape: Sendable, CustomTestStringConvertible {
    let name: String
    /// Creates and fills the tables.
    let sql: String
    let rules: [TableRule]
    /// All rows of every table afterwards.
    let left: [String: [String]]
    /// The lines of the plan before.
    let plan: [String]
    /// The user, whose rows are to go.
    var user = "a"
    /// A row of `a` that is held meanwhile, and how many rows of all tables stay because of it.
    var hold: (table: String, column: String, value: String, rows: Int)?

    var testDescription: String { name }

    var tables: [String] { left.keys.sorted() }

    static let made = CreationColumn(column: "made", unit: .unixSeconds)

    /// A rule of one column, with what completes it.
    static func rule(
        _ table: String,
        _ column: String,
        via: String? = nil,
        where conditions: [ColumnCondition] = [],
        _ action: TableAction = .delete,
        type: IDType = .text,
        dated: Bool = false,
        template: String? = nil
    ) -> TableRule {
        var rule = TableRule(
            table: table,
            column: column,
            idType: type,
            action: action,
            reason: action == .delete ? nil : "law",
            creation: dated ? made : nil
        )
        rule.via = via.flatMap { ParentColumn($0) }
        rule.conditions = conditions
        rule.idTemplate = template.flatMap { IDTemplate($0) }
        return rule
    }

    static func null(_ column: String) -> TableAction {
        .anonymize([ColumnMask(column: column, strategy: .null)])
    }
}

extension SchemaShape {
    static let all =
        [chain, bareChain, chainOfThree, cleared, treeDeleted, treeCleared, treeOfUsers]
        + [
            polymorphic, partial, composite, compositeChain, twoReferences, byValue, owned,
            cascades,
        ]

    /// users ← orders ← order_items without CASCADE, the default of SQL.
    static let chain = SchemaShape(
        name: "a chain of foreign keys that restrict",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, u TEXT NOT NULL REFERENCES users);
            CREATE TABLE items(id INTEGER PRIMARY KEY, o INTEGER NOT NULL REFERENCES orders);
            CREATE INDEX ou ON orders(u); CREATE INDEX io ON items(o);
            INSERT INTO users VALUES ('a'), ('b');
            INSERT INTO orders VALUES (1, 'a'), (2, 'b'), (3, 'a');
            INSERT INTO items VALUES (1, 1), (2, 1), (3, 2), (4, 3);
            """,
        rules: [rule("users", "id"), rule("orders", "u"), rule("items", "o", via: "orders.id")],
        left: ["users": ["b"], "orders": ["2|b"], "items": ["3|2"]],
        plan: ["items delete 3", "orders delete 2", "users delete 1"],
        hold: ("items", "id", "1", 3)
    )

    /// The same, where the application declares no keys at all.
    static let bareChain = SchemaShape(
        name: "a chain without foreign keys",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE items(id INTEGER PRIMARY KEY, o INTEGER);
            CREATE INDEX ou ON orders(u); CREATE INDEX io ON items(o);
            INSERT INTO users VALUES ('a'), ('b');
            INSERT INTO orders VALUES (1, 'a'), (2, 'b'), (3, 'a');
            INSERT INTO items VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, NULL), (6, 9);
            """,
        rules: [rule("items", "o", via: "orders.id"), rule("users", "id"), rule("orders", "u")],
        left: ["users": ["b"], "orders": ["2|b"], "items": ["3|2", "5|", "6|9"]],
        plan: ["items delete 3", "orders delete 2", "users delete 1"],
        hold: ("orders", "id", "1", 3)
    )

    static let chainOfThree = SchemaShape(
        name: "a chain of three steps, the last of them masked",
        sql: """
            CREATE TABLE users(id INTEGER PRIMARY KEY, login TEXT UNIQUE);
            CREATE TABLE shops(id INTEGER PRIMARY KEY, owner INTEGER REFERENCES users);
            CREATE TABLE sales(id INTEGER PRIMARY KEY, shop INTEGER REFERENCES shops);
            CREATE TABLE lines(id INTEGER PRIMARY KEY, sale INTEGER REFERENCES sales, name TEXT);
            INSERT INTO users VALUES (1, 'a'), (2, 'b');
            INSERT INTO shops VALUES (1, 1), (2, 2); INSERT INTO sales VALUES (1, 1), (2, 2);
            INSERT INTO lines VALUES (1, 1, 'x'), (2, 2, 'y');
            """,
        rules: [
            rule("users", "login"), rule("shops", "owner", via: "users.id"),
            rule("sales", "shop", via: "shops.id"),
            rule(
                "lines",
                "sale",
                via: "sales.id",
                .anonymize([
                    ColumnMask(column: "sale", strategy: .null),
                    ColumnMask(column: "name", strategy: .text("gone")),
                ])
            ),
        ],
        left: [
            "users": ["2|b"], "shops": ["2|2"], "sales": ["2|2"], "lines": ["1||gone", "2|2|y"],
        ],
        plan: ["lines anonymize 1", "sales delete 1", "shops delete 1", "users delete 1"],
        hold: ("lines", "id", "1", 3)
    )

    static let cleared = SchemaShape(
        name: "children whose key is set to NULL by the database",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE files(id INTEGER PRIMARY KEY, u TEXT REFERENCES users ON DELETE SET NULL);
            CREATE TABLE pages(id INTEGER PRIMARY KEY,
                f INTEGER REFERENCES files ON DELETE SET NULL);
            INSERT INTO users VALUES ('a'), ('b'); INSERT INTO files VALUES (1, 'a'), (2, 'b');
            INSERT INTO pages VALUES (1, 1), (2, 2);
            """,
        rules: [rule("users", "id"), rule("files", "u"), rule("pages", "f", via: "files.id")],
        left: ["users": ["b"], "files": ["2|b"], "pages": ["2|2"]],
        plan: ["files delete 1", "pages delete 1", "users delete 1"],
        hold: ("pages", "id", "1", 3)
    )

    private static let tree = """
        CREATE TABLE notes(id INTEGER PRIMARY KEY, up INTEGER REFERENCES notes, u TEXT);
        CREATE INDEX nu ON notes(u); CREATE INDEX np ON notes(up);
        INSERT INTO notes VALUES (1, NULL, 'b'), (2, 1, 'a'), (3, 2, 'b'), (4, 3, 'a'),
            (5, 3, 'c'), (6, 1, 'c'), (7, 2, 'a'), (8, NULL, 'a'), (9, 8, 'b');
        """

    static let treeDeleted = SchemaShape(
        name: "a tree with rows of others below, which go, too",
        sql: tree,
        rules: [rule("notes", "u"), rule("notes", "up", via: "notes.id")],
        left: ["notes": ["1||b", "6|1|c"]],
        plan: ["notes delete 4", "notes delete 5"],
        hold: ("notes", "id", "5", 7)
    )

    static let treeOfItself = SchemaShape(
        name: "a tree whose roots are their own parents",
        sql: """
            CREATE TABLE notes(id INTEGER PRIMARY KEY, up INTEGER NOT NULL REFERENCES notes,
                u TEXT);
            CREATE INDEX nu ON notes(u); CREATE INDEX np ON notes(up);
            INSERT INTO notes VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 3, 'b'), (4, 3, 'a'),
                (5, 5, 'a');
            """,
        rules: [rule("notes", "u"), rule("notes", "up", via: "notes.id")],
        left: ["notes": ["3|3|b"]],
        plan: ["notes delete 3", "notes delete 3"]
    )

    static let treeCleared = SchemaShape(
        name: "a tree with rows of others below, which stay as roots",
        sql: tree,
        rules: [rule("notes", "u"), rule("notes", "up", via: "notes.id", null("up"))],
        left: ["notes": ["1||b", "3||b", "5|3|c", "6|1|c", "9||b"]],
        plan: ["notes anonymize 3", "notes delete 4"]
    )

    static let treeOfUsers = SchemaShape(
        name: "the same, with a foreign key to the user's row, which is deleted",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE notes(id INTEGER PRIMARY KEY, up INTEGER REFERENCES notes,
                u TEXT NOT NULL REFERENCES users);
            CREATE INDEX nu ON notes(u); CREATE INDEX np ON notes(up);
            INSERT INTO users VALUES ('a'), ('b'), ('c');
            INSERT INTO notes VALUES (1, NULL, 'b'), (2, 1, 'a'), (3, 2, 'b'), (4, 3, 'a'),
                (5, 3, 'c'), (6, 1, 'c'), (7, 2, 'a'), (8, NULL, 'a'), (9, 8, 'b');
            """,
        rules: [
            rule("users", "id"), rule("notes", "u"),
            rule("notes", "up", via: "notes.id", null("up")),
        ],
        left: ["users": ["b", "c"], "notes": ["1||b", "3||b", "5|3|c", "6|1|c", "9||b"]],
        plan: ["notes anonymize 3", "notes delete 4", "users delete 1"]
    )

    static let polymorphic = SchemaShape(
        name: "polymorphic references",
        sql: """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, u INTEGER);
            CREATE TABLE tags(id INTEGER PRIMARY KEY, taggable_id INTEGER, taggable_type TEXT);
            INSERT INTO posts VALUES (7, 42), (42, 9);
            INSERT INTO tags VALUES (1, 42, 'User'), (2, 42, 'Post'), (3, 7, 'Post'),
                (4, 7, 'User'), (5, 42, NULL);
            """,
        rules: [
            rule("posts", "u", type: .integer),
            rule("tags", "taggable_id", where: [type("User")], type: .integer),
            rule("tags", "taggable_id", via: "posts.id", where: [type("Post")]),
        ],
        left: ["posts": ["42|9"], "tags": ["2|42|Post", "4|7|User", "5|42|"]],
        plan: ["posts delete 1", "tags delete 1", "tags delete 1"],
        user: "42"
    )

    private static func type(_ name: String) -> ColumnCondition {
        ColumnCondition(column: "taggable_type", test: .equals(.text(name)))
    }

    static let partial = SchemaShape(
        name: "partial rules: in, not, NULL and not NULL",
        sql: """
            CREATE TABLE m(id INTEGER PRIMARY KEY, u TEXT, kind TEXT, gone INTEGER, n INTEGER);
            INSERT INTO m VALUES (1, 'a', 'x', NULL, 1), (2, 'a', 'y', NULL, 1),
                (3, 'a', 'z', NULL, 1), (4, 'a', 'x', 5, 1), (5, 'a', 'x', NULL, 2),
                (6, 'a', 'x', NULL, NULL), (7, 'b', 'x', NULL, 1);
            """,
        rules: [
            rule(
                "m",
                "u",
                where: [
                    ColumnCondition(column: "kind", test: .isOneOf(["x", "y"])),
                    ColumnCondition(column: "gone", test: .isNull(true)),
                    ColumnCondition(column: "n", test: .differs(from: .integer(2))),
                ]
            ),
            rule(
                "m",
                "u",
                where: [ColumnCondition(column: "gone", test: .isNull(false))],
                .anonymize([ColumnMask(column: "kind", strategy: .text("w"))])
            ),
        ],
        left: ["m": ["3|a|z||1", "4|a|w|5|1", "5|a|x||2", "7|b|x||1"]],
        plan: ["m anonymize 1", "m delete 3"]
    )

    static let composite = SchemaShape(
        name: "composite keys of tenant and id",
        sql: """
            CREATE TABLE users(tenant TEXT, id INTEGER, PRIMARY KEY (tenant, id));
            CREATE TABLE posts(n INTEGER PRIMARY KEY, tenant TEXT, author INTEGER,
                FOREIGN KEY (tenant, author) REFERENCES users);
            INSERT INTO users VALUES ('x', 1), ('y', 1), ('x', 2);
            INSERT INTO posts VALUES (1, 'x', 1), (2, 'y', 1), (3, 'x', 2);
            """,
        rules: [
            rule("users", "id", type: .integer, template: "{tenant}/{id}"),
            rule("posts", "author", type: .integer, template: "{tenant}/{author}"),
        ],
        left: ["users": ["x|2", "y|1"], "posts": ["2|y|1", "3|x|2"]],
        plan: ["posts delete 1", "users delete 1"],
        user: "x/1",
        hold: ("posts", "n", "1", 2)
    )

    static let compositeChain = SchemaShape(
        name: "a chain by foreign keys of two columns",
        sql: """
            CREATE TABLE carts(tenant TEXT, id INTEGER, u TEXT, PRIMARY KEY (tenant, id));
            CREATE TABLE goods(n INTEGER PRIMARY KEY, tenant TEXT, cart INTEGER,
                FOREIGN KEY (tenant, cart) REFERENCES carts);
            INSERT INTO carts VALUES ('x', 1, 'a'), ('y', 1, 'b');
            INSERT INTO goods VALUES (1, 'x', 1), (2, 'y', 1), (3, NULL, 1);
            """,
        rules: [rule("carts", "u"), rule("goods", "cart", via: "carts.id")],
        left: ["carts": ["y|1|b"], "goods": ["2|y|1", "3||1"]],
        plan: ["carts delete 1", "goods delete 1"],
        hold: ("goods", "n", "1", 2)
    )

    static let twoReferences = SchemaShape(
        name: "two references to users in one row",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, made_by TEXT REFERENCES users,
                changed_by TEXT REFERENCES users);
            INSERT INTO users VALUES ('a'), ('b');
            INSERT INTO posts VALUES (1, 'a', 'a'), (2, 'a', 'b'), (3, 'b', 'a'), (4, 'b', 'b');
            """,
        rules: [
            rule("users", "id"), rule("posts", "made_by", null("made_by")),
            rule("posts", "changed_by", null("changed_by")),
        ],
        left: ["users": ["b"], "posts": ["1||", "2||b", "3|b|", "4|b|b"]],
        plan: ["posts anonymize 2", "posts anonymize 2", "users delete 1"]
    )

    static let byValue = SchemaShape(
        name: "rows found by another value of the user, which others may share",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT, phone TEXT UNIQUE);
            CREATE TABLE letters(n INTEGER PRIMARY KEY, email TEXT);
            CREATE TABLE calls(n INTEGER PRIMARY KEY, phone TEXT);
            INSERT INTO users VALUES ('a', 'a@x', '1'), ('b', 'b@x', '2'), ('c', NULL, NULL);
            INSERT INTO users VALUES ('d', 'a@x', '3'), ('e', 'e@x', NULL);
            INSERT INTO letters VALUES (1, 'a@x'), (2, 'b@x'), (3, NULL), (4, 'A@x');
            INSERT INTO calls VALUES (1, '1'), (2, '2'), (3, NULL);
            """,
        rules: [
            rule("users", "id"), rule("letters", "email", via: "users.email"),
            rule("calls", "phone", via: "users.phone"),
        ],
        left: [
            "users": ["b|b@x|2", "c||", "d|a@x|3", "e|e@x|"],
            "letters": ["1|a@x", "2|b@x", "3|", "4|A@x"], "calls": ["2|2", "3|"],
        ],
        plan: ["calls delete 1", "letters delete 0", "users delete 1"]
    )

    static let owned = SchemaShape(
        name: "rows that the user's rows refer to, which others may share",
        sql: """
            CREATE TABLE addresses(id INTEGER PRIMARY KEY, city TEXT);
            CREATE TABLE customers(id INTEGER PRIMARY KEY, u TEXT,
                address INTEGER NOT NULL REFERENCES addresses);
            CREATE TABLE shops(id INTEGER PRIMARY KEY, address INTEGER REFERENCES addresses);
            INSERT INTO addresses VALUES (1, 'A'), (2, 'B'), (3, 'C'), (4, 'D'), (5, 'E');
            INSERT INTO customers VALUES (1, 'a', 1), (2, 'b', 2), (3, 'a', 2), (4, 'a', 3),
                (5, 'a', 4), (6, 'a', 4);
            INSERT INTO shops VALUES (1, 3), (2, NULL);
            """,
        rules: [rule("customers", "u"), rule("addresses", "id", via: "customers.address")],
        left: [
            "customers": ["2|b|2"], "addresses": ["2|B", "3|C", "5|E"], "shops": ["1|3", "2|"],
        ],
        plan: ["addresses delete 2", "customers delete 5"],
        hold: ("addresses", "id", "4", 3)
    )

    static let cascades = SchemaShape(
        name: "cascades, counted without a rule",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, u TEXT REFERENCES users ON DELETE CASCADE);
            CREATE TABLE likes(id INTEGER PRIMARY KEY, u TEXT,
                post INTEGER REFERENCES posts ON DELETE CASCADE);
            CREATE TABLE marks(id INTEGER PRIMARY KEY,
                likes INTEGER REFERENCES likes ON DELETE CASCADE);
            INSERT INTO users VALUES ('a'), ('b');
            INSERT INTO posts VALUES (1, 'a'), (2, 'b'), (3, 'a');
            INSERT INTO likes VALUES (1, 'a', 1), (2, 'b', 1), (3, 'a', 2), (4, 'b', 2),
                (5, 'b', 3);
            INSERT INTO marks VALUES (1, 2), (2, 4), (3, 1);
            """,
        rules: [rule("users", "id"), rule("likes", "u")],
        left: ["users": ["b"], "posts": ["2|b"], "likes": ["4|b|2"], "marks": ["2|4"]],
        plan: [
            "likes delete 2", "likes delete 2", "marks delete 2", "posts delete 2",
            "users delete 1",
        ],
        hold: ("likes", "id", "2", 6)
    )
}
