import GRDB
import Ledger
package import Lifecycle

/// Erasures that a replay repeats.
extension StateDatabase {
    /// Notes what is about to be erased again in a target, all in one commit.
    ///
    /// Returns those that an earlier replay noted and did not finish.
    package func beginReplay(
        of erasures: [BegunErasure],
        in target: TargetName
    ) async throws -> Set<BegunErasure> {
        try await writer.perform { database in
            let table = BegunReplayTable(database: database)
            return Set(try erasures.filter { try !table.insert($0, in: target) })
        }
    }

    /// What was begun in a target and has not ended.
    package func begunReplays(in target: TargetName) async throws -> [BegunErasure] {
        try await read { try BegunReplayTable(database: $0).all(in: target) }
    }

    /// Records what was erased again, and that it is begun no more, in one commit.
    ///
    /// An entry has no `rows` where only a replay that was cut off may have taken some: how many
    /// nobody knows. Of what was not there, and was not begun before, there is no entry.
    ///
    /// - Parameters:
    ///   - ended: Some hundred at most.
    ///   - target: Where.
    ///   - now: The time of the entries.
    /// - Throws: ``StorageError``: nothing was recorded.
    package func endReplay(
        of ended: [EndedErasure],
        in target: TargetName,
        at now: WallTime
    ) async throws {
        let appender = appender
        try await writer.perform { database in
            let table = BegunReplayTable(database: database)
            for ended in ended {
                try table.delete(ended.begun, in: target)
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

    /// Forgets all that was begun: this state is an older copy, and what became of it is told by
    /// none of its rows.
    package func forgetBegunReplays() async throws {
        _ = try await writer.perform { try $0.run("DELETE FROM begun_replays") }
    }
}
