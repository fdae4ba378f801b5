import Ledger
package import Lifecycle

extension StateDatabase {
    /// After `position` (0 in the beginning), of what was erased at `since` or later, with the
    /// cutoffs of the purges where the requests are known.
    package func tombstones(
        since: WallTime = .distantPast,
        after position: Int,
        limit: Int
    ) async throws -> (page: [Tombstone], position: Int) {
        try await read { database in
            var last = position
            let page = try database.all(
                """
                SELECT t.sequence, \(TombstoneColumn.names(in: "t")),
                  \(RequestRecord.cutoff) AS cutoff
                FROM tombstones t LEFT JOIN requests r ON r.id = t.request_id
                WHERE t.sequence > ? AND t.erased_at >= ? ORDER BY t.sequence LIMIT ?
                """,
                [.int(position), .time(since), .int(limit)]
            ) { row in
                last = row.int("sequence")
                return try Tombstone(row)
            }
            let givenUp = try Self.givenUp(after: position, through: last, database)
            let known = page.map { tombstone -> Tombstone in
                var known = tombstone
                known.givenUp = givenUp[tombstone.request] ?? []
                return known
            }
            return (known, last)
        }
    }

    /// From which stores operators gave up erasing, by the requests of tombstones.
    private static func givenUp(
        after position: Int,
        through last: Int,
        _ database: any StateConnection
    ) throws -> [RequestID: Set<StoreName>] {
        var found: [RequestID: Set<StoreName>] = [:]
        let sql = """
            SELECT p.request_id, p.store, p.counts
            FROM tombstones t CROSS JOIN purges p ON p.request_id = t.request_id
            WHERE t.sequence > ? AND t.sequence <= ? AND p.counts LIKE '%"spelled_otherwise"%'
            """
        try database.each(sql, [.int(position), .int(last)]) { row in
            guard try PurgeCounts(columnText: row.text("counts")).isGivenUp else { return }
            let id = try row.requestID("request_id")
            found[id, default: []].insert(row.store("store"))
        }
        return found
    }

    /// The requests of which the tombstone of a user is known.
    package func buriedRequests() async throws -> Set<RequestID> {
        try await read {
            Set(try $0.requestIDs("SELECT request_id FROM tombstones WHERE is_key = 0"))
        }
    }

    /// Adds tombstones that this older state does not know, and returns how many.
    ///
    /// At most some thousand: commits wait for them. `buried` is ``buriedRequests()`` and what was
    /// learned since.
    package func learn(
        _ tombstones: [Tombstone],
        buried: inout Set<RequestID>
    ) async throws -> Int {
        let users = tombstones.filter { !$0.isKey && buried.insert($0.request).inserted }
        let keys = tombstones.filter(\.isKey)
        // Nearly all are known, and reading delays no commit.
        let newKeys = try await read { try KeyTombstoneWriter.unknown(keys, $0) }
        guard !users.isEmpty || !newKeys.isEmpty else { return 0 }
        return try await write { database, _ in
            let new = try users + KeyTombstoneWriter.unknown(newKeys, database)
            for tombstone in new { try tombstone.insert(database) }
            return new.count
        }
    }

    /// Records that data of erased users was found in a store, by a sample.
    package func recordSample(
        users: Int,
        rows: Int,
        in store: StoreName,
        at now: WallTime
    ) async throws {
        try await write { _, appender in
            let values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
                (.store, .word(store.rawValue)), (.count, .number(Int64(users))),
                (.rows, .number(Int64(rows))),
            ]
            appender.write("returned", values, "sample", at: now)
        }
    }
}

extension Tombstone {
    func insert(_ database: any StateConnection) throws {
        try database.run(
            TombstoneColumn.insertion,
            TombstoneColumn.row([
                .userHash: .blob(hash), .generation: .int(generation), .erasedAt: .time(erasedAt),
                .requestID: .id(request), .isKey: .bool(isKey),
            ])
        )
    }

    fileprivate init(_ row: SQLRow) throws {
        self.init(
            hash: row.blob("user_hash"),
            generation: row.int("generation"),
            erasedAt: row.time("erased_at"),
            request: try row.requestID("request_id"),
            cutoff: row.timeOrNil("cutoff"),
            isKey: row.bool("is_key")
        )
    }
}

/// The columns of `tombstones`; the database numbers the rows in `sequence`.
enum TombstoneColumn: Int32, Columns {
    case userHash, generation, erasedAt, requestID, isKey

    static let insertion = insertion(of: allCases, into: "tombstones")
}
