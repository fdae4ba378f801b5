import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Rules are suggested from schema and values", .serialized) struct SuggestionTests {
    @Test(
        "the rules are those that the shape asks for, and work as they are",
        arguments: SuggestedShape.all,
        ShapeKind.allCases
    )
    func shapes(shape: SuggestedShape, kind: ShapeKind) async throws {
        let app = try kind.open(shape.sql)
        let made = try await SuggestedRules(app.store([]), userTable: shape.userTable)
        #expect(made.lines == shape.rules, "\(made.text)")
        let words = made.text.replacing("\n#", with: "").replacing("  ", with: " ")
        for text in shape.words { #expect(words.contains(text), "\(text) in \(made.text)") }
        let store = app.store(made.rules)
        #expect(await store.diagnose() == [])
        let answers = await store.purge([order(shape.user)])
        guard case .done? = answers.first else {
            Issue.record("not done: \(answers)")
            return
        }
        for (table, rows) in shape.left { #expect(try app.dump(table) == rows) }
        #expect(await store.verify([order(shape.user)]) == [.clean])
        #expect(try app.dump("users").allSatisfy { !$0.hasPrefix(shape.user + "|") })
    }

    @Test("no value of a user is in the text", arguments: ShapeKind.allCases)
    func silence(kind: ShapeKind) async throws {
        for shape in SuggestedShape.all {
            let app = try kind.open(shape.sql)
            let made = try await SuggestedRules(app.store([]), userTable: shape.userTable)
            for word in ["anna", "bert", "carl", "acme", "555"] {
                #expect(!made.text.contains(word), "\(made.text)")
            }
        }
    }

    @Test("the check finds values that no rule covers", arguments: ShapeKind.allCases)
    func coverage(kind: ShapeKind) async throws {
        let shapes = [SuggestedShape.bareChain, .byEmail, .inside]
        let columns = ["orders.placed_for", "newsletter.address", "mails.body"]
        for (shape, column) in zip(shapes, columns) {
            let app = try kind.open(shape.sql)
            let user = TableRule(table: "users", column: "id", action: .delete)
            let found = try #require(await app.store([user]).uncovered)
            #expect(found.contains { $0.hasPrefix("\(column): holds 'users.") }, "\(found)")
            let made = try await SuggestedRules(app.store([]), userTable: nil)
            let left = try #require(await app.store(made.rules).uncovered)
            let isLeft = shape.name == SuggestedShape.inside.name
            #expect(left.contains { $0.hasPrefix(column) } == isLeft)
        }
    }

    @Test("the id is made as the store's own rule says", arguments: ShapeKind.allCases)
    func ownTemplate(kind: ShapeKind) async throws {
        let app = try kind.open(SuggestedShape.composite.sql)
        var user = TableRule(table: "users", column: "id", idType: .integer, action: .delete)
        user.idTemplate = IDTemplate("t{tenant}/{id}")
        let made = try await SuggestedRules(app.store([user]), userTable: nil)
        let templates = made.rules.map { "\($0.table) \($0.idTemplate?.text ?? "")" }
        #expect(
            templates.sorted() == [
                "notes t{tenant}/{user_id}", "posts t{tenant}/{author}", "users t{tenant}/{id}",
            ]
        )
    }

    @Test("a user table that nobody can tell is asked for", arguments: ShapeKind.allCases)
    func unknown(kind: ShapeKind) async throws {
        let app = try kind.open("CREATE TABLE heads(id INTEGER PRIMARY KEY, n INTEGER)")
        let store = try #require(app.store([]) as? any RuleSuggesting)
        let texts: [(String?, String)] = [
            (nil, "name it with --user-table TABLE.COLUMN"), ("tails.id", "no table has the name"),
            ("heads.name", "has no such column"),
        ]
        for (text, words) in texts {
            guard case .refused(let reason) = await store.suggestion(userTable: text) else {
                Issue.record("not refused: \(text ?? "nil")")
                continue
            }
            #expect(reason.contains(words))
        }
        guard case .rules = await store.suggestion(userTable: "heads") else {
            Issue.record("refused")
            return
        }
    }
}

extension CoverageSearching {
    /// What the check reports, each with its reason; `nil` for a failure.
    fileprivate var uncovered: [String]? {
        get async {
            guard case .findings(let found) = await coverage() else { return nil }
            return found.filter { !$0.isCovered }.map { "\($0.name): \($0.reason)" }
        }
    }
}
