internal import Lifecycle

/// One key, compiled to the statements that find its ids and ask for their owners.
///
/// Parameters are texts: 1 is the user id, 2 the cutoff, 3 a limit, 4 an id of the other store.
struct PostgreSQLKeyPlan: Sendable {
    let rule: KeyRule
    /// As the catalog names it.
    let table: String
    /// The ids in a user's rows that the cutoff does not protect, NULL left out.
    let findSQL: String
    /// Rows that name an id, up to a limit.
    let namedSQL: String
    /// Those of them that are a user's and not protected by the cutoff, up to a limit.
    let ownSQL: String

    /// Compiles a key that has been checked against `shape`.
    init(rule: KeyRule, shape: PostgreSQLTable, cutoff: String?) {
        self.rule = rule
        table = shape.name
        let name = shape.reference
        let value = "\(name).\(PostgreSQLDialect.quote(rule.value))"
        let text =
            switch rule.valueType {
            case .blob: "encode(\(value), 'hex')"
            // Texts that the column takes for equal are different ids.
            case .text: "\(value)::text COLLATE pg_catalog.\"C\""
            case .integer, .uuid: "\(value)::text"
            }
        let open = cutoff.map { " AND NOT \($0)" } ?? ""
        let match = PostgreSQLTablePlan.match(rule.userRule, shape)
        let named = PostgreSQLTablePlan.match(rule.valueRule, shape).replacing("$1", with: "$4")
        findSQL = """
            SELECT DISTINCT \(text) FROM \(name) \
            WHERE \(match) AND \(value) IS NOT NULL\(open) LIMIT $3::bigint
            """
        namedSQL = """
            SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE \(named) LIMIT $3::bigint) AS q
            """
        ownSQL = """
            SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE \(named) AND \(match)\(open) \
            LIMIT $3::bigint) AS q
            """
    }

    /// Statements to be tried at the check, with parameters that fit.
    var samples: [(sql: String, values: [String])] {
        let user = rule.idType.sample
        return [
            (findSQL, [user, "0", "1"]),
            (namedSQL, [user, "0", "1", rule.valueType.sample]),
            (ownSQL, [user, "0", "1", rule.valueType.sample]),
        ]
    }
}

extension IDType {
    /// A parameter of the kind, for a statement that is only planned.
    var sample: String {
        switch self {
        case .text: "x"
        case .integer: "0"
        case .blob: "00"
        case .uuid: "00000000-0000-0000-0000-000000000000"
        }
    }
}
