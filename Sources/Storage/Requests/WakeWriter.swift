import GRDB
import Lifecycle

/// Makes parked requests due, page by page, so that no commit grows with their number.
///
/// How far a wake has come is stored with each page: a stop in between loses none of the rest.
struct WakeWriter {
    private static let prefix = "wake:"

    let database: Database

    /// Wakes one page in the order of ids; returns the last request of a full page, behind which
    /// the wake goes on.
    ///
    /// The order is what ends it: a request that parks again for the same reason at once is not
    /// woken twice.
    func wake(
        _ reason: ParkReason,
        after previous: RequestID?,
        at time: WallTime
    ) throws -> RequestID? {
        let page = try database.all(
            """
            SELECT id FROM requests INDEXED BY requests_parked
            WHERE park_reason = ? AND park_reason IS NOT NULL AND ended_at IS NULL AND id > ?
            ORDER BY id LIMIT ?
            """,
            [
                .text(reason.rawValue), previous.map { .id($0.value) } ?? .blob([]),
                .int(Limits.wakePageMax),
            ]
        ) { try $0.requestID() }
        for id in page {
            try Self.makeDue(id, at: time, database)
        }
        let last = page.count < Limits.wakePageMax ? nil : page.last
        try database.setFact(Self.prefix + reason.rawValue, to: last?.description)
        return last
    }

    /// Makes a request due at `time` if it is not due before.
    static func makeDue(_ id: RequestID, at time: WallTime, _ database: Database) throws {
        try database.run(
            "UPDATE requests SET due_at = min(ifnull(due_at, ?1), ?1) WHERE id = ?2",
            [.time(time), .id(id)]
        )
    }

    /// Wakes that a stop cut short, with the last request that each has met.
    static func unfinished(_ database: Database) throws -> [ParkReason: RequestID] {
        var wakes: [ParkReason: RequestID] = [:]
        for reason in ParkReason.allCases {
            let text = try database.fact(prefix + reason.rawValue)
            guard let text else { continue }
            guard let id = RequestID(text) else { throw StorageError.malformed("meta") }
            wakes[reason] = id
        }
        return wakes
    }
}
