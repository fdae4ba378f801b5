import GRDB
import Lifecycle

/// Makes parked requests due, page by page, so that no commit grows with their number.
///
/// How far a wake has come is stored with each page: a stop in between loses none of the rest.
struct WakeWriter {
    private static let prefix = "wake:"

    let database: Database

    /// Wakes one page in the order of ids.
    ///
    /// The order is what ends it: a request that parks again for the same reason at once is not
    /// met twice.
    ///
    /// - Parameters:
    ///   - reason: What the requests wait for.
    ///   - previous: The last request of the page before.
    ///   - time: When they become due.
    /// - Returns: The last request of a full page, behind which the wake goes on.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
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
            .text(reason.rawValue),
            previous.map { .id($0.value) } ?? .blob([]),
            .int(Limits.wakePageMax)
        ) { try $0.requestID(0) }
        for id in page {
            try database.run(
                "UPDATE requests SET due_at = min(ifnull(due_at, ?1), ?1) WHERE id = ?2",
                .time(time),
                .id(id.value)
            )
        }
        let last = page.count < Limits.wakePageMax ? nil : page.last
        try note(reason, last)
        return last
    }

    private func note(_ reason: ParkReason, _ last: RequestID?) throws {
        let key = SQLValue.text(Self.prefix + reason.rawValue)
        guard let last else {
            try database.run("DELETE FROM meta WHERE key = ?", key)
            return
        }
        try database.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            key,
            .text(last.description)
        )
    }

    /// Wakes that a stop cut short, with the last request that each has met.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func unfinished(_ database: Database) throws -> [ParkReason: RequestID] {
        var wakes: [ParkReason: RequestID] = [:]
        for reason in ParkReason.allCases {
            let text = try database.first(
                "SELECT value FROM meta WHERE key = ?",
                .text(prefix + reason.rawValue)
            ) { $0.text(0) }
            guard let text else { continue }
            guard let id = RequestID(text) else { throw SQLRow.malformed("meta") }
            wakes[reason] = id
        }
        return wakes
    }
}
