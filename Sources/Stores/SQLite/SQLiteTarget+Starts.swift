import Engine
import Lifecycle

extension SQLiteTarget: LooseRowCounting {
    var notes: (any NoteStore)? { configuration.notes }

    func looseCount(of entry: PurgeCounts.Entry) async -> Int? {
        let unknown = { (_: EffectFailure) in nil as Int? }
        return await answering(unknown) {
            let plan = try await ready()
            var found: Int?
            for table in plan.tables where table.start?.entry.isSame(as: entry) ?? false {
                guard let counting = table.work.loose else { continue }
                let start = SQLiteRowCount(.byTable)
                let counted = try await count(nil, from: start, of: table, counting, plan)
                found = (found ?? 0) + counted.found
            }
            return found
        }
    }
}
