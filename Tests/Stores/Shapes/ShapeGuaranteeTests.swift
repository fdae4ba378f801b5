import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Rules for real schemas keep what all rules promise", .serialized)
struct ShapeGuaranteeTests {
    private static let cutoff = WallTime(unixMilliseconds: 1_700_000_000_000)

    @Test(
        "a newer row keeps what hangs on it and what it refers to",
        arguments: ShapeKind.allCases
    )
    func newerChain(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, u TEXT REFERENCES users, made INTEGER);
            CREATE TABLE items(id INTEGER PRIMARY KEY, o INTEGER REFERENCES orders);
            CREATE TABLE notes(id INTEGER PRIMARY KEY, i INTEGER);
            INSERT INTO users VALUES ('a'), ('b');
            INSERT INTO orders VALUES (1, 'a', 1600000000), (2, 'a', 1750000000);
            INSERT INTO items VALUES (1, 1), (2, 2); INSERT INTO notes VALUES (1, 1), (2, 2);
            """
        )
        let store = app.store([
            SchemaShape.rule("users", "id"), SchemaShape.rule("orders", "u", dated: true),
            SchemaShape.rule("items", "o", via: "orders.id"),
            SchemaShape.rule("notes", "i", via: "items.id"),
        ])
        let user = order("a", cutoff: Self.cutoff)
        #expect(
            await store.purge([user]).map(\.text) == [
                "notes delete 1+1; items delete 1+1; orders delete 1+1;"
                    + " users delete, cutoff: none 0+1"
            ]
        )
        #expect(await store.verify([user]) == [.clean])
        let left = try app.dump(["users", "orders", "items", "notes"])
        #expect(
            left == [
                "users": ["a", "b"], "orders": ["2|a|1750000000"], "items": ["2|2"],
                "notes": ["2|2"],
            ]
        )
    }

    @Test("newer rows under a rule that keeps are counted as newer", arguments: ShapeKind.allCases)
    func newerKept(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE bills(id INTEGER PRIMARY KEY, u TEXT, made INTEGER);
            INSERT INTO bills VALUES (1, 'a', 1600000000), (2, 'a', 1750000000),
                (3, 'a', 1750000000), (4, 'b', 1750000000);
            """
        )
        let store = app.store([SchemaShape.rule("bills", "u", .keep, dated: true)])
        let user = order("a", cutoff: Self.cutoff)
        guard case .items(let items) = await store.plan(user) else {
            Issue.record("no plan")
            return
        }
        #expect(items.map(\.count) == [1] && items.map(\.newerCount) == [2])
        let answers = await store.purge([user])
        #expect(answers.map(\.text) == ["bills keep: law 1+2"])
        // They say nothing of what was to go.
        #expect(answers.first?.counts?.newerCount == 0)
        #expect(await store.verify([user]) == [.clean])
        #expect(try app.dump("bills").count == 4)
    }

    @Test("a newer row of a tree keeps all rows above it", arguments: ShapeKind.allCases)
    func newerTree(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE notes(id INTEGER PRIMARY KEY, up INTEGER REFERENCES notes, u TEXT,
                made INTEGER);
            INSERT INTO notes VALUES (1, NULL, 'a', 1600000000), (2, 1, 'b', 1600000000),
                (3, 2, 'c', 1750000000), (4, NULL, 'a', 1600000000), (5, 4, 'b', 1600000000),
                (6, 2, 'b', 1600000000);
            """
        )
        let store = app.store([
            SchemaShape.rule("notes", "u", dated: true),
            SchemaShape.rule("notes", "up", via: "notes.id", dated: true),
        ])
        let user = order("a", cutoff: Self.cutoff)
        let answers = await store.purge([user]).map(\.text)
        #expect(answers.allSatisfy { $0.contains("notes delete") }, "\(answers)")
        #expect(await store.verify([user]) == [.clean])
        let left = try app.dump("notes").map { $0.prefix(1) }
        #expect(left == ["1", "2", "3"])
    }

    /// More rows than four transactions take, however fast the machine is.
    private static func large(_ shape: SchemaShape) -> String {
        // MariaDB ends a recursion after 1,000 rows.
        let digits = (0...9).map { "SELECT \($0)" }.joined(separator: " UNION ALL ")
        let rows =
            "WITH d(x) AS (\(digits)), c(i) AS (SELECT 1 + a.x + 10 * b.x + 100 * e.x + 1000 * f.x"
            + " FROM d a, d b, d e, d f)"
        return shape.sql
            + (shape.tables == ["notes"]
                ? "INSERT INTO notes \(rows) SELECT 100 + i,"
                    + " CASE WHEN i <= 650 THEN 2 ELSE i - 550 END, 'c' FROM c"
                    + " WHERE i <= 2600 ORDER BY i;"
                : "INSERT INTO items \(rows) SELECT 100 + i, 1 + 2 * (i % 2) FROM c"
                    + " WHERE i <= 8000;")
    }

    @Test(
        "a large purge that is killed between transactions leaves no orphan, and goes on",
        arguments: [SchemaShape.chain, .bareChain, .treeDeleted],
        ShapeKind.allCases
    )
    func largeKills(shape: SchemaShape, kind: ShapeKind) async throws {
        for transactions in 1...4 {
            let app = try kind.open(Self.large(shape))
            _ = await app.store(shape.rules, transactionsMax: transactions).purge([order("a")])
            let before = try app.dump(shape.tables)
            #expect(before != shape.left, "it was not killed in the middle")
            if shape.tables.contains("items") {
                let orders = Set((before["orders"] ?? []).map { $0.prefix(1) })
                #expect(orders == ["1", "2", "3"])
            }
            let store = app.store(shape.rules)
            #expect(await store.verify([order("a")]) != [.clean])
            #expect(await store.finishes(order("a")))
            #expect(try app.dump(shape.tables) == shape.left)
        }
    }

    @Test(
        "rows that the application adds meanwhile keep their parents",
        // No trigger of MySQL passes over a row.
        arguments: [ShapeKind.sqlite, .postgresql]
    )
    func guarded(kind: ShapeKind) async throws {
        let app = try kind.open(SchemaShape.bareChain.sql)
        let rules = SchemaShape.bareChain.rules
        // A rule that runs last, as if the items had come behind the first one.
        let store = app.store(rules)
        try app.run(
            kind == .sqlite
                ? """
                CREATE TRIGGER t BEFORE DELETE ON items WHEN old.id = 2
                BEGIN SELECT RAISE(IGNORE); END
                """
                : """
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN IF old.id = 2 THEN RETURN NULL; END IF; RETURN old; END';
                CREATE TRIGGER t BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION keep()
                """
        )
        _ = await store.purge([order("a")])
        #expect(try app.dump("items") == ["2|1", "3|2", "5|", "6|9"])
        #expect(try app.dump("orders") == ["1|a", "2|b"])
        #expect(await store.verify([order("a")]) == [.remaining(2)])
    }

    @Test("users of chains and templates are listed for replays", arguments: ShapeKind.allCases)
    func listed(kind: ShapeKind) async throws {
        for shape in [SchemaShape.composite, .chain] {
            let app = try kind.open(shape.sql)
            guard case .found(let users) = await app.store(shape.rules).users(where: { _ in true })
            else {
                Issue.record("not listed")
                continue
            }
            let all = shape.name == SchemaShape.chain.name ? ["a", "b"] : ["x/1", "x/2", "y/1"]
            #expect(users.map { $0.exposeText() }.sorted() == all)
        }
    }

    @Test(
        "a date in the future stops a user whose id stands in several columns",
        arguments: ShapeKind.allCases
    )
    func future(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE p(tenant VARCHAR(20), id BIGINT, made BIGINT, PRIMARY KEY (tenant, id));
            INSERT INTO p VALUES ('a', 1, 1800000000), ('b', 1, 1700000000);
            """
        )
        let template = "{tenant}/{id}"
        let store = app.store([
            SchemaShape.rule("p", "id", type: .integer, dated: true, template: template)
        ])
        _ = await store.purge([order("a/1"), order("b/1")])
        #expect(try app.dump("p") == ["a|1|1800000000"])
        let future = Obstacle(.future, at: "p", name: "made")
        let answers = await store.verify([order("a/1"), order("b/1")])
        #expect(answers == [.failure(.blocked(future)), .clean])
    }
}
