import Engine
import Lifecycle

extension SQLServerTarget: LooseRowCounting {
    var notes: (any NoteStore)? { configuration.notes }

    func looseCount(of entry: PurgeCounts.Entry) async -> Int? {
        let starts = (plan?.tables ?? []).compactMap(\.start).filter { $0.entry.isSame(as: entry) }
        guard !starts.isEmpty else { return nil }
        let unknown = { (_: EffectFailure) in nil as Int? }
        return await answering(unknown) { signal throws(SQLError) -> Int? in
            let session = try connected(signal)
            var count = 0
            for start in starts { count += try session.count(start.looseSQL) }
            return count
        }
    }
}
