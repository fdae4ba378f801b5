import GRDB
import Ledger
package import Lifecycle

extension StateDatabase {
    /// Tombstones of what was erased at `since` or later, with the cutoffs of their purges where the
    /// requests are known, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - since: The earliest erasure.
    ///   - position: 0, or the position of the page before.
    ///   - limit: The most to return.
    /// - Returns: The page, and where the next one begins.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func tombstones(
        since: WallTime,
        after position: Int,
        limit: Int
    ) async throws -> (page: [Tombstone], position: Int) {
        try await read { database in
            var last = position
            let page = try database.all(
                """
                SELECT t.sequence, t.user_hash, t.generation, t.erased_at, t.request_id, t.is_key,
                  \(RequestRow.cutoff)
                FROM tombstones t LEFT JOIN requests r ON r.id = t.request_id
                WHERE t.sequence > ? AND t.erased_at >= ? ORDER BY t.sequence LIMIT ?
                """,
                .int(position),
                .time(since),
                .int(limit)
            ) { row in
                last = row.int(0)
                return try Tombstone(row, isKey: row.bool(5), cutoff: row.timeOrNil(6))
            }
            return (page, last)
        }
    }

    /// The requests of which the tombstone of a user is known.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func buriedRequests() async throws -> Set<RequestID> {
        try await read { database in
            Set(
                try database.all("SELECT request_id FROM tombstones WHERE is_key = 0") {
                    try $0.requestID(0)
                }
            )
        }
    }

    /// Takes up tombstones that left the machine and that an older state does not know.
    ///
    /// - Parameters:
    ///   - tombstones: Some thousand at most: commits wait for as long as it takes to insert them.
    ///   - buried: ``buriedRequests()``, and what was learned since.
    /// - Returns: How many were new.
    /// - Throws: ``StorageError``: none was taken.
    package func learn(
        _ tombstones: [Tombstone],
        buried: inout Set<RequestID>
    ) async throws -> Int {
        let users = tombstones.filter { !$0.isKey && buried.insert($0.request).inserted }
        let keys = tombstones.filter(\.isKey)
        // Nearly all are known, and looking holds nobody up.
        let newKeys = try await read { database in
            try keys.filter { try !KeyTombstoneWriter.isKnown($0.hash, of: $0.request, database) }
        }
        guard !users.isEmpty || !newKeys.isEmpty else { return 0 }
        let appender = appender
        return try await writer.perform { database in
            for user in users {
                try database.run(
                    """
                    INSERT INTO tombstones (user_hash, generation, erased_at, request_id)
                    VALUES (?, ?, ?, ?)
                    """,
                    .blob(user.hash),
                    .int(user.generation),
                    .time(user.erasedAt),
                    .id(user.request.value)
                )
            }
            let writer = KeyTombstoneWriter(database: database, appender: appender)
            return try newKeys.reduce(users.count) { count, key in
                try count + (writer.insert(key.hash, of: key.request, at: key.erasedAt) ? 1 : 0)
            }
        }
    }
}

extension StateDatabase {
    /// A page of tombstones with the cutoffs of their purges, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - position: 0, or the position of the page before.
    ///   - limit: The most to return.
    /// - Returns: The page, and where the next one begins.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func tombstoneSample(
        after position: Int,
        limit: Int
    ) async throws -> (page: [Tombstone], position: Int) {
        try await read { database in
            var last = position
            let page = try database.all(
                """
                SELECT t.sequence, t.user_hash, t.generation, t.erased_at, t.request_id, t.is_key,
                  \(RequestRow.cutoff)
                FROM tombstones t LEFT JOIN requests r ON r.id = t.request_id
                WHERE t.sequence > ? ORDER BY t.sequence LIMIT ?
                """,
                .int(position),
                .int(limit)
            ) { row in
                last = row.int(0)
                return try Tombstone(row, isKey: row.bool(5), cutoff: row.timeOrNil(6))
            }
            return (page, last)
        }
    }

    /// Records that data of erased users was found in a store, by a sample.
    ///
    /// - Throws: ``StorageError``: nothing was recorded.
    package func recordSample(
        users: Int,
        rows: Int,
        in target: TargetName,
        at now: WallTime
    ) async throws {
        let appender = appender
        try await writer.perform { _ in
            _ = appender.write(
                LedgerEntry(
                    at: now,
                    [
                        .event: .word("returned"), .detail: .word("sample"),
                        .target: .word(LedgerEntry.plain(target.rawValue)),
                        .count: .number(Int64(users)), .rows: .number(Int64(rows)),
                    ]
                )
            )
        }
    }
}

extension Tombstone {
    /// Columns 1 to 4 are hash, generation, time and request.
    fileprivate init(_ row: SQLRow, isKey: Bool, cutoff: WallTime? = nil) throws {
        self.init(
            hash: row.blob(1),
            generation: row.int(2),
            erasedAt: row.time(3),
            request: try row.requestID(4),
            cutoff: cutoff,
            isKey: isKey
        )
    }
}
