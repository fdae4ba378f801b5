import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Rows of a MySQL store under a hold", .serialized) struct MySQLHoldTests {
    private static let schema = """
        CREATE TABLE users(id varchar(9) PRIMARY KEY, name text);
        CREATE TABLE orders(id int PRIMARY KEY, buyer varchar(9), seller varchar(9),
            status enum('paid', 'disputed'), total decimal(9,2), note text, day date,
            FOREIGN KEY (buyer) REFERENCES users(id) ON DELETE CASCADE,
            FOREIGN KEY (seller) REFERENCES users(id) ON DELETE SET NULL);
        CREATE TABLE items(id int AUTO_INCREMENT PRIMARY KEY, parent int, owner varchar(9),
            FOREIGN KEY (parent) REFERENCES orders(id), FOREIGN KEY (owner) REFERENCES users(id));
        INSERT INTO users(id) VALUES ('a'), ('b'), ('c');
        INSERT INTO orders VALUES (1, 'a', 'c', 'paid', 5, 'x', '2025-01-01'),
            (2, 'a', 'c', 'disputed', 5, 'y', '2025-01-02'),
            (3, 'a', 'c', NULL, 7.0, 'z', NULL), (4, 'b', 'a', 'disputed', 5, 'z', NULL);
        INSERT INTO items(parent, owner) SELECT id, buyer FROM orders;
        """
    private let users = TableRule(table: "users", column: "id", action: .delete)
    private let orders = TableRule(table: "orders", column: "buyer", action: .delete)
    private let items = TableRule(table: "items", column: "owner", action: .delete)

    private func erase(_ user: String, _ holds: [StoreHold] = []) -> PurgeOrder {
        order(user, holds: holds)
    }

    @Test("held rows and those that they refer to stay, the rest goes, and all goes afterwards")
    func holding() async throws {
        let app = try MySQLFixture(Self.schema)
        let store = app.store(users, orders, items)
        let hold = RowHoldTests.hold("orders", [("status", ["disputed"])])
        let answer = await store.purge([erase("a", [hold])])[0]
        #expect(
            answer.text
                == "items delete, cutoff: none 3; orders delete, cutoff: none 2;"
                + " users delete, cutoff: none 0; orders held 1; users held 1"
        )
        guard case .held(_, under: ["case"]) = answer else {
            Issue.record("not held")
            return
        }
        #expect(try app.sql("SELECT id FROM orders ORDER BY id") == ["2", "4"])
        // User c sold a disputed order of a: that would lose its seller.
        #expect(await store.purge([erase("c", [hold])])[0].text.hasSuffix("users held 1"))
        #expect(try app.sql("SELECT count(seller) FROM orders WHERE id = 2") == ["1"])
        #expect(await store.verify([erase("a")]) == [.remaining(2)])
        guard case .done = await store.purge([erase("a", [])])[0] else {
            Issue.record("still held")
            return
        }
    }

    @Test(
        "values are compared as the column's type does",
        arguments: [
            ("total", ["5.00"], 2), ("total", ["7"], 1), ("note", ["Y"], 1), ("id", ["3", "1"], 2),
            ("status", ["paid"], 1), ("seller", ["it's"], 0), ("day", ["2025-01-02"], 1),
            ("note", ["日本\\' OR 1 = 1"], 0),
        ]
    )
    func values(column: String, values: [String], held: Int) async throws {
        let app = try MySQLFixture(Self.schema)
        let store = app.store(orders, items)
        let hold = RowHoldTests.hold("orders", [(column, values)])
        #expect(await store.check(hold.rows ?? .init(table: "", conditions: [])) == .accepted)
        _ = await store.purge([erase("a", [hold])])
        #expect(try app.sql("SELECT count(*) FROM orders WHERE buyer = 'a'") == ["\(held)"])
    }

    @Test("a filter that cannot be kept is refused, whatever is wrong with it")
    func refused() async throws {
        let app = try MySQLFixture(Self.schema)
        let store = app.store(orders)
        for (table, column, value) in [
            ("orders", "status", "unknown"), ("orders", "state", "x"), ("posts", "a", "b"),
            ("orders", "id", "x"), ("orders", "id", ""), ("orders", "id", "1e0"),
            ("orders", "day", "monday"),
        ] {
            let hold = RowHoldTests.hold(table, [(column, [value])])
            guard let rows = hold.rows, case .refused = await store.check(rows) else {
                Issue.record("accepted \(table).\(column) \(value)")
                continue
            }
        }
    }
}
