import GRDB
import Ledger
package import Lifecycle

extension StateDatabase {
    /// Tombstones of users that were erased at `since` or later, in the order of their numbers.
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
                SELECT sequence, user_hash, generation, erased_at, request_id FROM tombstones
                WHERE sequence > ? AND erased_at >= ? ORDER BY sequence LIMIT ?
                """,
                .int(position),
                .time(since),
                .int(limit)
            ) { row in
                last = row.int(0)
                return Tombstone(
                    userHash: row.blob(1),
                    generation: row.int(2),
                    erasedAt: row.time(3),
                    request: try row.requestID(4)
                )
            }
            return (page, last)
        }
    }

    /// Takes up tombstones that left the machine and that an older state does not know.
    ///
    /// - Returns: How many were new.
    /// - Throws: ``StorageError``: none was taken.
    package func learn(_ tombstones: [Tombstone]) async throws -> Int {
        try await writer.perform { database in
            var count = 0
            let known = Set(
                try database.all("SELECT request_id FROM tombstones") { try $0.requestID(0) }
            )
            for tombstone in tombstones where !known.contains(tombstone.request) {
                count += try database.run(
                    """
                    INSERT INTO tombstones (user_hash, generation, erased_at, request_id)
                    VALUES (?, ?, ?, ?)
                    """,
                    .blob(tombstone.userHash),
                    .int(tombstone.generation),
                    .time(tombstone.erasedAt),
                    .id(tombstone.request.value)
                )
            }
            return count
        }
    }

    /// Records that users were erased again.
    ///
    /// - Throws: ``StorageError``: nothing was recorded.
    package func recordReplay(
        of erased: [(tombstone: Tombstone, rows: Int)],
        in target: TargetName,
        at now: WallTime
    ) async throws {
        let pen = pen
        try await writer.perform { _ in
            for (tombstone, rows) in erased {
                pen.write(
                    LedgerEntry(
                        at: now,
                        [
                            .event: .word("replayed"), .request: .id(tombstone.request.value),
                            .target: .word(LedgerEntry.plain(target.rawValue)),
                            .rows: .number(Int64(rows)),
                        ]
                    )
                )
            }
        }
    }
}

extension StateDatabase {
    /// A page of tombstones with the fences of their purges, in the order of their numbers.
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
                SELECT t.sequence, t.user_hash, t.generation, t.erased_at, t.request_id,
                  min(r.created_at, r.accepted_at)
                FROM tombstones t LEFT JOIN requests r ON r.id = t.request_id
                WHERE t.sequence > ? ORDER BY t.sequence LIMIT ?
                """,
                .int(position),
                .int(limit)
            ) { row in
                last = row.int(0)
                return Tombstone(
                    userHash: row.blob(1),
                    generation: row.int(2),
                    erasedAt: row.time(3),
                    request: try row.requestID(4),
                    fence: row.timeOrNil(5)
                )
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
        let pen = pen
        try await writer.perform { _ in
            _ = pen.write(
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
