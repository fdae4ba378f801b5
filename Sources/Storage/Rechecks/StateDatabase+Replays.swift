import GRDB
import Ledger
package import Lifecycle

/// What a replay is about to erase in a store, as rows of `begun_replays`.
///
/// A row is there before the store is asked to erase. The commit that records the outcome deletes
/// it. If a replay leaves one behind, the user's data was there again, and may have gone uncounted.
/// A row names no user: it has what the tombstone has.
extension StateDatabase {
    /// Notes what is about to be erased again in a store, all in one commit.
    ///
    /// Returns those that an earlier replay noted and did not finish.
    package func beginReplay(
        of erasures: [BegunErasure],
        in target: TargetName
    ) async throws -> Set<BegunErasure> {
        try await writer.perform { database in
            let known = try erasures.filter { begun in
                try database.run(
                    "INSERT INTO begun_replays VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    [.text(target.rawValue), .id(begun.request), .blob(begun.hash)]
                ) == 0
            }
            return Set(known)
        }
    }

    /// What was begun in a store and has not ended, by request.
    package func begunReplays(in target: TargetName) async throws -> [BegunErasure] {
        try await read { database in
            try database.all(
                """
                SELECT request_id, hash FROM begun_replays
                WHERE target = ? ORDER BY request_id, hash
                """,
                [.text(target.rawValue)]
            ) { BegunErasure(request: try $0.requestID("request_id"), hash: $0.blob("hash")) }
        }
    }

    /// Records what was erased again, some hundred at most, and deletes its rows, in one commit.
    ///
    /// The entry of a resumed erasure that found nothing has no `rows`: their number is unknown.
    /// What was not there and was not begun before gets no entry.
    package func endReplay(
        of ended: [EndedErasure],
        in target: TargetName,
        at now: WallTime
    ) async throws {
        try await write { database, appender in
            for ended in ended {
                try database.run(
                    "DELETE FROM begun_replays WHERE target = ? AND request_id = ? AND hash = ?",
                    [.text(target.rawValue), .id(ended.begun.request), .blob(ended.begun.hash)]
                )
                guard ended.rows > 0 || ended.isResumed else { continue }
                var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
                    (.event, .word("replayed")), (.request, .id(ended.begun.request.value)),
                    (.target, .word(LedgerEntry.plain(target.rawValue))),
                ]
                if ended.isResumed { values.append((.detail, .word("resumed"))) }
                if ended.rows > 0 { values.append((.rows, .number(Int64(ended.rows)))) }
                appender.write(LedgerEntry(at: now, values))
            }
        }
    }

    /// Forgets all that was begun: this state is an older copy and does not know what became of it.
    package func forgetBegunReplays() async throws {
        _ = try await writer.perform { try $0.run("DELETE FROM begun_replays") }
    }
}
