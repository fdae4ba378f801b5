package import Engine

/// One user's data key where it is stored.
package struct StoredUserKey: Hashable, Sendable {
    package let position: Int64
    package let userHash: [UInt8]
    package let key: WrappedKey
}

/// A data key that was wrapped anew.
package struct RewrappedKey: Hashable, Sendable {
    package let old: StoredUserKey
    package let key: WrappedKey

    package init(old: StoredUserKey, key: WrappedKey) {
        self.old = old
        self.key = key
    }
}

extension StateDatabase {
    /// How many data keys a vault key has wrapped so far; it must be rotated before 2^24.
    package func wrapCount(of keyID: String) async throws -> Int {
        try await read { database in
            try database.fact("wrap_count." + keyID).flatMap { Int($0) } ?? 0
        }
    }

    /// The ids of the vault keys in use; one seek in the index for each.
    package func vaultKeyIDs() async throws -> [String] {
        try await all(Self.vaultKeyIDQuery) { $0.text() }
    }

    private static let sealedTables = ["users", "rechecks", "found_keys", "addresses"]

    static let vaultKeyIDQuery =
        sealedTables.map { table in
            """
            SELECT id FROM (WITH RECURSIVE keys (id) AS (
              SELECT min(key_id) FROM \(table)
              UNION ALL
              SELECT (SELECT min(key_id) FROM \(table) WHERE key_id > keys.id) FROM keys
              WHERE keys.id IS NOT NULL
            )
            SELECT id FROM keys WHERE id IS NOT NULL) AS used
            """
        }.joined(separator: " UNION ") + " ORDER BY id"

    /// How many rows need each vault key; reads the indexes to the end.
    package func vaultKeyUse() async throws -> [String: Int] {
        try await read { database in
            let counts = Self.sealedTables.map {
                "SELECT key_id, count(*) AS count FROM \($0) GROUP BY key_id"
            }
            let rows = try database.all(counts.joined(separator: " UNION ALL ")) {
                ($0.text("key_id"), $0.int("count"))
            }
            return Dictionary(rows, uniquingKeysWith: +)
        }
    }

    /// A page of the data keys that one vault key wraps, after `position` (0 in the beginning).
    package func userKeys(
        wrappedBy keyID: String,
        after position: Int64,
        limit: Int
    ) async throws -> [StoredUserKey] {
        try await all(
            """
            SELECT id, user_hash, wrapped_key FROM users INDEXED BY users_key
            WHERE key_id = ? AND id > ? ORDER BY id LIMIT ?
            """,
            [.text(keyID), .int(position), .int(limit)]
        ) {
            StoredUserKey(
                position: $0.int64("id"),
                userHash: $0.blob("user_hash"),
                key: WrappedKey(bytes: $0.blob("wrapped_key"), keyID: keyID)
            )
        }
    }

    /// Stores data keys that were wrapped anew, in one commit, and returns how many.
    ///
    /// A key that is another one by now, or gone, stays so.
    package func replaceUserKeys(_ keys: [RewrappedKey]) async throws -> Int {
        try await writer.perform { database in
            var counts: [String: Int] = [:]
            for fresh in keys {
                counts[fresh.key.keyID, default: 0] += try database.run(
                    """
                    UPDATE users SET wrapped_key = ?, key_id = ?
                    WHERE user_hash = ? AND wrapped_key = ?
                    """,
                    [
                        .blob(fresh.key.bytes), .text(fresh.key.keyID), .blob(fresh.old.userHash),
                        .blob(fresh.old.key.bytes),
                    ]
                )
            }
            for (id, count) in counts { try Self.countWraps(count, by: id, database) }
            return counts.values.reduce(0, +)
        }
    }

    static func countWraps(_ count: Int, by keyID: String, _ database: any StateConnection) throws {
        try database.run(
            MetaColumn.wrapCount,
            [.text(keyID), .int(count)]
        )
    }

    /// Has ``runScrubs(delay:)`` take what was deleted out of our own files.
    package func requestScrub() { scrubSignal.send() }
}
