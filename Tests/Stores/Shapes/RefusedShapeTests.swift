import Engine
import Lifecycle
import Testing

@testable import Stores

/// Rules that would take other users' rows, or could never finish.
struct RefusedShape: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    let rules: [TableRule]
    /// What the problem says.
    let words: String
    /// What makes the rules acceptable, if anything does.
    var mended: [TableRule] = []

    var testDescription: String { name }
}

extension RefusedShape {
    private static let tenants = """
        CREATE TABLE users(tenant TEXT, id INTEGER, PRIMARY KEY (tenant, id));
        CREATE TABLE posts(n INTEGER PRIMARY KEY, tenant TEXT, u INTEGER,
            FOREIGN KEY (tenant, u) REFERENCES users);
        INSERT INTO users VALUES ('x', 1), ('y', 1); INSERT INTO posts VALUES (1, 'y', 1);
        """
    private static let tags = """
        CREATE TABLE tags(n INTEGER PRIMARY KEY, taggable_id INTEGER, taggable_type TEXT);
        INSERT INTO tags VALUES (1, 1, 'Post');
        """
    private static let contents = """
        CREATE TABLE logs(n INTEGER PRIMARY KEY, object_id TEXT, content_type_id INTEGER);
        INSERT INTO logs VALUES (1, '1', 7);
        """
    private static let carts = """
        CREATE TABLE carts(tenant TEXT, id INTEGER, u TEXT, PRIMARY KEY (tenant, id));
        CREATE TABLE goods(n INTEGER PRIMARY KEY, cart INTEGER);
        INSERT INTO carts VALUES ('x', 1, '1'), ('y', 1, 'b'); INSERT INTO goods VALUES (1, 1);
        """
    private static let two = """
        CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT, v TEXT, b INTEGER);
        CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER);
        INSERT INTO a VALUES (1, '1', '1', 1); INSERT INTO b VALUES (1, 1);
        """

    private static func rule(
        _ table: String,
        _ column: String,
        via: String? = nil,
        _ action: TableAction = .delete,
        type: IDType = .text,
        template: String? = nil
    ) -> TableRule {
        SchemaShape.rule(table, column, via: via, action, type: type, template: template)
    }

    private static func accepted(_ rule: TableRule) -> TableRule {
        var rule = rule
        rule.identifiesUser = true
        return rule
    }

    static let all = [
        RefusedShape(
            name: "half of a composite key",
            sql: tenants,
            rules: [rule("users", "id", type: .integer)],
            words: "is one of the columns (tenant, id) of a key",
            mended: [rule("users", "id", type: .integer, template: "{tenant}:{id}")]
        ),
        RefusedShape(
            name: "half of a foreign key",
            sql: tenants,
            rules: [rule("posts", "u", type: .integer)],
            words: "is one of the columns (tenant, u) that refer to 'users'",
            mended: [accepted(rule("posts", "u", type: .integer))]
        ),
        RefusedShape(
            name: "a polymorphic reference without its type",
            sql: tags,
            rules: [rule("tags", "taggable_id", type: .integer)],
            words: "refers to the table that 'taggable_type' names",
            mended: [
                SchemaShape.rule(
                    "tags",
                    "taggable_id",
                    where: [
                        ColumnCondition(column: "taggable_type", test: .equals(.text("User")))
                    ],
                    type: .integer
                )
            ]
        ),
        RefusedShape(
            name: "a reference of Django's content types",
            sql: contents,
            rules: [rule("logs", "object_id")],
            words: "refers to the table that 'content_type_id' names"
        ),
        RefusedShape(
            name: "via half of a composite key",
            sql: carts,
            rules: [rule("carts", "u"), rule("goods", "cart", via: "carts.id")],
            words: "'id' is one of the columns (tenant, id) of a key of 'carts'"
        ),
        RefusedShape(
            name: "via a table without a rule",
            sql: carts,
            rules: [rule("goods", "cart", via: "carts.id")],
            words: "table 'carts' has no rule that finds a user's rows"
        ),
        RefusedShape(
            name: "via a table or column that does not exist",
            sql: carts,
            rules: [
                rule("carts", "u"), rule("goods", "cart", via: "cart.id"),
                rule("goods", "n", via: "carts.number"),
            ],
            words: "there is no table 'cart'"
        ),
        RefusedShape(
            name: "via in a circle",
            sql: two,
            rules: [rule("a", "b", via: "b.id"), rule("b", "a", via: "a.id")],
            words: "leads in a circle"
        ),
        RefusedShape(
            name: "via a table with several rules that keep",
            sql: two,
            rules: [
                rule("a", "u", .keep), rule("a", "v", .keep), rule("b", "a", via: "a.id"),
            ],
            words: "table 'a' has 2 rules, none of which deletes"
        ),
        RefusedShape(
            name: "via rules that store ids in two ways",
            sql: two,
            rules: [
                rule("a", "u"), rule("a", "b", type: .integer), rule("b", "a", via: "a.id"),
            ],
            words: "leads to rules with different id_type or id_template"
        ),
        RefusedShape(
            name: "a condition on a column that does not exist",
            sql: two,
            rules: [
                SchemaShape.rule(
                    "a",
                    "u",
                    where: [ColumnCondition(column: "kind", test: .isNull(true))]
                )
            ],
            words: "table 'a' has no column 'kind'"
        ),
    ]
}

