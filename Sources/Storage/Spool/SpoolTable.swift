import Engine

extension SpoolTable {
    private var selection: String { "id, " + inputColumns.joined(separator: ", ") }

    /// The last id of the next rows: `?1` is the first id, `?2` how many.
    var boundSQL: String {
        "SELECT max(id) FROM (SELECT id FROM \(rawValue) WHERE id >= ?1 ORDER BY id LIMIT ?2)"
    }

    /// Submitted rows from `?1` to `?2`, at most `?3`.
    var submittedSQL: String {
        """
        SELECT \(selection) FROM \(rawValue)
        WHERE id >= ?1 AND id <= ?2 AND state = 'submitted' ORDER BY id LIMIT ?3
        """
    }

    var idsSQL: String {
        "SELECT id FROM \(rawValue) WHERE id >= ?1 AND id <= ?2 ORDER BY id"
    }

    var rowSQL: String {
        switch self {
        case .credentials: Self.credentialSQL
        case .requests: Self.requestSQL
        }
    }

    private static let credentialSQL = credentials.makeRowSQL()
    private static let requestSQL = requests.makeRowSQL()

    /// As ``rowSQL``, and behind the input the request that the row shows.
    static let shownRequestSQL =
        "SELECT \(requests.selection), request_id FROM requests WHERE id = ?1"

    private func makeRowSQL() -> String { "SELECT \(selection) FROM \(rawValue) WHERE id = ?1" }

    var isSubmittedSQL: String {
        "SELECT state = 'submitted' FROM \(rawValue) WHERE id = ?1"
    }
}
