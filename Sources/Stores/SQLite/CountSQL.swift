/// The statements that count one user's rows of a table for a plan.
///
/// Those that go through rows give 0 for one that is not counted, 1, 2 for one that the cutoff
/// protects and 3 for an undated one, and behind it what the row is found by again.
struct CountSQL: Sendable {
    /// A statement from the first row on, and one from behind a place.
    struct Walk: Sendable {
        let first: String
        let next: String
    }

    /// Rows, newer ones among them, and undated ones that are not newer.
    let whole: String
    /// The user's rows; at once where an index on the column alone has them in this order.
    let byUser: Walk
    /// Everybody's rows.
    let byTable: Walk
    /// The parameter of the first part of a place.
    let firstPlace: Int32

    /// - Parameters:
    ///   - table: Quoted.
    ///   - wanted: The condition of a row that is counted.
    ///   - candidates: The condition of a row that is looked at, going through the user's; `nil`
    ///     for those that are counted. Without it a walk past many others would be cut off.
    ///   - times: The condition that protects a row, or `nil` when nothing does, and the one of a
    ///     row without a time.
    ///   - key: What names a row: never NULL, and with an index of its own.
    ///   - constantCount: Parameters that `wanted` has for masks.
    init(
        _ table: String,
        wanted: String,
        candidates: String? = nil,
        times: (cutoff: String?, undated: String),
        key: [String],
        constantCount: Int
    ) {
        let firstPlace = PreparedQuery.Place.constants + Int32(constantCount)
        self.firstPlace = firstPlace
        whole = """
            SELECT count(*), sum(f), sum(u AND NOT f) FROM (SELECT \(times.cutoff ?? "0") AS f, \
            \(times.undated) AS u FROM \(table) WHERE \(wanted))
            """
        let names = key.joined(separator: ", ")
        let places = key.indices.map { "?\(firstPlace + Int32($0))" }.joined(separator: ", ")
        let isBehind = "(\(names)) > (\(places))"
        let kind =
            times.cutoff.map { "CASE WHEN \($0) THEN 2 WHEN \(times.undated) THEN 3 ELSE 1 END" }
            ?? "1"
        let one = candidates.map { _ in "CASE WHEN \(wanted) THEN \(kind) ELSE 0 END" } ?? kind
        let user = "SELECT \(one), \(names) FROM \(table) WHERE \(candidates ?? wanted)"
        byUser = Walk(
            first: "\(user) ORDER BY \(names)",
            next: "\(user) AND \(isBehind) ORDER BY \(names)"
        )
        let all = """
            SELECT CASE WHEN \(wanted) THEN \(kind) ELSE 0 END, \(names) FROM \(table) NOT INDEXED
            """
        byTable = Walk(
            first: "\(all) ORDER BY \(names)",
            next: "\(all) WHERE \(isBehind) ORDER BY \(names)"
        )
    }

    /// To be tried at the check.
    var statements: [String] {
        [whole, byUser.first, byUser.next, byTable.first, byTable.next]
    }
}
