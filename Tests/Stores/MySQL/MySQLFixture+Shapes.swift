import Engine
import Lifecycle
import Synchronization

@testable import Stores

extension MySQLFixture: ShapeStore {
    /// SQL of the other two databases for this one.
    ///
    /// A text that is a key has a length, a reference names its column, and some names are words of
    /// the language.
    static func translated(_ sql: String) -> String {
        var text = "SET max_recursive_iterations = 100000; " + sql
        text.replace(" TEXT", with: " VARCHAR(99) COLLATE utf8mb4_bin")
        text.replace(" lines", with: " `lines`")
        // Every primary key that is referred to without its name is called so.
        text.replace(#/(KEY \(\w+, \w+\)) REFERENCES (\w+)(?! ?\(|\w)/#) {
            "\($0.1) REFERENCES \($0.2)(tenant, id)"
        }
        text.replace(#/REFERENCES (\w+)(?! ?\(|\w)/#) { "REFERENCES \($0.1)(id)" }
        return text
    }

    func dump(_ table: String) throws -> [String] {
        try sql("SELECT * FROM `\(table)`").map { $0.replacing("NULL", with: "") }.sorted()
    }

    func run(_ text: String) throws { try sql(Self.translated(text)) }

    func store(
        _ rules: [TableRule],
        keys: [KeyRule],
        transactionsMax: Int
    ) -> any UserListing & RowHolding & CoverageSearching {
        let commits = Ticks()
        var plan = plan(rules)
        (plan.keys, plan.notes) = (keys, notes)
        return store(plan) { statement in
            guard statement == "COMMIT" else { return true }
            return commits.value.wrappingAdd(1, ordering: .relaxed).newValue < transactionsMax
        }
    }
}
