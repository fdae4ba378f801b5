internal import Lifecycle

/// One key, compiled to the statements that find its ids and ask for their owners.
struct KeyPlan: Sendable {
    let rule: KeyRule
    /// As the schema spells it.
    let table: String
    /// The ids in a user's rows that the cutoff does not protect, NULL left out.
    let findSQL: String
    /// Rows that name an id, up to a limit.
    let namedSQL: String
    /// Those of them that are a user's and not protected by the cutoff, up to a limit.
    let ownSQL: String

    /// Compiles a key that has been checked against `shape`.
    ///
    /// - Parameters:
    ///   - rule: The key.
    ///   - shape: The live table.
    ///   - cutoff: The condition that protects a row, or `nil` when nothing does.
    init(rule: KeyRule, shape: TableShape, cutoff: String?) {
        self.rule = rule
        table = shape.name
        let table = CutoffSQL.quoted(shape.name)
        let value = "\(table).\(CutoffSQL.quoted(rule.value))"
        let open = cutoff.map { " AND NOT \($0)" } ?? ""
        let match = TablePlan.match(rule.userRule, shape)
        let named = TablePlan.match(rule.valueRule, shape).replacing("?1", with: "?4")
        findSQL = """
            SELECT DISTINCT \(value) COLLATE BINARY FROM \(table) \
            WHERE \(match) AND \(value) IS NOT NULL\(open) LIMIT \(Limits.keysMax + 1)
            """
        namedSQL = """
            SELECT count(*), 0, 0 FROM (SELECT 1 FROM \(table) WHERE \(named) LIMIT ?5)
            """
        ownSQL = """
            SELECT count(*), 0, 0 FROM (SELECT 1 FROM \(table) \
            WHERE \(named) AND \(match)\(open) LIMIT ?5)
            """
    }

    /// To be tried at the check.
    var statements: [String] { [findSQL, namedSQL, ownSQL] }
}
