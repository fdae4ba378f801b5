import Engine
import Lifecycle

extension SQLiteStore: OrphanCounting {
    var sqlConfiguration: any SQLConfiguration { configuration }

    func chainStarts() async -> [ChainStart] {
        let none = { (_: EffectFailure) in [ChainStart]() }
        return await answering(none) { try await ready().tables.compactMap(\.start) }
    }

    func orphanCount(of starts: [ChainStart], upTo limit: Int) async -> Int? {
        let unknown = { (_: EffectFailure) in nil as Int? }
        return await answering(unknown) {
            let plan = try await ready()
            let tables = plan.tables.filter { $0.start?.entry == starts.first?.entry }
            // The schema may have changed since.
            guard tables.compactMap(\.start?.orphanSQL) == starts.map(\.orphanSQL) else {
                return nil
            }
            var found = 0
            for table in tables where found < limit {
                guard let counting = table.work.orphans else { return nil }
                let (start, left) = (SQLiteRowCount(.byTable), limit - found)
                let counted = try await count(nil, from: start, of: table, counting, plan) {
                    $0.found >= left
                }
                found += counted.found
            }
            return found
        }
    }
}

extension SQLiteStore {
    /// Looks at the next orders, at least at one, for values of the user in another spelling, to
    /// which nothing leads after the work.
    func look(
        at orders: [PurgeOrder],
        _ holds: [RowFilter],
        _ progress: inout SQLitePurgeProgress
    ) async throws {
        let begun = clock.uptime()
        progress.skipAnswered()
        while progress.looked < orders.count,
            progress.looked <= progress.next || clock.uptime() - begun < SQLLimits.groupGoal
        {
            let order = orders[progress.looked]
            do {
                let found = try await sparing(holds) { plan, _ in try await spelling(order, plan) }
                if let found { progress.answers[progress.looked] = .failure(.blocked(found)) }
            } catch let error as SQLError where error.obstacle != nil {
                progress.answers[progress.looked] = .failure(error.failure)
            }
            progress.looked += 1
        }
    }

    private func spelling(_ order: PurgeOrder, _ plan: Plan) async throws -> Obstacle? {
        for table in plan.tables {
            guard let counting = table.work.spelled else { continue }
            let start = SQLiteRowCount(.byUser)
            let found = try await count(order, from: start, of: table, counting, plan) {
                $0.found > 0
            }
            if found.found > 0 { return table.rule.nonCanonical }
        }
        return nil
    }
}
