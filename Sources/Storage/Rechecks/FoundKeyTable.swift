import Engine
import Lifecycle

/// Ids that were found for other stores, sealed, as rows of `found_keys`.
///
/// Deleting a row destroys its key: with the request's recheck record, with its end when there are
/// no rechecks, or (`is_late`) when the replay that added it has used it.
struct FoundKeyTable {
    let database: any StateConnection

    /// `isLate` is `nil` where the end of the request decides; a request that is not known here, as
    /// after a restore of a machine, has ended.
    func insert(_ keys: SealedKeys, isLate: Bool? = nil) throws {
        try database.run(
            FoundKeyColumn.insertion,
            [
                .id(keys.request), .text(keys.name.store.rawValue), .text(keys.name.key),
                .text(keys.keyID), .blob(keys.ownKey), .blob(keys.sealedIDs),
                keys.hashes.isEmpty ? .null : .blob(keys.hashes.flatMap { $0 }),
                isLate.map { .bool($0) } ?? .null,
            ]
        )
    }

    /// In the order in which it was found.
    func all(of request: RequestID, as name: KeyName) throws -> [StoredKeys] {
        try database.all(
            FoundKeyColumn.self,
            """
            FROM found_keys WHERE request_id = ? AND store = ? AND name = ? ORDER BY id
            """,
            [.id(request), .text(name.store.rawValue), .text(name.key)],
            body: StoredKeys.init
        )
    }

    /// The names under which rechecks keep something.
    func names(ofRecheck request: RequestID) throws -> [KeyName] {
        try database.all(
            "SELECT DISTINCT store, name FROM found_keys WHERE request_id = ? AND is_late = 0",
            [.id(request)]
        ) { KeyName(store: $0.store("store"), key: $0.text("name")) }
    }

    /// Destroys what ended requests needed, unless there are rechecks; tombstones stay.
    func forget(ended: [(request: Request, at: WallTime)], _ appender: LedgerAppender) throws {
        // Few have such stores; the others pay one query for each batch.
        guard try database.has("SELECT 1 FROM found_keys LIMIT 1") else { return }
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

extension SealedKeys {
    /// The key and what it seals, in the order of the columns.
    var values: [SQLValue] { [.text(keyID), .blob(ownKey), .blob(sealedIDs)] }
}
