import Lifecycle

/// The statements of MySQL and MariaDB that change one user's rows of a table.
///
/// Rows are found and locked first, and then changed by their key: a statement that changes a table
/// may not read it in a subquery (MySQL 8.0, error 1093), and cannot pass over locked rows. Where
/// the server can refuse to wait, ``promptSQL`` comes before that.
struct MySQLWork: Sendable {
    /// Works on a chunk at once, unless others have locked one of its rows; `nil` where the work
    /// takes more than one statement, or reads other rows.
    var promptSQL: String?
    /// Finds and locks a chunk: the columns of the key, the keys of released rows, of each computed
    /// mask whether there is a value, and the bytes of these values; `nil` where ``directSQL`` does
    /// the work.
    var selectSQL: String?
    /// Counts the rows that this finds, locked ones, too.
    var countSQL: String?
    /// Reads the values to be masked by a hash, behind the key, of rows by their keys.
    var valuesSQL: String?
    /// Ends before the condition that names rows; `nil` for masks that the service computes.
    var changeSQL: String?
    /// Stands behind that condition.
    var orderSQL = ""
    /// Sets computed masks in one row; its parameters are these and then the key.
    var maskSQL: String?
    /// Works on a chunk of a table without a key; `nil` when there is one, and for kept rows.
    var directSQL: String?
    /// Reads the keys of released rows before that; `nil` without any.
    var releasedSQL: String?
    var keys: [String] = []
    let computed: [ColumnMask]
    /// Parameters of ``changeSQL`` before the keys; those of every statement, or none.
    var parameterCount = 0

    /// Those of a user and of the other parts of an id.
    static let parameterCountMax = 4 + IDTemplate.partsMax

    /// Names rows; the parameters are their keys, one row behind the other.
    func condition(rows count: Int) -> String {
        var number = parameterCount
        let rows = (0..<count).map { _ in
            let places = keys.map { _ -> String in
                number += 1
                return "?\(number)"
            }
            return keys.count == 1 ? places[0] : "(\(places.joined(separator: ", ")))"
        }
        let names = keys.joined(separator: ", ")
        return (keys.count == 1 ? names : "(\(names))") + " IN (\(rows.joined(separator: ", ")))"
    }
}

extension MySQLDialect {
    static func work(_ rows: RowConditions) -> MySQLWork {
        let table = rows.table
        let name = table.reference
        let keys = table.rowKeys.map { "\(name).\($0)" }
        let verb = verb(of: rows)
        let released = rows.releases.map(\.key).joined(separator: ", ")
        guard let verb, !keys.isEmpty else {
            let chunk = "WHERE \(rows.work) LIMIT \(limit)"
            return MySQLWork(
                directSQL: verb.map { "\($0) \(chunk)" },
                releasedSQL: released.isEmpty
                    ? nil : "SELECT DISTINCT \(released) FROM \(name) WHERE \(rows.work)",
                computed: rows.computed
            )
        }
        let list = keys.joined(separator: ", ")
        let descending = keys.map { $0 + " DESC" }.joined(separator: ", ")
        let order = rows.isSelfReferencing ? " ORDER BY \(descending)" : ""
        let values = rows.computed.map { column($0.column, of: name) }
        let hashed = rows.computed.indices.filter { rows.computed[$0].strategy == .hash }
        let sizes = hashed.map { " + COALESCE(OCTET_LENGTH(\(values[$0])), 0)" }.joined()
        let facts = values.map { ", \($0) IS NOT NULL" }.joined() + ", 0\(sizes)"
        let rowKey = keys.enumerated().map { "\($1) = ?\($0 + values.count + 1)" }
        let isPrompt = !rows.isRepeated && released.isEmpty && values.isEmpty
        let prompt = "\(verb) WHERE \(rows.work)\(order) LIMIT \(limit)"
        return MySQLWork(
            promptSQL: isPrompt && !prompt.contains("SELECT") ? prompt : nil,
            selectSQL: """
                SELECT \(list)\(released.isEmpty ? "" : ", " + released)\(facts) FROM \(name) \
                WHERE \(rows.work)\(order) LIMIT \(limit) \
                FOR UPDATE SKIP LOCKED
                """,
            countSQL: count(in: table, where: rows.work),
            valuesSQL: hashed.isEmpty
                ? nil : "SELECT \(list)\(values.map { ", \($0)" }.joined()) FROM \(name) WHERE ",
            changeSQL: values.isEmpty ? "\(verb) WHERE " : nil,
            orderSQL: order,
            maskSQL: values.isEmpty ? nil : "\(verb) WHERE \(rowKey.joined(separator: " AND "))",
            keys: keys,
            computed: rows.computed,
            parameterCount: rows.changesPart ? MySQLWork.parameterCountMax : 0
        )
    }

    /// `nil` for rows that stay as they are.
    private static func verb(of rows: RowConditions) -> String? {
        let name = rows.table.reference
        guard rows.rule.action.changesRows else { return nil }
        guard let assignments = rows.assignments else { return "DELETE FROM \(name)" }
        // The server would set the time of a column that follows each change.
        let time = rows.rule.creation.flatMap { shape($0.column, in: rows.table) }
        let isTouched = time?.declaration.contains("on update") ?? false
        let kept =
            time.flatMap { isTouched ? ", \(quoted($0.name)) = \(quoted($0.name))" : nil } ?? ""
        return "UPDATE \(name) SET \(assignments)\(kept)"
    }

    static func statements(of work: MySQLWork) -> [String] {
        guard work.selectSQL != nil else {
            return [work.directSQL, work.releasedSQL].compactMap(\.self)
        }
        let rows = "1 = 0"
        return [
            work.promptSQL, work.selectSQL, work.valuesSQL.map { $0 + rows },
            work.changeSQL.map { $0 + rows }, work.maskSQL,
        ].compactMap(\.self)
    }
}
