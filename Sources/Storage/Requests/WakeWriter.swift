import Lifecycle

/// Makes parked requests due, page by page, so that no commit grows with their number.
///
/// Each page stores how far the wake has come, so a stop loses none of the rest.
struct WakeWriter {
    private static let prefix = "wake:"

    let database: any StateConnection

    /// Wakes one page in the order of ids; returns the last request of a full page.
    ///
    /// The order ends it: a request that parks again for the same reason is not woken twice.
    func wake(
        _ reason: ParkReason,
        after previous: RequestID?,
        at time: WallTime
    ) throws -> RequestID? {
        let page = try database.requestIDs(
            """
            SELECT id FROM requests INDEXED BY requests_parked
            WHERE park_reason = ? AND park_reason IS NOT NULL AND ended_at IS NULL AND id > ?
            ORDER BY id LIMIT ?
            """,
            [.text(reason.rawValue), .after(previous), .int(Limits.wakePageMax)]
        )
        for id in page { try Self.makeDue(id, at: time, database) }
        let last = page.count < Limits.wakePageMax ? nil : page.last
        try database.setFact(Self.prefix + reason.rawValue, to: last?.description)
        return last
    }

    static func makeDue(_ id: RequestID, at time: WallTime, _ database: any StateConnection) throws
    {
        try database.run(
            "UPDATE requests SET due_at = min(coalesce(due_at, ?1), ?1) WHERE id = ?2",
            [.time(time), .id(id)]
        )
    }

    /// Wakes that a stop cut short, with the last request of each.
    static func unfinished(_ database: any StateConnection) throws -> [ParkReason: RequestID] {
        var wakes: [ParkReason: RequestID] = [:]
        for reason in ParkReason.allCases {
            guard let text = try database.fact(prefix + reason.rawValue) else { continue }
            guard let id = RequestID(text) else { throw StorageError.malformed("meta") }
            wakes[reason] = id
        }
        return wakes
    }
}
