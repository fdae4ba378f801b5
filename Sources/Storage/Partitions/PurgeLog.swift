import Engine
import Lifecycle

/// The purges that have begun, which the mass-deletion guard counts.
struct PurgeLog {
    enum Column: Int32, Columns {
        case second, count
    }

    /// Adds to what a second has.
    static let addition =
        Column.insertion(of: Column.allCases, into: "purge_log") + " " + merging
    static let merging =
        "ON CONFLICT (second) DO UPDATE SET count = purge_log.count + excluded.count"

    let database: any StateConnection

    /// To the second.
    func count(since time: WallTime) throws -> Int {
        try database.int(
            "SELECT sum(count) FROM purge_log WHERE second >= ?",
            [.int(time.unixMilliseconds / 1000)]
        )
    }

    /// Refuses changes that begin more purges than are allowed in an hour.
    ///
    /// Those of an override pass as far as any of it is left. Each host counts what all have
    /// committed, so that no two use up the same room.
    ///
    /// - Throws: ``StorageError`` of kind `guardClosed`.
    func admit(_ changes: [StateChange], max: Int, at now: WallTime) throws {
        let begun = changes.count { $0.beginsPurge }
        guard begun > 0 else { return }
        let overridden = changes.reduce(0) { $0 + $1.overriddenCount }
        let allowed =
            overridden == 0
            ? 0 : try StateDatabase.guardOverride(at: now, database)?.purges ?? 0
        let counted = begun - min(overridden, allowed)
        let recent = try count(since: now - .seconds(3600))
        guard counted > 0, recent + counted > max else { return }
        var error = StorageError(.guardClosed, "begin purges", at: "purge_log")
        error.purgesInLastHour = recent
        throw error
    }
}

extension StateChange {
    fileprivate var beginsPurge: Bool {
        guard case .save(let now, let was, _) = self else { return false }
        return now.purgeStartedAt != nil && was.purgeStartedAt == nil
    }

    fileprivate var overriddenCount: Int {
        guard case .useGuardOverride(let purges, _) = self else { return 0 }
        return purges
    }
}
