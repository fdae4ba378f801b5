import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of rules for real schemas") struct RealSchemaSettingsTests {
    private static func store(_ keys: String, table: String = "items") -> String {
        """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app/app.db"
        [[store.table]]
        table = "orders"
        column = "user_id"
        action = "delete"
        created_at_column = "created"
        created_at_unit = "unix_s"
        [[store.table]]
        table = "\(table)"
        column = "order_id"
        action = "delete"
        \(keys)
        """
    }

    private static func rule(_ keys: String) throws -> TableRule {
        let configuration = try Sample.load(store(keys))
        let settings = try #require(configuration.stores.first?.settings as? SQLiteKind)
        return try #require(settings.claims.rules.last)
    }

    @Test("via names a table and a column, and takes over what is dated there")
    func via() throws {
        let rule = try Self.rule("via = \"orders.id\"")
        #expect(rule.via == ParentColumn(table: "orders", column: "id"))
        #expect(rule.hasTimestamps)
        #expect(try Self.rule("via = \"shop.orders.id\"").via?.table == "shop.orders")
        #expect(try !Self.rule("").hasTimestamps)
    }

    @Test(
        "conditions compare, list, exclude and ask for NULL",
        arguments: [
            ("{ equals = \"User\" }", ColumnCondition.Test.equals(.text("User"))),
            ("{ equals = 7 }", .equals(.integer(7))),
            ("{ in = [\"a\", \"b\"] }", .isOneOf(["a", "b"])),
            ("{ not = \"x\" }", .differs(from: .text("x"))), ("{ null = true }", .isNull(true)),
            ("{ null = false }", .isNull(false)),
        ]
    )
    func conditions(text: String, test: ColumnCondition.Test) throws {
        let rule = try Self.rule("where = { kind = \(text) }")
        #expect(rule.conditions == [ColumnCondition(column: "kind", test: test)])
    }

    @Test("a template names columns and their types")
    func template() throws {
        let rule = try Self.rule("id_template = \"t{tenant:integer}/{order_id}\"")
        #expect(rule.idTemplate?.parts.map(\.column) == ["tenant", "order_id"])
        #expect(rule.idTemplate?.parts.map(\.idType) == [.integer, nil])
    }

    @Test(
        "what cannot be meant is refused",
        arguments: [
            ("via = \"orders\"", "it must be TABLE.COLUMN"),
            ("via = \"orders.id\"\nid_type = \"integer\"", "with via, the column holds"),
            ("via = \"orders.id\"\nidentifies_user = true", "with via, the column holds"),
            ("id_template = \"{order_id}\"", "it must be 2 to 4 different columns"),
            ("id_template = \"{a}{order_id}\"", "it must be 2 to 4 different columns"),
            ("id_template = \"{a}:{b}\"", "it must name the column 'order_id', too"),
            ("where = { kind = { } }", "it needs one of equals, in, not and null"),
            ("where = { kind = { equals = 1, null = true } }", "it has more than one of"),
            ("where = { kind = \"x\" }", "write kind = { equals = \"User\" } or the like"),
            ("where = {}", "it must name at least one column: where = { COLUMN ="),
        ]
    )
    func refused(keys: String, words: String) {
        let message = Sample.message(Self.store(keys))
        #expect(message.contains(words), "\(message)")
    }

    @Test(
        "rules of a store must fit one id: with a template for one, an integer finds nothing",
        arguments: [
            ("id_type = \"integer\"", "{tenant}:{order_id}", false),
            ("id_type = \"blob\"", "{tenant}:{order_id}", false),
            ("id_type = \"integer\"", "t{tenant}-{order_id}", false),
            ("id_type = \"integer\"", "{tenant}-{order_id}", true),
            ("id_type = \"text\"", "{tenant}:{order_id}", true),
            ("id_template = \"{shop}:{user_id}\"", "{tenant}:{order_id}", true),
        ]
    )
    func unfit(other: String, template: String, isFit: Bool) {
        let text = Self.store("id_template = \"\(template)\"")
            .replacing("created_at_column", with: other + "\ncreated_at_column")
        let message = Sample.message(text)
        #expect((message == "loads") == isFit, "\(message)")
        #expect(isFit || message.contains("no id fits this rule and the id_template of line 12"))
    }

    @Test("two rules for one column need different conditions or parents")
    func duplicates() throws {
        let conditions = ["a", "b"].map { "where = { kind = { equals = \"\($0)\" } }" }
        let second =
            "\n[[store.table]]\ntable = \"items\"\ncolumn = \"order_id\"\naction = \"delete\"\n"
        let one = Self.store(conditions[0] + second + conditions[0])
        #expect(Sample.message(one).contains("deals with the same column"))
        #expect(Sample.message(Self.store(conditions[0] + second + conditions[1])) == "loads")
        #expect(Sample.message(Self.store("via = \"orders.id\"" + second)) == "loads")
    }

    @Test("a condition belongs to the plan of a deletion")
    func planRules() throws {
        let rules = { (value: String) in
            try Sample.load(Self.store("where = { kind = { equals = \"\(value)\" } }"))
                .planRules(of: StoreName("app-db"))
        }
        #expect(try rules("a") != rules("b"))
        #expect(try rules("a").contains { $0.key == "table items (order_id) where kind" })
    }
}
