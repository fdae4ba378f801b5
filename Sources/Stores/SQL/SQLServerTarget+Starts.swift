import Engine
import Lifecycle

extension SQLServerTarget {
    /// Takes back what the answers say of rules to which nothing led, where no row is loose.
    ///
    /// After an error, or where looking takes too long, it stays.
    func judged(_ answers: [PurgeAnswer]) async -> [PurgeAnswer] {
        var firm: Set<PurgeCounts.Entry> = []
        let unknown = { (_: EffectFailure) in true }
        for entry in Set(answers.flatMap(\.unreached)) {
            let starts = (plan?.tables ?? []).compactMap(\.start).filter { $0.entry == entry }
            guard !starts.isEmpty else { continue }
            let isLoose = await answering(unknown) { signal throws(SQLError) in
                let session = try connected(signal)
                for start in starts {
                    if try session.count(start.looseSQL) > 0 { return true }
                }
                return false
            }
            if !isLoose { firm.insert(entry) }
        }
        return answers.map { $0.without(firm) }
    }
}
