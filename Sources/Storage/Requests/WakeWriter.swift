import Lifecycle

/// Makes parked requests due, page by page, so that no commit grows with their number.
///
/// Each page stores how far the wake has come, so a stop loses none of the rest.
struct WakeWriter {
    private static let prefix = "wake:"

    let database: any StateConnection
    var scope = PartitionScope.all

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
            WHERE park_reason = ? AND park_reason IS NOT NULL AND ended_at IS NULL
              AND id > ?\(scope.term()) ORDER BY id LIMIT ?
            """,
            [.text(reason.rawValue), .after(previous), .int(Limits.wakePageMax)]
        )
        for id in page { try Self.makeDue(id, at: time, database) }
        let last = page.count < Limits.wakePageMax ? nil : page.last
        if scope.isShared {
            try keep(last, of: reason)
        } else {
            try database.setFact(Self.prefix + reason.rawValue, to: last?.description)
        }
        return last
    }

    /// How far it has come in each partition, for the owner of then.
    private func keep(_ last: RequestID?, of reason: ParkReason) throws {
        guard let last else {
            try database.run(
                "DELETE FROM wakes WHERE reason = ?\(scope.term())",
                [.text(reason.rawValue)]
            )
            return
        }
        try database.run(
            """
            INSERT INTO wakes (partition, reason, after) SELECT number, ?, ? FROM partitions
            WHERE 1 = 1\(scope.term("number"))
            ON CONFLICT (partition, reason) DO UPDATE SET after = excluded.after
            """,
            [.text(reason.rawValue), .id(last)]
        )
    }

    /// Wakes that owners of partitions have left, and behind which request each goes on.
    func unfinishedByPartition() throws -> [Partition: [ParkReason: RequestID?]] {
        var wakes: [Partition: [ParkReason: RequestID?]] = [:]
        try database.each(
            "SELECT partition, reason, after FROM wakes WHERE 1 = 1\(scope.term())"
        ) { row in
            let reason = try row.choice("reason", as: ParkReason.self)
            let last = try row.requestIDOrNil("after")
            wakes[try row.partition("partition"), default: [:]].updateValue(last, forKey: reason)
        }
        return wakes
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
