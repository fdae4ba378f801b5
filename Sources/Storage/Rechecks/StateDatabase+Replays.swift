import Ledger
package import Lifecycle

/// What a replay is about to erase in a store, as rows of `begun_replays`.
///
/// A row is there from before the store is asked until the commit that records the outcome. One
/// that a replay leaves behind says that the data was there, and may have gone uncounted.
extension StateDatabase {
    /// Returns those that an earlier replay noted and did not finish.
    package func beginReplay(
        of erasures: [BegunErasure],
        in store: StoreName
    ) async throws -> Set<BegunErasure> {
        try await writer.perform { database in
            let known = try erasures.filter { begun in
                try database.run(
                    BegunReplayColumn.insertion + " ON CONFLICT DO NOTHING",
                    BegunReplayColumn.row([
                        .store: .text(store.rawValue), .requestID: .id(begun.request),
                        .hash: .blob(begun.hash),
                    ])
                ) == 0
            }
            return Set(known)
        }
    }

    /// What was begun in a store and has not ended, by request.
    package func begunReplays(in store: StoreName) async throws -> [BegunErasure] {
        try await all(
            BegunReplayColumn.self,
            "FROM begun_replays WHERE store = ? ORDER BY request_id, hash",
            [.text(store.rawValue)]
        ) { BegunErasure(request: try $0.requestID(.requestID), hash: $0.blob(.hash)) }
    }

    /// Records what was erased again, some hundred at most, and deletes its rows, in one commit.
    ///
    /// A resumed erasure that found nothing has no `rows`. What was not there and was not begun
    /// before gets no entry.
    package func endReplay(
        of ended: [EndedErasure],
        in store: StoreName,
        at now: WallTime
    ) async throws {
        try await write { database, appender in
            for ended in ended {
                try database.run(
                    "DELETE FROM begun_replays WHERE store = ? AND request_id = ? AND hash = ?",
                    [.text(store.rawValue), .id(ended.begun.request), .blob(ended.begun.hash)]
                )
                guard ended.rows > 0 || ended.isResumed else { continue }
                var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
                    (.request, .id(ended.begun.request.value)), (.store, .word(store.rawValue)),
                ]
                if ended.rows > 0 { values.append((.rows, .number(Int64(ended.rows)))) }
                appender.write("replayed", values, ended.isResumed ? "resumed" : nil, at: now)
            }
        }
    }

    /// For an older copy of the state, which does not know what became of it.
    package func forgetBegunReplays() async throws {
        _ = try await writer.perform { try $0.run("DELETE FROM begun_replays") }
    }
}

private enum BegunReplayColumn: Int32, Columns {
    case store, requestID, hash

    static let insertion = insertion(of: allCases, into: "begun_replays")
}