@Suite("Rules that cannot be right are refused", .serialized) struct RefusedShapeTests {
    @Test(
        "the check says why, nothing is purged, and what it advises is accepted",
        arguments: RefusedShape.all,
        ShapeKind.allCases
    )
    func refused(shape: RefusedShape, kind: ShapeKind) async throws {
        let app = try kind.open(shape.sql)
        let store = app.store(shape.rules)
        let problems = await store.diagnose()
        #expect(problems.contains { $0.contains(shape.words) }, "\(problems)")
        #expect(await store.purge([order("1")]) == [.failure(.misconfigured)])
        guard !shape.mended.isEmpty else { return }
        #expect(await app.store(shape.mended).diagnose() == [])
    }

    @Test(
        "an id that does not follow the template is never called erased",
        arguments: ShapeKind.allCases
    )
    func templates(kind: ShapeKind) async throws {
        let app = try kind.open(SchemaShape.composite.sql)
        let store = app.store(SchemaShape.composite.rules)
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "users", name: "id"))
        for user in ["1", "x/", "/1", "x/1/1", "x:1", "x/01", "x/1 "] {
            #expect(await store.purge([order(user)]) == [.failure(blocked)], "\(user)")
            #expect(await store.verify([order(user)]) == [.failure(blocked)], "\(user)")
        }
        #expect(try app.dump("users").count == 3)
    }

    @Test("children that no rule finds are reported, with the rule", arguments: ShapeKind.allCases)
    func missingRule(kind: ShapeKind) async throws {
        let app = try kind.open(SchemaShape.chain.sql)
        let store = app.store(SchemaShape.chain.rules.filter { $0.table != "items" })
        let found = await store.inspect(withOutages: true)
        let rule =
            "table = \"items\", column = \"o\", via = \"orders.id\", action = \"delete\""
        #expect(found.uncovered.map(\.name) == ["items.o"])
        #expect(found.uncovered.allSatisfy { $0.reason.contains(rule) }, "\(found)")
        #expect(!found.advice.map(\.text).contains { $0.contains("'items'") }, "\(found)")
        let whole = await app.store(SchemaShape.chain.rules).inspect(withOutages: true)
        #expect(whole.uncovered == [])
        guard case .findings(let found) = await store.coverage() else {
            Issue.record("no coverage")
            return
        }
        #expect(found.contains { $0.name == "items.o" && !$0.isCovered })
    }
}
