import Engine
import Lifecycle

extension SQLiteTarget {
    /// Takes back what the answers say of rules to which nothing led, where no row is loose.
    ///
    /// After an error, or where looking takes too long, it stays.
    func judged(
        _ answers: [PurgeAnswer],
        of orders: [PurgeOrder]
    ) async -> [PurgeAnswer] {
        var isLoose: [PurgeCounts.Entry: Bool] = [:]
        let unknown = { (_: EffectFailure) in true }
        for (order, answer) in zip(orders, answers) {
            for entry in answer.unreached where isLoose[entry] == nil {
                isLoose[entry] = await answering(unknown) {
                    try await hasLooseRows(entry, order)
                }
            }
        }
        let firm = Set(isLoose.filter { !$0.value }.keys)
        return answers.map { $0.without(firm) }
    }

    private func hasLooseRows(
        _ entry: PurgeCounts.Entry,
        _ order: PurgeOrder
    ) async throws -> Bool {
        let plan = try await ready()
        let tables = plan.tables.filter { $0.start?.entry == entry }
        for table in tables {
            guard let counting = table.work.loose else { return true }
            let counted = try await count(
                order,
                from: SQLiteRowCount(.byTable),
                of: table,
                counting,
                plan,
                until: { $0.found > 0 }
            )
            if counted.found > 0 { return true }
        }
        return tables.isEmpty
    }
}
