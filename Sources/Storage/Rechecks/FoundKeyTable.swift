import Engine
import GRDB
import Lifecycle

/// Ids that were found for other stores, sealed, as rows of `found_keys`.
///
/// Deleting a row destroys its key. Rows are added while a request is open. They are deleted with
/// its recheck record, or with its end when there are no rechecks. Rows that a replay adds to an
/// ended request (`is_late`) are deleted when the replay has used them.
struct FoundKeyTable {
    /// The vault keys that rows need; one seek in the index for each.
    static let keyIDs = """
        WITH RECURSIVE found_key_keys (id) AS (
          SELECT min(key_id) FROM found_keys
          UNION ALL
          SELECT (SELECT min(key_id) FROM found_keys WHERE key_id > found_key_keys.id)
          FROM found_key_keys WHERE found_key_keys.id IS NOT NULL
        )
        SELECT id FROM found_key_keys WHERE id IS NOT NULL
        """

    let database: Database

    /// Inserts what was found; `isLate` is `nil` where the end of the request decides.
    ///
    /// A request that is not known here, as after a restore of a machine, has ended.
    func insert(_ keys: SealedKeys, isLate: Bool? = nil) throws {
        try database.run(
            """
            INSERT INTO found_keys
              (request_id, target, name, key_id, own_key, sealed_ids, hashes, is_late)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
              coalesce(?8, (SELECT ended_at IS NOT NULL FROM requests WHERE id = ?1), 1))
            """,
            [
                .id(keys.request), .text(keys.name.target.rawValue), .text(keys.name.key),
                .text(keys.keyID), .blob(keys.ownKey), .blob(keys.sealedIDs),
                keys.hashes.isEmpty ? .null : .blob(keys.hashes.flatMap { $0 }),
                isLate.map { .bool($0) } ?? .null,
            ]
        )
    }

    /// What is stored for a request, in the order in which it was found.
    func all(of request: RequestID, as name: KeyName) throws -> [StoredKeys] {
        try database.all(
            FoundKeyColumn.self,
            """
            FROM found_keys WHERE request_id = ? AND target = ? AND name = ? ORDER BY id
            """,
            [.id(request), .text(name.target.rawValue), .text(name.key)],
            body: StoredKeys.init
        )
    }

    /// The names under which something is kept for rechecks.
    func names(ofRecheck request: RequestID) throws -> [KeyName] {
        try database.all(
            "SELECT DISTINCT target, name FROM found_keys WHERE request_id = ? AND is_late = 0",
            [.id(request)]
        ) { KeyName(target: $0.target("target"), key: $0.text("name")) }
    }

    /// Destroys what requests needed that have ended, unless there are rechecks; tombstones of
    /// what was erased stay.
    func forget(ended: [(request: Request, at: WallTime)], _ appender: LedgerAppender) throws {
        // Few have such stores; the others pay one query for each batch.
        guard
            try database.first("SELECT EXISTS (SELECT 1 FROM found_keys)", body: { $0.bool() })
                == true
        else { return }
        let tombstones = KeyTombstoneWriter(database: database, appender: appender)
        for (request, time) in ended {
            if request.isErasure {
                try tombstones.bury(request.id, isLate: false, at: request.endedAt ?? time)
            }
            try database.run(
                """
                DELETE FROM found_keys WHERE request_id = ?1 AND is_late = 0
                  AND NOT EXISTS (SELECT 1 FROM rechecks WHERE request_id = ?1)
                """,
                [.id(request.id)]
            )
        }
    }

    /// Destroys what closed rechecks needed.
    func forget(recheckOf request: RequestID) throws {
        try database.run(
            "DELETE FROM found_keys WHERE request_id = ? AND is_late = 0",
            [.id(request)]
        )
    }
}
