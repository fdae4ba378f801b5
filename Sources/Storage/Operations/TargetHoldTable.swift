import FoundationEssentials
import GRDB
import Lifecycle

/// Stops on targets, as rows of `target_holds`.
struct TargetHoldTable {
    let database: Database

    /// - Throws: `DatabaseError`; a constraint when the name is taken.
    func insert(_ hold: TargetHold) throws {
        try database.run(
            Column.insertion,
            Column.allCases.map { try value($0, of: hold) }
        )
    }

    func delete(_ name: String) throws {
        try database.run("DELETE FROM target_holds WHERE name = ?", [.text(name)])
    }

    /// All of them, the oldest first.
    func all() throws -> [TargetHold] {
        try database.all(
            Column.self,
            "FROM target_holds ORDER BY since, name"
        ) { row in
            TargetHold(
                name: row.text(.name),
                target: row.target(.target),
                rows: try row.textOrNil(.rows).map(Filter.decode),
                reason: row.textOrNil(.reason),
                since: row.time(.since),
                uid: row.uid(.uid)
            )
        }
    }

    private enum Column: Int32, Columns {
        case name, target, rows, reason, since, uid

        static let selection = makeSelection()
        static let insertion = insertion(of: allCases, into: "target_holds")
    }

    private func value(_ column: Column, of hold: TargetHold) throws -> SQLValue {
        switch column {
        case .name: .text(hold.name)
        case .target: .text(hold.target.rawValue)
        case .rows: .text(try hold.rows.map(Filter.encode))
        case .reason: .text(hold.reason)
        case .since: .time(hold.since)
        case .uid: .uid(hold.uid)
        }
    }

    /// A filter as JSON: `{"table":"orders","where":[["status","disputed","open"]]}`, each column
    /// with its values behind it.
    private struct Filter: Codable {
        var table: String
        var `where`: [[String]]

        static func encode(_ filter: RowFilter) throws -> String {
            let stored = Filter(
                table: filter.table,
                where: filter.conditions.map { [$0.column] + $0.values }
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(stored), as: UTF8.self)
        }

        static func decode(_ text: String) throws -> RowFilter {
            let stored: Filter
            do {
                stored = try JSONDecoder().decode(Filter.self, from: Data(text.utf8))
            } catch {
                throw StorageError.malformed("rows")
            }
            return RowFilter(
                table: stored.table,
                conditions: try stored.where.map { texts in
                    guard let column = texts.first, texts.count > 1 else {
                        throw StorageError.malformed("rows")
                    }
                    return RowFilter.Condition(column: column, values: Array(texts.dropFirst()))
                }
            )
        }
    }
}
