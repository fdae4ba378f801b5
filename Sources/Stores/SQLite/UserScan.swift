internal import CSQLiteGuard
import Encoding
internal import Engine
internal import GRDB
internal import Lifecycle

/// Goes through the user ids of one table, a page in a read transaction of its own.
///
/// By rowid, so that a table without an index on the column is read once; a table without rowids by
/// the column itself.
struct UserScan: Sendable {
    /// Rows of a page; some milliseconds.
    static let pageRows = 2000

    let idType: IDType
    let firstSQL: String
    let nextSQL: String
    /// Where the next page begins; `nil` on the first one.
    private(set) var position: DatabaseValue?
    private(set) var isAtEnd = false

    init(rule: TableRule, shape: TableShape) {
        let table = CutoffSQL.quoted(shape.name)
        let column = "\(table).\(CutoffSQL.quoted(rule.column))"
        let isTyped = TablePlan.isTyped(rule, column)
        idType = rule.idType
        let key: String
        if let rowID = shape.rowIDName {
            key = "\(table).\(rowID)"
            firstSQL =
                "SELECT \(key), \(column), \(isTyped) FROM \(table)"
                + " ORDER BY \(key) LIMIT \(Self.pageRows)"
            nextSQL =
                "SELECT \(key), \(column), \(isTyped) FROM \(table) WHERE \(key) > ?"
                + " ORDER BY \(key) LIMIT \(Self.pageRows)"
        } else {
            key = "\(column) COLLATE BINARY"
            let select = "SELECT DISTINCT \(column), \(column), 1 FROM \(table) WHERE \(isTyped)"
            let order = " ORDER BY \(key) LIMIT \(Self.pageRows)"
            firstSQL = select + order
            nextSQL = select + " AND \(key) > ?" + order
        }
    }

    /// Reads the next page.
    ///
    /// - Returns: The texts that name the users of its rows, in every spelling that is accepted.
    /// - Throws: `DatabaseError`, or ``TargetError`` for a schema that changed.
    mutating func nextPage(
        _ db: Database,
        plan: SQLitePurgePlan,
        target: TargetName
    ) throws -> [UserID] {
        let rows = try ConnectionChecks.reading(plan, db, target) {
            if let position {
                try Row.fetchAll(db, sql: nextSQL, arguments: [position])
            } else {
                try Row.fetchAll(db, sql: firstSQL)
            }
        }
        position = rows.last.map { $0[0] as DatabaseValue }
        isAtEnd = rows.count < Self.pageRows
        return rows.flatMap { row -> [UserID] in
            guard row[2] == true else { return [] }
            return users(row[1] as DatabaseValue)
        }
    }

    private func users(_ value: DatabaseValue) -> [UserID] {
        switch (idType, value.storage) {
        case (.text, .string(let text)):
            return [UserID(text)].compactMap(\.self)
        case (.integer, .int64(let number)):
            return [UserID(String(number))].compactMap(\.self)
        case (.integer, .double(let number)):
            return [Int64(exactly: number).flatMap { UserID(String($0)) }].compactMap(\.self)
        case (.blob, .blob(let data)):
            return IDType.spellings(ofBlob: Hexadecimal.text(Array(data)))
        default:
            return []
        }
    }
}
