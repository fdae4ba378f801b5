import FoundationEssentials
import GRDB
import Lifecycle

/// Stops on targets, as rows of `target_holds`.
struct TargetHoldTable {
    let database: Database

    /// - Throws: `DatabaseError`; a constraint when the name is taken.
    func insert(_ hold: TargetHold) throws {
        try database.run(
            "INSERT INTO target_holds VALUES (?, ?, ?, ?, ?, ?)",
            .text(hold.name),
            .text(hold.target.rawValue),
            .text(try hold.rows.map(Filter.encode)),
            .text(hold.reason),
            .time(hold.since),
            .int(Int64(hold.uid))
        )
    }

    /// - Throws: `DatabaseError`.
    func delete(_ name: String) throws {
        try database.run("DELETE FROM target_holds WHERE name = ?", .text(name))
    }

    /// All of them, the oldest first.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func all() throws -> [TargetHold] {
        try database.all(
            "SELECT name, target, rows, reason, since, uid FROM target_holds ORDER BY since, name"
        ) { row in
            TargetHold(
                name: row.text(0),
                target: TargetName(row.text(1)),
                rows: try row.textOrNil(2).map(Filter.decode),
                reason: row.textOrNil(3),
                since: row.time(4),
                uid: UInt32(truncatingIfNeeded: row.int(5))
            )
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
                throw SQLRow.malformed("rows")
            }
            return RowFilter(
                table: stored.table,
                conditions: try stored.where.map { texts in
                    guard let column = texts.first, texts.count > 1 else {
                        throw SQLRow.malformed("rows")
                    }
                    return RowFilter.Condition(column: column, values: Array(texts.dropFirst()))
                }
            )
        }
    }
}
