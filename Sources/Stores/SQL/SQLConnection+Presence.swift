import Lifecycle

extension SQLConnection {
    /// Looks whether any row has what a rule asks for besides the user.
    ///
    /// With a misspelled value or path a rule finds nothing of anybody, which looks like a store
    /// from which all is erased.
    func checkPresence(
        of rule: TableRule,
        _ table: TableShape,
        _ found: inout SQLFindings
    ) throws(SQLError) {
        for condition in rule.conditions {
            let fits = condition.sql(in: table, Dialect.self)
            guard try isAbsent(fits, in: table) else { continue }
            found.advise(
                "table '\(table.name)': no row looked at fits what `where` says of"
                    + " '\(condition.column)'; compare it with what the application writes there"
            )
        }
        for (column, path) in rule.paths {
            let place = Dialect.column(column, in: table)
            guard place.shape != nil else { continue }
            let search = Dialect.search(path, place, for: .unlike(.remove))
            guard try isAbsent(search.isFound, in: table) else { continue }
            found.advise(
                "column '\(column)' of table '\(table.name)': no row looked at has anything at"
                    + " \(path.text); compare the path with what the application writes there"
            )
        }
    }

    /// Looks for rows of users that have no id for other stores, among the first ones.
    ///
    /// Nothing is wrong with NULL: not everybody has something there. A column that the
    /// application fills late looks the same.
    func checkKeys(
        of key: KeyRule,
        _ table: TableShape,
        _ found: inout SQLFindings
    ) throws(SQLError) {
        guard !key.isShared, let shape = Dialect.shape(key.value, in: table) else { return }
        let column = Dialect.column(key.value, of: table.reference)
        let fits = key.userRule.conditions.map { " AND \($0.sql(in: table, Dialect.self))" }
            .joined()
        let place = "column '\(key.value)' of table '\(table.name)'"
        let isMissing = try countFirst("\(column) IS NULL\(fits)", in: table)
        if isMissing > 0 {
            found.advise(
                "\(place) is NULL in \(isMissing) of the rows looked at: for these users nothing is"
                    + " searched in stores that are keyed by '\(key.name)'"
            )
        }
        let isEmpty = shape.holdsText ? try countFirst("\(column) = ''\(fits)", in: table) : 0
        if isEmpty > 0 {
            found.advise(
                "\(place) is empty in \(isEmpty) of the rows looked at: the deletion of these users"
                    + " stops as unfit_key; write NULL where there is no '\(key.name)'"
            )
        }
    }

    /// Reports a key that stops deletions: as data without a rule where some row proves it.
    func check(
        _ key: BlockingKey,
        _ table: TableShape,
        _ found: inout SQLFindings
    ) throws(SQLError) {
        if let proof = key.proof, try countFirst(proof, in: table) == 0 {
            if !key.isOfOwnRows { found.advise(key) }
        } else {
            found.uncovered.append(.open(key.name, key.sentence))
        }
    }

    private func countFirst(_ condition: String, in table: TableShape) throws(SQLError) -> Int {
        let rows =
            "SELECT \(condition) AS fits FROM \(table.reference) LIMIT \(SQLLimits.presenceRows)"
        return try count("SELECT count(*) FROM (\(rows)) AS q WHERE fits")
    }

    /// Among the first rows, of which there are some.
    private func isAbsent(_ condition: String, in table: TableShape) throws(SQLError) -> Bool {
        guard try countFirst(condition, in: table) == 0 else { return false }
        return try count("SELECT 1 FROM \(table.reference) LIMIT 1") > 0
    }
}

extension TableRule {
    /// The places in JSON that the rule searches or changes.
    fileprivate var paths: [(column: String, path: JSONPath)] {
        var paths: [(column: String, path: JSONPath)] = []
        if case .json(let path)? = inside { paths.append((column, path)) }
        for mask in masks where !changesPart(mask) {
            if let path = mask.path { paths.append((mask.column, path)) }
        }
        return paths
    }
}
