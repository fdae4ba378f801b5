import Engine
import Lifecycle

extension SQLSessionStore: OrphanCounting {
    var sqlConfiguration: any SQLConfiguration { configuration }

    func chainStarts() async -> [ChainStart] {
        let none = { (_: EffectFailure) in [ChainStart]() }
        return await answering(none) { signal throws(SQLError) -> [ChainStart] in
            try ready(signal).plan.tables.compactMap(\.start)
        }
    }

    func orphanCount(of starts: [ChainStart], upTo limit: Int) async -> Int? {
        let unknown = { (_: EffectFailure) in nil as Int? }
        return await answering(unknown) { signal throws(SQLError) -> Int? in
            let session = try connected(signal)
            var count = 0
            for start in starts where count < limit {
                count += try session.count(start.orphanSQL, SQLParameters(limit: limit - count))
            }
            return count
        }
    }
}

/// A plan with the times of its schema.
struct DatedPlan<Dialect: SQLDialect>: Sendable {
    let plan: SQLPlan<Dialect>
    /// When the schema was read, as uptime.
    let at: Duration
    let lifetime: Duration
    /// ``SQLSession/mark(of:)`` of the schema.
    let mark: String
}
