internal import Lifecycle

/// Goes through the user ids of one table, a page by a statement of its own.
///
/// By the order of the column, so that its index brings each page; a text whose equals may have
/// other bytes goes by its bytes, which reads the table once for each page.
struct PostgreSQLUserScan: Sendable {
    /// Users of a page; some milliseconds.
    static let pageUsers = 2000

    let firstSQL: String
    let nextSQL: String
    private let idType: IDType
    private var position: String?
    private(set) var isAtEnd = false

    init(rule: TableRule, shape: PostgreSQLTable) {
        idType = rule.idType
        let found = shape.column(rule.column)
        let column = "\(shape.reference).\(PostgreSQLDialect.quote(rule.column))"
        let isExact = found?.type != "citext" && found?.isDeterministic != false
        let key = isExact ? column : "\(column)::text COLLATE pg_catalog.\"C\""
        let place =
            switch rule.idType {
            case .integer: "$1::bigint"
            case .uuid: "$1::uuid"
            case .blob: "decode($1, 'hex')"
            case .text: "$1"
            }
        let text = rule.idType == .blob ? "encode(k, 'hex')" : "k::text"
        let sql = { (condition: String) in
            """
            SELECT \(text) FROM (SELECT DISTINCT \(key) AS k FROM \(shape.reference) \
            WHERE \(column) IS NOT NULL\(condition) ORDER BY k LIMIT \(Self.pageUsers)) AS q \
            ORDER BY k
            """
        }
        firstSQL = sql("")
        nextSQL = sql(" AND \(key) > \(place)")
    }

    /// Reads the next page.
    ///
    /// - Parameter ask: Runs a statement with its parameters.
    /// - Returns: The users, in every spelling that is accepted.
    /// - Throws: ``PostgreSQLError``.
    mutating func nextPage(
        _ ask: (String, [String]) throws(PostgreSQLError) -> PostgreSQLRows
    ) throws(PostgreSQLError) -> [UserID] {
        let rows =
            if let position { try ask(nextSQL, [position]) } else { try ask(firstSQL, []) }
        let texts = rows.rows.compactMap { $0.first ?? nil }
        isAtEnd = texts.count < Self.pageUsers
        position = texts.last
        return switch idType {
        case .blob: texts.flatMap(IDType.spellings(ofBlob:))
        case .uuid: texts.flatMap(IDType.spellings(ofUUID:))
        case .text, .integer: texts.compactMap { UserID($0) }
        }
    }
}
