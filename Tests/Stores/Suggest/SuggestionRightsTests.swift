import Lifecycle
import Testing

@testable import Stores

extension SuggestionTests {
    @Test("a missing UPDATE is a problem to name, not NOT NULL")
    func missingUpdate() {
        let column = { (name: String, isKey: Bool) in
            ColumnShape(
                name: name,
                type: "text",
                typeText: "is of type 'text'",
                idTypes: [.text],
                units: [],
                holdsText: true,
                isPrimaryKey: isKey,
                canUpdate: false,
                written: name
            )
        }
        var users = TableShape(name: "users", reference: "users")
        users.columns = [column("id", true)]
        var posts = TableShape(name: "posts", reference: "posts")
        posts.grantee = "posts TO app"
        posts.columns = [
            column("n", true), column("updated_by", false), column("whodunnit", false),
        ]
        let schema = SQLSchema([users, posts], ignoresCase: true)
        let user = SuggestionUser(table: "users", column: "id", reason: "a test says so")
        let text = RuleSuggestion.text(schema, user, SchemaSample(), SQLiteDialect.self)
        let words = text.replacing("\n#", with: "")
        let missing = "the role lacks privileges on 'posts'; run: GRANT UPDATE (updated_by) ON"
        #expect(words.contains("\(missing) posts TO app;"))
        #expect(text.contains("set = { updated_by = { strategy = \"null\" } }"))
        #expect(text.contains("set = { whodunnit = { strategy = \"null\" } }"))
    }

    @Test("a column with ids inside its values lends its name to no other")
    func lentNames() {
        let tables = ["letters", "others"].map { TableShape($0, columns: ["n", "handle"]) }
        var rule = TableRule(table: "letters", column: "handle", action: .delete)
        let names = { (rule: TableRule) in
            SchemaCoverage(tables: tables, claims: SchemaClaims(rules: [rule], keys: []))
                .findings().filter { !$0.isCovered }.map(\.name)
        }
        #expect(names(rule) == ["others.handle"])
        rule.inside = .list(separator: ",")
        #expect(names(rule) == [])
    }
}
