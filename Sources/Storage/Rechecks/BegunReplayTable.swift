import GRDB
import Lifecycle

/// What a replay is about to erase in a target, as rows of `begun_replays`.
///
/// A row is there before the store is asked to erase, and goes in the commit that says what became
/// of it. One that a replay left behind tells that the user's data was there again, and may have
/// gone uncounted. It names nobody: of the user it has what the tombstone has.
struct BegunReplayTable {
    let database: Database

    /// Returns `false` for one that is there.
    func insert(_ begun: BegunErasure, in target: TargetName) throws -> Bool {
        try database.run(
            "INSERT INTO begun_replays VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [.text(target.rawValue), .id(begun.request), .blob(begun.hash)]
        ) > 0
    }

    func delete(_ begun: BegunErasure, in target: TargetName) throws {
        try database.run(
            "DELETE FROM begun_replays WHERE target = ? AND request_id = ? AND hash = ?",
            [.text(target.rawValue), .id(begun.request), .blob(begun.hash)]
        )
    }

    /// Those of one target, by request.
    func all(in target: TargetName) throws -> [BegunErasure] {
        try database.all(
            """
            SELECT request_id, hash FROM begun_replays
            WHERE target = ? ORDER BY request_id, hash
            """,
            [.text(target.rawValue)]
        ) { BegunErasure(request: try $0.requestID("request_id"), hash: $0.blob("hash")) }
    }
}
