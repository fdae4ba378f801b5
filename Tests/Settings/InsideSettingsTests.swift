import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of rules about ids inside values") struct InsideSettingsTests {
    private static func store(_ keys: String) -> String {
        """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app/app.db"
        [[store.table]]
        table = "users"
        column = "id"
        action = "delete"
        [[store.table]]
        table = "docs"
        column = "meta"
        action = "anonymize"
        keep_reason = "of the team"
        \(keys)
        """
    }

    private static func rule(_ keys: String) throws -> TableRule {
        let configuration = try Sample.load(store(keys))
        let settings = try #require(configuration.stores.first?.settings as? SQLiteKind)
        return try #require(settings.claims.rules.last)
    }

    private static let remove = "\nset = { meta = { strategy = \"remove\" } }"

    @Test(
        "each way has its key",
        arguments: [
            (
                "inside = \"json\"\npath = \"$.a[*].\\\"b c\\\"\"",
                JSONPath("$.a[*].\"b c\"").map { InsideValue.json($0) }
            ),
            ("inside = \"list\"\nseparator = \", \"", .list(separator: ", ")),
            ("inside = \"array\"", .array),
            ("inside = \"text\"\npattern = \"<{user}>\"", .text(before: "<", after: ">")),
        ]
    )
    func ways(keys: String, inside: InsideValue?) throws {
        let rule = try Self.rule(keys + Self.remove)
        #expect(rule.inside == inside)
        #expect(rule.via == nil)
        #expect(rule.action == .anonymize([ColumnMask(column: "meta", strategy: .remove)]))
    }

    @Test("a pattern names a column of the user's row")
    func pattern() throws {
        let rule = try Self.rule("inside = \"text\"\npattern = \"@{users.name}\"" + Self.remove)
        #expect(rule.via == ParentColumn(table: "users", column: "name"))
        #expect(rule.inside == .text(before: "@", after: ""))
    }

    @Test("a part of JSON in any row is changed at a path")
    func part() throws {
        let rule = try Self.rule(
            "set = { more = { strategy = \"constant\", value = 0, path = \"$.ip\" } }"
        )
        let mask = ColumnMask(column: "more", strategy: .integer(0), path: JSONPath("$.ip"))
        #expect(rule.action == .anonymize([mask]))
    }

    private static let json = "inside = \"json\"\npath = \"$.a[*].id\"\n"
    private static let list = "inside = \"list\"\nseparator = \",\"\n"

    @Test(
        "what cannot be meant is refused",
        arguments: [
            ("inside = \"json\"" + remove, "inside = \"json\" needs it"),
            ("inside = \"list\"" + remove, "inside = \"list\" needs it"),
            ("inside = \"text\"" + remove, "inside = \"text\" needs it"),
            ("path = \"$.a\"" + remove, "only inside = \"json\" has it"),
            ("inside = \"json\"\npath = \"a.b\"" + remove, "it must be a path such as $.editors"),
            ("inside = \"json\"\npath = \"$\"" + remove, "it must be a path such as $.editors"),
            ("inside = \"json\"\npath = \"$[0]\"" + remove, "it must be a path such as"),
            ("inside = \"json\"\npath = \"$.a[*][*][*][*]\"" + remove, "at most 3 [*]"),
            ("inside = \"list\"\nseparator = \"x\"" + remove, "1 to 4 characters, of which one is"),
            ("inside = \"list\"\nseparator = \" \"" + remove, "1 to 4 characters, of which one is"),
            ("inside = \"text\"\npattern = \"@\"" + remove, "{user} or {TABLE.COLUMN}, once"),
            ("inside = \"text\"\npattern = \"{user}{user}\"" + remove, "{TABLE.COLUMN}, once"),
            (
                "via = \"users.id\"\ninside = \"text\"\npattern = \"@{user}\"" + remove,
                "pattern names the value"
            ),
            (json + "id_type = \"blob\"" + remove, "finds ids by \"integer\" or \"text\""),
            (json + "id_type = \"uuid\"" + remove, "finds ids by \"integer\" or \"text\""),
            (json + "id_template = \"{meta}:{x}\"" + remove, "an id inside a value is found as"),
            (json + "set = { meta = { strategy = \"hash\" } }", "a part of a value can be changed"),
            (list + "set = { meta = { strategy = \"null\" } }", "a part of a value can be changed"),
            (
                json + "set = { meta = { strategy = \"remove\", path = \"$.a[*].name\" } }",
                "it must be the path of the rule, or lead to it"
            ),
            (
                list + "set = { meta = { strategy = \"remove\", path = \"$.a\" } }",
                "only JSON has paths"
            ),
            (
                list + "set = { meta = { strategy = \"constant\", value = \"a,b\" } }",
                "it would be several elements"
            ),
            ("set = { x = { strategy = \"remove\" } }", "it takes out a part"),
            (
                "set = { x = { strategy = \"random\", path = \"$.a\" } }",
                "a part of a value can be changed by \"constant\", \"remove\", \"null\""
            ),
        ]
    )
    func refused(keys: String, words: String) {
        let message = Sample.message(Self.store(keys))
        #expect(message.contains(words), "\(message)")
    }

    @Test("the rules of the guide load")
    func guide() throws {
        let page = try ProjectFiles.text("docs/guides/ids-inside-values.md")
        let start = try #require(page.firstRange(of: "```toml\n")).upperBound
        let end = try #require(page[start...].firstRange(of: "```")).lowerBound
        let store = "[[store]]\nname = \"app-db\"\nkind = \"sqlite\"\npath = \"/srv/app.db\"\n"
        let settings = try Sample.load(store + page[start..<end]).stores.first?.settings
        let rules = try #require(settings as? SQLiteKind).claims.rules
        #expect(rules.map(\.table) == ["documents", "comments"])
        #expect(rules.allSatisfy { $0.inside != nil })
    }

    @Test("two rules for one column need different places in it")
    func duplicates() {
        let second =
            "\n[[store.table]]\ntable = \"docs\"\ncolumn = \"meta\"\naction = \"keep\"\n"
            + "keep_reason = \"x\"\ninside = \"json\"\n"
        let one = Self.store(Self.json + Self.remove + second)
        #expect(Sample.message(one + "path = \"$.a[*].id\"").contains("same column"))
        #expect(Sample.message(one + "path = \"$.b\"") == "loads")
    }
}
