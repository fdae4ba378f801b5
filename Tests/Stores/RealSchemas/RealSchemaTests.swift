import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Suggested rules erase users of real schemas", .serialized) struct RealSchemaTests {
    private static let cases = RealSchema.all.flatMap { schema in
        schema.kinds.map { (schema, $0) }
    }

    @Test(
        "50 of 1,000 users go without a trace, and every other row stays as it is",
        arguments: cases
    )
    func erase(schema: RealSchema, kind: ShapeKind) async throws {
        let app = try schema.open(kind)
        #expect(schema.edits.flatMap { $0.by.split(separator: "\n") }.count <= 10)
        let made = try await SuggestedRules(
            app.target([]),
            userTable: schema.userTable,
            edits: schema.edits
        )
        let target = app.target(made.rules)
        let problems = await target.diagnose()
        #expect(problems == [], "\(made.text)")
        let before = try app.dump(schema.tables)
        let orders = RealSchema.erased.sorted().map { order(schema.user($0)) }
        let answers = await target.purge(orders)
        let done = answers.count { if case .done = $0 { true } else { false } }
        #expect(done == orders.count, "\(answers.prefix(2)) by \(made.text)")
        #expect(await target.verify(orders).allSatisfy { $0 == .clean })
        let after = try app.dump(schema.tables)
        for table in schema.tables { compare(before[table] ?? [], after[table] ?? [], table) }
    }

    /// Rows of others are equal; what is left of rows with the erased users' values has none.
    private func compare(_ before: [String], _ after: [String], _ table: String) {
        let left = after.filter(RealSchema.isErased).prefix(2).map(\.self)
        #expect(left == [], "\(table) holds erased values")
        let others = before.filter { !RealSchema.isErased($0) }
        var rest = Dictionary(grouping: after) { $0 }.mapValues(\.count)
        var missing = 0
        for row in others {
            if let count = rest[row], count > 0 { rest[row] = count - 1 } else { missing += 1 }
        }
        #expect(missing == 0, "\(table) lost rows of others")
        let cleared = Set(
            before.filter(RealSchema.isErased).map { row in
                row.split(separator: "|", omittingEmptySubsequences: false)
                    .map { RealSchema.isErased(String($0)) ? "" : String($0) }
                    .joined(separator: "|")
            }
        )
        let changed = rest.filter { $0.value > 0 && !cleared.contains($0.key) }.keys.prefix(2)
        #expect(changed.map(\.self) == [], "\(table) changed rows")
    }
}
