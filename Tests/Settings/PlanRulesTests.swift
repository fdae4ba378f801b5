import Lifecycle
import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("What of the configuration belongs to a plan")
struct PlanRulesTests {
    private static let table = """
        [[store.table]]
        table = "users"
        column = "id"
        action = "anonymize"
        keep_reason = "tax"
        set = { name = { strategy = "null" }, zip = { strategy = "truncate", length = 2 } }
        """
    private static let likes = """
        [[store.table]]
        table = "likes"
        column = "user_id"
        action = "delete"
        """

    private static func rules(_ tables: String, more: String = "") throws -> [PurgePlan.Rule] {
        let text = """
            [[store]]
            name = "cache"
            kind = "redis"
            socket = "/run/redis.sock"
            keys = ["session:{user_id}"]

            [[store]]
            name = "app-db"
            kind = "sqlite"
            path = "/srv/app/app.db"
            \(more)
            \(tables)

            [[store]]
            name = "uploads"
            kind = "files"
            root = "/srv/uploads"
            paths = ["{user_id}"]
            """
        return try Sample.load(text).planRules(of: StoreName("app-db"))
    }

    @Test("each section is a rule with what decides what is purged, and how")
    func sections() throws {
        let rules = try Self.rules(Self.table + "\n" + Self.likes)
        #expect(
            rules.map(\.key) == [
                "store", "table likes (user_id)", "table users (id)",
                "table users (id) set name", "table users (id) set zip",
            ]
        )
        #expect(rules[0].value.contains("path = \"/srv/app/app.db\""))
        #expect(rules[2].value.contains("action = \"anonymize\", keep_reason = \"tax\""))
        #expect(rules[4].value == "strategy = \"truncate\", length = 2")
    }

    @Test("a mask, a column, a place that differs is another rule")
    func differences() throws {
        let usual = try Self.rules(Self.table)
        let others = try [
            Self.rules(Self.table.replacing("null", with: "hash")),
            Self.rules(Self.table.replacing("length = 2", with: "length = 3")),
            Self.rules(Self.table.replacing("name =", with: "nick =")),
            Self.rules(Self.table.replacing("\"id\"", with: "\"uid\"")),
            Self.rules(Self.table, more: "triggers = \"off\""),
        ]
        for other in others { #expect(other != usual) }
    }

    @Test("the order of the file, and how the work is done, are no part of it")
    func sameRules() throws {
        let usual = try Self.rules(Self.table + "\n" + Self.likes)
        #expect(try Self.rules(Self.likes + "\n" + Self.table) == usual)
        let others =
            "backups_kept = \"30d\"\nresidual_copies_kept = \"1d\"\nvacuum = \"incremental\""
        #expect(try Self.rules(Self.table + "\n" + Self.likes, more: others) == usual)
    }

    @Test("what is left out is there to be left out")
    func leftOut() {
        let outside = Set(Kinds.table.all.filter(\.isOutsidePlans).map(\.name))
        #expect(outside.isSuperset(of: ["name", "vacuum", "timeout", "key_credential"]))
        #expect(outside.isDisjoint(with: ["path", "conninfo_credential", "table", "bucket"]))
    }
}
