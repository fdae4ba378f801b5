import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

/// A kind of database for the tests of schemas, with what they need of one.
enum ShapeKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgresql, mysql

    var testDescription: String { rawValue }

    func open(_ sql: String) throws -> any ShapeStore {
        switch self {
        case .sqlite: try AppDatabase(sql)
        case .postgresql: try PostgreSQLFixture(sql)
        case .mysql: try MySQLFixture(MySQLFixture.translated(sql))
        }
    }
}

protocol ShapeStore {
    /// All rows in order, columns parted by `|`; NULL is empty.
    func dump(_ table: String) throws -> [String]

    func run(_ sql: String) throws

    /// A store of its own; the transaction of that number is its last one.
    func store(
        _ rules: [TableRule],
        keys: [KeyRule],
        transactionsMax: Int
    ) -> any UserListing & RowHolding & CoverageSearching
}

extension ShapeStore {
    func store(
        _ rules: [TableRule],
        transactionsMax: Int = .max
    ) -> any UserListing & RowHolding & CoverageSearching {
        store(rules, keys: [], transactionsMax: transactionsMax)
    }

    func dump(_ tables: [String]) throws -> [String: [String]] {
        try Dictionary(uniqueKeysWithValues: tables.map { ($0, try dump($0)) })
    }
}

extension AppDatabase: ShapeStore {
    func dump(_ table: String) throws -> [String] {
        try texts("SELECT * FROM \(table)").map {
            $0.replacing("\"", with: "").replacing("NULL", with: "")
        }.sorted()
    }

    func run(_ sql: String) throws { try execute(sql) }

    func store(
        _ rules: [TableRule],
        keys: [KeyRule],
        transactionsMax: Int
    ) -> any UserListing & RowHolding & CoverageSearching {
        let rests = Ticks()
        // One piece of work in a transaction, and a rest behind each.
        let clock = StoreClock.hasty { _ in
            let count = rests.value.wrappingAdd(1, ordering: .relaxed).newValue
            if count >= transactionsMax { throw CancellationError() }
        }
        var plan = SQLiteStorePlan(name: StoreName("app-db"), path: path, rules: rules)
        (plan.keys, plan.notes) = (keys, notes)
        return SQLiteStore(
            plan: plan,
            hasher: StandInHasher(),
            clock: transactionsMax == .max ? .still() : clock
        )
    }
}

extension PostgreSQLFixture: ShapeStore {
    func dump(_ table: String) throws -> [String] { try sql("SELECT * FROM \(table)").sorted() }

    func run(_ text: String) throws { try sql(text) }

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
