import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("What the check of a schema advises, in every kind of database")
struct CheckAdviceTests {
    private static let tags = """
        CREATE TABLE tags(n INTEGER PRIMARY KEY, u VARCHAR(20), kind VARCHAR(20), d JSON);
        CREATE INDEX tags_kind ON tags(kind, u);
        INSERT INTO tags VALUES (1, 'a', 'User', '{"editor": {"id": "x"}}'), (2, 'b', 'Post', '{}');
        """

    private func advice(
        _ kind: ShapeKind,
        _ sql: String,
        _ rule: TableRule
    ) async throws -> [String] {
        let found = try await kind.open(sql).store([rule]).inspect(withOutages: true)
        #expect(found.problems == [])
        return found.advice.map(\.text).filter {
            $0.contains("no row looked at") || $0.contains("has no index")
        }
    }

    private func rule(_ kind: String?, _ action: TableAction = .delete) -> TableRule {
        let condition = kind.map { ColumnCondition(column: "kind", test: .equals(.text($0))) }
        return SchemaShape.rule("tags", "u", where: [condition].compactMap(\.self), action)
    }

    @Test("a value of `where` that no row has", arguments: ShapeKind.allCases)
    func conditions(kind: ShapeKind) async throws {
        #expect(try await advice(kind, Self.tags, rule("User")) == [])
        #expect(
            try await advice(kind, Self.tags, rule("Usr")) == [
                "table 'tags': no row looked at fits what `where` says of 'kind'; compare it with"
                    + " what the application writes there"
            ]
        )
        let empty = Self.tags + "DELETE FROM tags;"
        #expect(try await advice(kind, empty, rule("Usr")) == [])
    }

    @Test("a path at which no row has anything", arguments: ShapeKind.allCases)
    func paths(kind: ShapeKind) async throws {
        for (path, isThere) in [("$.editor.id", true), ("$.editr.id", false)] {
            let path = try #require(JSONPath(path))
            let mask = ColumnMask(column: "d", strategy: .remove, path: path)
            var inside = SchemaShape.rule("tags", "d", .anonymize([mask]))
            inside.inside = .json(path)
            let masked = rule("User", .anonymize([mask]))
            for rule in [inside, masked] {
                let found = try await advice(kind, Self.tags, rule)
                #expect(
                    found
                        == (isThere
                            ? []
                            : [
                                "column 'd' of table 'tags': no row looked at has anything at"
                                    + " \(path.text); compare the path with what the application"
                                    + " writes there"
                            ])
                )
            }
        }
    }

    @Test("an index behind columns that the rule names", arguments: ShapeKind.allCases)
    func indexes(kind: ShapeKind) async throws {
        let none =
            "column 'u' of table 'tags' has no index, so every purge reads the whole table;"
            + " CREATE INDEX tags_u ON tags (u) mends that"
        #expect(try await advice(kind, Self.tags, rule("User")) == [])
        #expect(try await advice(kind, Self.tags, rule(nil)) == [none])
        var other = rule(nil)
        other.conditions = [ColumnCondition(column: "kind", test: .differs(from: .text("Post")))]
        #expect(try await advice(kind, Self.tags, other) == [none])
    }

    @Test("users without a key, and with an empty one", arguments: ShapeKind.allCases)
    func keys(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE accounts(u VARCHAR(20) PRIMARY KEY, crm VARCHAR(20));
            INSERT INTO accounts VALUES ('a', 'x'), ('b', NULL), ('c', NULL), ('d', '');
            """
        )
        let user = SchemaShape.rule("accounts", "u")
        for isShared in [false, true] {
            let key = KeyRule(name: "customer", user: user, value: "crm", isShared: isShared)
            let store = app.store([user], keys: [key], transactionsMax: .max)
            let advice = await store.inspect(withOutages: true).advice.map(\.text)
            let told = advice.filter { $0.contains("rows looked at") }
            let expected = [
                "column 'crm' of table 'accounts' is NULL in 2 of the rows looked at: for these"
                    + " users nothing is searched in stores that are keyed by 'customer'",
                "column 'crm' of table 'accounts' is empty in 1 of the rows looked at: the"
                    + " deletion of these users stops as unfit_key; write NULL where there is no"
                    + " 'customer'",
            ]
            #expect(told == (isShared ? [] : expected))
        }
    }
}
