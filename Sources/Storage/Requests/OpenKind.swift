import Lifecycle

/// Where open requests stand: a phase, and why they are parked.
struct OpenKind {
    private static let allSQL = """
        SELECT DISTINCT phase, park_reason FROM requests INDEXED BY requests_due
        WHERE ended_at IS NULL
        """

    let state: RequestState
    let parkReason: ParkReason?
    private let phaseText: String
    private let reasonText: String?

    private var values: [SQLValue] { [.text(phaseText), .text(reasonText)] }

    init(_ row: SQLRow) throws {
        state = try row.isNull("park_reason") ? row.choice("phase", as: RequestState.self) : .parked
        parkReason = try row.choiceOrNil("park_reason", as: ParkReason.self)
        (phaseText, reasonText) = (row.text("phase"), row.textOrNil("park_reason"))
    }

    /// Finds the requests of the kind; its ``values`` are the parameters from `first` on.
    private func condition(at first: Int) -> String {
        "phase = ?\(first) AND park_reason IS NOT DISTINCT FROM ?\(first + 1)"
    }

    /// Counts open requests of each kind by age, and finds the oldest, in two passes over their
    /// index.
    ///
    /// `bounds` are times, the latest first: a request from before the last is the oldest kind. Ids
    /// grow with the time of acceptance, and the index has them. Without GROUP BY, for which SQLite
    /// sorts a copy of all rows in memory: 80 bytes for each open request. DISTINCT keeps one row
    /// of each kind.
    static func groups(
        _ bounds: [WallTime],
        _ database: any StateConnection
    ) throws -> [OpenOverview.Group] {
        let kinds = try database.all(allSQL) { try OpenKind($0) }
        guard !kinds.isEmpty else { return [] }
        let columns = kinds.indices.map { index in
            let isKind = kinds[index].condition(at: index * 2 + 1)
            let older = bounds.indices.map {
                "count(*) FILTER (WHERE \(isKind) AND id < ?\(kinds.count * 2 + $0 + 1))"
            }
            let ofKind = "FILTER (WHERE \(isKind))"
            return (["min(id) \(ofKind)", "count(*) \(ofKind)"] + older)
                .joined(separator: ", ")
        }
        let sql = """
            SELECT \(columns.joined(separator: ", "))
            FROM requests INDEXED BY requests_due WHERE ended_at IS NULL
            """
        let values =
            kinds.flatMap(\.values) + bounds.map { .id(RequestID($0)) }
        let width = bounds.count + 2
        let found = try database.all(sql, values) { row in
            try kinds.indices.map { index in
                let first = Int32(index * width)
                let oldest = try row.requestIDOrNil(.at(first))
                return (
                    oldest: oldest, sums: (1..<Int32(width)).map { row.int(.at(first + $0)) }
                )
            }
        }
        return try zip(kinds, found.first ?? []).map { kind, counted in
            OpenOverview.Group(
                state: kind.state,
                reason: kind.parkReason,
                counts: zip(counted.sums, counted.sums.dropFirst() + [0]).map { $0 - $1 },
                oldest: counted.oldest,
                oldestAt: try counted.oldest.flatMap { id in
                    try database.time("SELECT accepted_at FROM requests WHERE id = ?", [.id(id)])
                }
            )
        }
    }
}

extension RequestID {
    /// The least id of this time.
    fileprivate init(_ time: WallTime) {
        let milliseconds = UInt64(max(0, time.unixMilliseconds)) & 0xffff_ffff_ffff
        self.init(TimeOrderedID(high: milliseconds << 16, low: 0))
    }
}
