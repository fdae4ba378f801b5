import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("Rows of a SQLite store under a hold") struct RowHoldTests {
    private static let schema = """
        CREATE TABLE users(id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, buyer TEXT REFERENCES users ON DELETE CASCADE,
          seller TEXT REFERENCES users ON DELETE CASCADE, status TEXT COLLATE NOCASE, total);
        CREATE TABLE items(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES orders
          ON DELETE CASCADE, owner TEXT REFERENCES users);
        INSERT INTO users VALUES ('a', 'A'), ('b', 'B'), ('c', 'C');
        INSERT INTO orders VALUES (1, 'a', 'c', 'paid', 5), (2, 'a', 'c', 'Disputed', 5),
          (3, 'a', 'c', NULL, 7), (4, 'b', 'a', 'paid', 5), (5, 'b', 'c', 'disputed', 5);
        INSERT INTO items SELECT 10 + id, id, buyer FROM orders;
        """
    private static let users = TableRule(table: "users", column: "id", action: .delete)
    private static let orders = TableRule(table: "orders", column: "buyer", action: .delete)
    private static let items = TableRule(table: "items", column: "owner", action: .delete)

    static func hold(
        _ table: String,
        _ conditions: [(String, [String])],
        name: String = "case"
    ) -> StoreHold {
        StoreHold(
            name: name,
            store: StoreName("app-db"),
            rows: RowFilter(
                table: table,
                conditions: conditions.map { RowFilter.Condition(column: $0.0, values: $0.1) }
            ),
            since: present,
            uid: 1
        )
    }

    private static let disputed = hold("orders", [("status", ["disputed"])])

    @Test("held rows and those that they refer to stay, the rest goes, and all goes afterwards")
    func holding() async throws {
        let app = try AppDatabase(Self.schema)
        let store = app.store(Self.users, Self.orders, Self.items)
        #expect(
            await store.check(Self.disputed.rows ?? .init(table: "", conditions: [])) == .accepted
        )
        let answer = await store.purge([order("a", holds: [Self.disputed])])[0]
        #expect(
            answer.text
                == "items delete, cutoff: none 3; orders delete, cutoff: none 2;"
                + " users delete, cutoff: none 0; orders held 1; users held 1"
        )
        guard case .held(_, under: ["case"]) = answer else {
            Issue.record("not held")
            return
        }
        #expect(
            try app.texts("SELECT id, status FROM orders WHERE buyer = 'a'") == ["2|\"Disputed\""]
        )
        #expect(try app.integer("SELECT count(*) FROM users WHERE id = 'a'") == 1)
        // Seen again it is the same, and the other user is untouched.
        #expect(
            await store.purge([order("a", holds: [Self.disputed])])[0].text.hasSuffix(
                "users delete, cutoff: none 0; orders held 1; users held 1"
            )
        )
        #expect(await store.verify([order("a")]) == [.remaining(2)])
        let after = await store.purge([order("a")])[0]
        guard case .done = after else {
            Issue.record("still held")
            return
        }
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.integer("SELECT count(*) FROM orders WHERE buyer = 'b'") == 1)
    }

    @Test("a parent stays for a held row of another user, which a cascade would take with it")
    func others() async throws {
        let app = try AppDatabase(Self.schema)
        let store = app.store(Self.users, Self.orders, Self.items)
        // User c is the seller of b's disputed order, and of a's.
        let answer = await store.purge([order("c", holds: [Self.disputed])])[0]
        #expect(answer.text.hasSuffix("users held 1"))
        #expect(try app.integer("SELECT count(*) FROM orders") == 5)
        #expect(await store.purge([order("c")])[0].text.hasPrefix("items"))
        #expect(try app.integer("SELECT count(*) FROM orders") == 1)
    }

    @Test(
        "values are compared as the column does and by text; of several columns all must fit",
        arguments: [
            ([("total", ["5"])], 2), ([("total", ["5.0"])], 2), ([("status", ["PAID"])], 1),
            ([("status", ["paid", "disputed"])], 2), ([("status", ["paid"]), ("total", ["7"])], 0),
            ([("status", ["it's"])], 0), ([("ID", ["3"])], 1),
        ]
    )
    func values(conditions: [(String, [String])], held: Int) async throws {
        let app = try AppDatabase(Self.schema.replacing("total)", with: "total NUMERIC)"))
        let store = app.store(Self.orders, Self.items)
        let answer = await store.purge([
            order("a", holds: [Self.hold("orders", conditions)])
        ])[0]
        #expect(try app.integer("SELECT count(*) FROM orders WHERE buyer = 'a'") == held)
        let isHeld = if case .held = answer { true } else { false }
        #expect(isHeld == (held > 0))
    }

    @Test("in a table that refers to itself all stays while any row of it is held")
    func selfReference() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE notes(id INTEGER PRIMARY KEY, owner TEXT, mark TEXT,
              parent INTEGER REFERENCES notes ON DELETE CASCADE);
            INSERT INTO notes VALUES (1, 'a', '', NULL), (2, 'a', '', 1), (3, 'a', 'x', 2),
              (4, 'b', '', NULL);
            """
        )
        let store = app.store(TableRule(table: "notes", column: "owner", action: .delete))
        let answer = await store.purge([order("a", holds: [Self.hold("notes", [("mark", ["x"])])])]
        )
        #expect(answer[0].text == "notes delete, cutoff: none 0; notes held 3")
        #expect(try app.integer("SELECT count(*) FROM notes") == 4)
    }

    @Test("a masked table leaves held rows unmasked, and masks them afterwards")
    func masking() async throws {
        let app = try AppDatabase(Self.schema)
        let mask = ColumnMask(column: "seller", strategy: .null)
        let store = app.store(
            TableRule(table: "orders", column: "buyer", action: .anonymize([mask]), reason: "tax")
        )
        let held = await store.purge([order("a", holds: [Self.disputed])])[0]
        #expect(held.text == "orders anonymize: tax, cutoff: none 2; orders held 1")
        #expect(
            try app.integer("SELECT count(*) FROM orders WHERE seller = 'c' AND buyer = 'a'") == 1
        )
        #expect(await store.purge([order("a")])[0].text == "orders anonymize: tax, cutoff: none 1")
    }

    @Test("a user with many rows in many transactions keeps every held one")
    func chunks() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, s TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO p SELECT 'a', iif(i % 10 = 0, 'keep', 'go') FROM n;
            """
        )
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete),
            clock: .hasty()
        )
        let answer = await store.purge([order("a", holds: [Self.hold("p", [("s", ["keep"])])])])[0]
        #expect(answer.text == "p delete, cutoff: none 4500; p held 500")
        #expect(try app.integer("SELECT count(*) FROM p") == 500)
    }

    @Test(
        "a filter that cannot be kept is refused",
        arguments: [
            ("posts", "status", "table 'posts', which has held rows, has no rule"),
            ("orders", "state", "table 'orders' has no column 'state'"),
        ]
    )
    func refused(table: String, column: String, why: String) async throws {
        let app = try AppDatabase(Self.schema)
        let hold = Self.hold(table, [(column, ["x"])])
        let store = app.store(Self.orders)
        #expect(
            await store.check(hold.rows ?? .init(table: "", conditions: [])) == .refused(why)
        )
        // And nothing is purged beside it.
        #expect(await store.purge([order("a", holds: [hold])])[0].text == "misconfigured")
        #expect(try app.integer("SELECT count(*) FROM orders WHERE buyer = 'a'") == 3)
    }
}
