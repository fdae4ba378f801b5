import Lifecycle

/// Where open requests stand: a phase, and why they are parked.
struct OpenKind {
    static let allSQL = """
        SELECT DISTINCT phase, park_reason FROM requests INDEXED BY requests_due
        WHERE ended_at IS NULL
        """

    let state: RequestState
    let parkReason: ParkReason?
    private let phaseText: String
    private let reasonText: String?

    var values: [SQLValue] { [.text(phaseText), .text(reasonText)] }

    init(_ row: SQLRow) throws {
        state = try row.isNull("park_reason") ? row.choice("phase", as: RequestState.self) : .parked
        parkReason = try row.choiceOrNil("park_reason", as: ParkReason.self)
        (phaseText, reasonText) = (row.text("phase"), row.textOrNil("park_reason"))
    }

    /// Finds the requests of the kind; its ``values`` are the parameters from `first` on.
    func condition(at first: Int) -> String {
        "phase = ?\(first) AND park_reason IS NOT DISTINCT FROM ?\(first + 1)"
    }

    /// Counts the requests of each kind in one pass over the index, and finds the oldest.
    static func count(
        _ kinds: [OpenKind],
        _ database: any StateConnection
    ) throws -> (counts: [Int], oldest: RequestID?) {
        guard !kinds.isEmpty else { return ([], nil) }
        let sums = kinds.indices.map {
            "count(*) FILTER (WHERE \(kinds[$0].condition(at: $0 * 2 + 1)))"
        }
        let found = try database.all(
            """
            SELECT min(id) AS oldest, \(sums.joined(separator: ", "))
            FROM requests INDEXED BY requests_due WHERE ended_at IS NULL
            """,
            kinds.flatMap(\.values)
        ) { row in
            (
                counts: kinds.indices.map { row.int(.at(Int32($0 + 1))) },
                oldest: try row.requestIDOrNil("oldest")
            )
        }
        return found.first ?? ([], nil)
    }
}
