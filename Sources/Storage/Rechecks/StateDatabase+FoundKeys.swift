package import Engine
package import Lifecycle

extension StateDatabase {
    /// Requests without any are missing.
    package func foundKeys(
        of requests: [RequestID],
        as name: KeyName
    ) async throws -> [RequestID: [StoredKeys]] {
        try await read { database in
            let table = FoundKeyTable(database: database)
            var found: [RequestID: [StoredKeys]] = [:]
            for request in Set(requests) {
                let rows = try table.all(of: request, as: name)
                if !rows.isEmpty { found[request] = rows }
            }
            return found
        }
    }

    /// The requests that are open; what is found for the others is late.
    package func open(among requests: [RequestID]) async throws -> Set<RequestID> {
        try await read { database in
            let isOpen = "SELECT 1 FROM requests WHERE id = ? AND ended_at IS NULL"
            return Set(try requests.filter { try database.has(isOpen, [.id($0)]) })
        }
    }

    /// Adds what was found, all in one commit.
    package func addFoundKeys(_ keys: [SealedKeys]) async throws {
        try await writer.perform { database in
            let table = FoundKeyTable(database: database)
            for keys in keys { try table.insert(keys) }
        }
    }

    // MARK: Replay

    /// Ended requests for which a replay found ids that are not used up.
    package func lateKeyRequests(among requests: Set<RequestID>) async throws -> [RequestID] {
        try await read { database in
            try database.requestIDs(
                "SELECT DISTINCT request_id FROM found_keys WHERE is_late = 1 ORDER BY request_id"
            ).filter(requests.contains)
        }
    }

    /// Destroys the ids that a replay found and has used; tombstones of them stay.
    ///
    /// They have the time of the erasure that was repeated: with the time of the replay, the next
    /// one would also erase what was stored under the same ids since.
    package func forgetLateKeys(of erased: [Tombstone]) async throws {
        let count = try await write { database, appender in
            let tombstones = KeyTombstoneWriter(database: database, appender: appender)
            return try erased.reduce(0) { count, erased in
                try tombstones.bury(erased.request, isLate: true, at: erased.erasedAt)
                return try count
                    + database.run(
                        "DELETE FROM found_keys WHERE request_id = ? AND is_late = 1",
                        [.id(erased.request)]
                    )
            }
        }
        // Until then the keys are in the write-ahead log.
        if count > 0 { requestScrub() }
    }

    // MARK: Rotation

    /// A page of the rows that need one vault key.
    package func foundKeys(
        under keyID: String,
        after position: Int64,
        limit: Int
    ) async throws -> [StoredKeys] {
        try await all(
            FoundKeyColumn.self,
            """
            FROM found_keys INDEXED BY found_keys_key
            WHERE key_id = ? AND id > ? ORDER BY id LIMIT ?
            """,
            [.text(keyID), .int(position), .int(limit)],
            body: StoredKeys.init
        )
    }

    /// Replaces rows by newly sealed ones in one commit and returns how many; lost ones stay lost.
    package func replaceFoundKeys(
        _ fresh: [(old: StoredKeys, new: SealedKeys)]
    ) async throws -> Int {
        try await change(
            fresh,
            """
            UPDATE found_keys SET key_id = ?, own_key = ?, sealed_ids = ?
            WHERE id = ? AND own_key = ?
            """
        ) { $0.new.values + [.int($0.old.position), .blob($0.old.sealed.ownKey)] }
    }
}

enum FoundKeyColumn: Int32, Columns {
    case id, requestID, store, name, keyID, ownKey, sealedIDs, hashes, isLate

    static let selection = makeSelection()
    /// The database numbers the rows; without a value for `is_late` the end of the request decides.
    static let insertion = """
        INSERT INTO found_keys (\(names(of: Array(allCases.dropFirst()))))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
          coalesce(?8, (SELECT CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END FROM requests
            WHERE id = ?1), 1))
        """
}

/// A row of `found_keys`.
package struct StoredKeys: Hashable, Sendable {
    /// Where to go on after it.
    package let position: Int64
    package let sealed: SealedKeys
    /// Added by a replay, after the request's end.
    package let isLate: Bool

    init(_ row: Row<FoundKeyColumn>) throws {
        position = row.int64(.id)
        sealed = SealedKeys(
            request: try row.requestID(.requestID),
            name: KeyName(store: row.store(.store), key: row.text(.name)),
            keyID: row.text(.keyID),
            ownKey: row.blob(.ownKey),
            sealedIDs: row.blob(.sealedIDs)
        )
        isLate = row.bool(.isLate)
    }
}
