/// The statements that count one user's rows of a table in pieces.
///
/// Those that go through rows give 0 for one that is not counted, 1, 2 for one that the cutoff
/// protects and 3 for an undated one, and behind it what the row is found by again.
struct SQLiteCounting: Sendable {
    /// A statement from the first row on, and one from behind a place.
    struct Walk: Sendable {
        let first: String
        let next: String
    }

    /// Rows, newer ones among them, and undated ones that are not newer.
    let whole: String
    /// The user's rows; at once where an index on the column alone has them in this order.
    let byUser: Walk
    /// All users' rows.
    let byTable: Walk

    /// The parameter of the first part of a place, behind those of ids.
    static let firstPlace: Int32 = 9

    /// Takes the conditions of a row that is counted, of one of the user's (`nil` for those that
    /// are counted), of one that the cutoff protects, and of one without a time.
    ///
    /// Without `candidates`, a walk past many rows that are not counted would be cut off.
    init(
        _ table: TableShape,
        wanted: String,
        candidates: String? = nil,
        times: (cutoff: String?, undated: String) = (cutoff: nil, undated: "0")
    ) {
        whole = """
            SELECT count(*), sum(f), sum(u AND NOT f) FROM (SELECT \(times.cutoff ?? "0") AS f, \
            \(times.undated) AS u FROM \(table.reference) WHERE \(wanted))
            """
        let names = table.rowKeys.joined(separator: ", ")
        let places = table.rowKeys.indices.map { "?\(Int(Self.firstPlace) + $0)" }
            .joined(separator: ", ")
        let isBehind = "(\(names)) > (\(places))"
        let kind =
            times.cutoff.map { "CASE WHEN \($0) THEN 2 WHEN \(times.undated) THEN 3 ELSE 1 END" }
            ?? "1"
        let counted = "CASE WHEN \(wanted) THEN \(kind) ELSE 0 END"
        let user = """
            SELECT \(candidates == nil ? kind : counted), \(names) FROM \(table.reference) \
            WHERE \(candidates ?? wanted)
            """
        let all = "SELECT \(counted), \(names) FROM \(table.reference) NOT INDEXED"
        byUser = Walk(
            first: "\(user) ORDER BY \(names)",
            next: "\(user) AND \(isBehind) ORDER BY \(names)"
        )
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
