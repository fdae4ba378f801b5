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
            app.store([]),
            userTable: schema.userTable,
            edits: schema.edits
        )
        let store = app.store(made.rules)
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered == [], "\(found) of \(made.text)")
        let before = try app.dump(schema.tables)
        let orders = RealSchema.erased.sorted().map { order(schema.user($0)) }
        let answers = await store.purge(orders)
        let done = answers.count { if case .done = $0 { true } else { false } }
        #expect(done == orders.count, "\(answers.prefix(2)) by \(made.text)")
        #expect(await store.verify(orders).allSatisfy { $0 == .clean })
        let after = try app.dump(schema.tables)
        for table in schema.tables { compare(before[table] ?? [], after[table] ?? [], table) }
        for column in schema.cleared { try expectStay(column, of: schema, before, after) }
    }

    /// Rows of others that name an erased user are there and name nobody.
    private func expectStay(
        _ cleared: RealSchema.Cleared,
        of schema: RealSchema,
        _ before: [String: [String]],
        _ after: [String: [String]]
    ) throws {
        let names = try #require(schema.columns.first { $0.table == cleared.table }).names
        let column = try #require(names.firstIndex(of: cleared.column))
        let owner = try cleared.owner.map { try #require(names.firstIndex(of: $0)) }
        let cells = { (rows: [String]?) in
            (rows ?? []).map { row in
                row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            }
        }
        let named = cells(before[cleared.table]).filter { row in
            RealSchema.isErased(row[column])
                && !(owner.map { RealSchema.isErased(row[$0]) } ?? false)
        }
        #expect(named.count == RealSchema.erased.count, "\(cleared)")
        // The first column is the key.
        let keys = Set(named.map { $0[0] })
        let stayed = cells(after[cleared.table]).filter { keys.contains($0[0]) }
        #expect(stayed.count == named.count, "\(cleared) took rows of others along")
        #expect(stayed.allSatisfy { $0[column].isEmpty }, "\(cleared)")
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
