import Encoding
import Lifecycle

/// The SQL of MySQL and MariaDB; parameters have numbers, see ``MySQLStatementText``.
enum MySQLDialect: SQLDialect {
    /// Names of columns; those of tables as the server says.
    static var ignoresCase: Bool { true }
    static var absence: String { ", or the user has no privilege on it" }
    static var unreadableTimes: String { "" }

    static func countLimit(_ rule: TableRule) -> Int? { MySQLLimits.countRows + 1 }

    static var user: String { "?1" }
    static var time: String { "CAST(?2 AS SIGNED)" }
    static var limit: String { "?3" }
    static var key: String { "?4" }
    static func part(_ index: Int) -> String { "?\(5 + index)" }

    static func text(_ expression: String) -> String { "CAST(\(expression) AS CHAR)" }
    static func joined(_ texts: [String]) -> String { "CONCAT(\(texts.joined(separator: ", ")))" }

    /// MySQL 8.0, 9.2.
    static func quoted(_ identifier: String) -> String {
        "`" + identifier.replacing("`", with: "``") + "`"
    }

    /// Digits: nothing in a text can end it, whatever `sql_mode` and the set of characters are.
    static func literal(_ text: String) -> String {
        text.isEmpty ? "_utf8mb4 ''" : "_utf8mb4 X'\(Hexadecimal.text(Array(text.utf8)[...]))'"
    }

    // MARK: Ids

    /// A text as a value of the column, so that its index finds it.
    ///
    /// The server converts by itself only what the column can hold, and refuses everything else
    /// (error 1267). What is lost here, the bytes of the original bring back.
    private static func converted(_ text: String, to column: ColumnShape) -> String {
        guard column.isText else { return "CAST(\(text) AS BINARY)" }
        return "CONVERT(\(text) USING \(column.characterSet)) COLLATE \(column.collation)"
    }

    /// The bytes of a text: collations take texts for equal, `_bin` ones too, which ignore blanks
    /// at the end.
    ///
    /// `CAST` is NULL for a text beyond `max_allowed_packet`.
    static func bytes(_ column: String) -> String {
        "CONVERT(CONVERT(\(column) USING utf8mb4) USING binary)"
    }

    static func folded(_ text: String, _ column: ColumnShape) -> String {
        bytes("LOWER(TRIM(\(text)))")
    }

    private static func found(_ rule: TableRule, _ table: TableShape) -> (String, ColumnShape?) {
        (column(rule.column, of: table.reference), shape(rule.column, in: table))
    }

    static func match(_ rule: TableRule, _ table: TableShape, id: String) -> String {
        let (column, found) = found(rule, table)
        guard rule.idType == .text, let found else { return "\(column) = \(id)" }
        let isSame = "\(column) = \(converted(id, to: found))"
        return found.isText ? "\(isSame) AND \(bytes(column)) = CAST(\(id) AS BINARY)" : isSame
    }

    /// Candidates by a range, then by their digits.
    static func check(_ rule: TableRule, _ table: TableShape) -> String {
        let (column, found) = found(rule, table)
        switch rule.idType {
        case .integer:
            return "\(column) IN (\(user))"
                + " AND CAST(\(column) AS DECIMAL(20)) = CAST(\(user) AS DECIMAL(20))"
        case .uuid: return "\(column) IN (\(user)) AND CAST(\(column) AS CHAR) = \(user)"
        case .blob:
            return "\(column) BETWEEN \(user) AND \(user) AND HEX(\(column)) = HEX(\(user))"
        case .text:
            guard let found else { return "1 = 0" }
            let id = converted(user, to: found)
            let digits = "HEX(\(found.isText ? bytes(column) : column))"
            return "\(column) BETWEEN \(id) AND \(id)"
                + " AND \(digits) = HEX(CAST(\(user) AS BINARY))"
        case .mixed: return "1 = 0"
        }
    }

    static func nonCanonical(_ rule: TableRule, _ table: TableShape) -> String? {
        let (column, shape) = found(rule, table)
        guard let shape else { return nil }
        if shape.type == "binary", let length = shape.lengthMax, rule.idType != .integer {
            // Filled up with zero bytes.
            let id = "CAST(\(user) AS BINARY)"
            return "OCTET_LENGTH(\(id)) < \(length) AND \(column) = RPAD(\(id), \(length), X'00')"
        }
        guard rule.idType == .text, shape.isText else { return nil }
        // `char` comes without the blanks at its end.
        let id = shape.type == "char" ? "TRIM(TRAILING ' ' FROM \(user))" : user
        let back = "CONVERT(CONVERT(\(id) USING \(shape.characterSet)) USING utf8mb4)"
        return "\(column) = \(converted(id, to: shape))"
            + " AND CAST(\(back) AS BINARY) = CAST(\(id) AS BINARY)"
            + " AND \(bytes(column)) <> CAST(\(user) AS BINARY)"
    }

    /// Rows that hold the characters of the id as bytes.
    static func literal(_ rule: TableRule, _ table: TableShape) -> String? {
        guard rule.idType == .blob else { return nil }
        return "\(column(rule.column, of: table.reference)) = CAST(\(user) AS BINARY)"
    }

    static func idText(_ column: String, _ type: IDType) -> String {
        switch type {
        case .text, .mixed: "\(bytes(column)) AS \(quoted(MySQLFieldType.textName))"
        case .integer, .blob: column
        case .uuid: "CAST(\(column) AS CHAR)"
        }
    }

    /// By the order of the column, so that its index brings each page; then each text that the
    /// column takes for equal to one of them.
    static func pages(_ rule: TableRule, _ table: TableShape) -> (first: String, next: String) {
        let (column, shape) = found(rule, table)
        let isText = rule.idType == .text && shape?.isText == true
        // A number that came as a text would be compared as a binary fraction.
        let number = rule.idType == .integer ? "CAST(\(key) AS DECIMAL(65, 10))" : key
        let place = isText ? shape.map { converted(key, to: $0) } ?? key : number
        let (outer, name) = (quoted("t") + "." + quoted(rule.column), quoted("k"))
        let isDecimal = shape?.type == "decimal"
        let id =
            isDecimal
            ? "CAST(TRUNCATE(\(name), 0) AS CHAR)" : idText(isText ? outer : name, rule.idType)
        let sql = { (condition: String) in
            let page = """
                SELECT DISTINCT \(column) AS \(name) FROM \(table.reference) \
                WHERE octet_length(\(column)) <= \(SQLLimits.idBytes)\(condition) ORDER BY \(name) \
                LIMIT \(SQLLimits.pageRows)
                """
            let spelled = isText ? " JOIN \(table.reference) AS t ON \(outer) = q.\(name)" : ""
            return """
                SELECT DISTINCT q.\(name) AS place, \(id), 1 FROM (\(page)) AS q\(spelled) \
                ORDER BY place
                """
        }
        return (first: sql(""), next: sql(" AND \(column) > \(place)"))
    }
}

extension ColumnShape {
    /// It has a set of characters.
    var isText: Bool { !collation.isEmpty }

    /// A collation begins with it (MySQL 8.0, 10.3.1).
    var characterSet: String { String(collation.prefix { $0 != "_" }) }
}
