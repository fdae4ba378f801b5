package import Engine
internal import GRDB
package import Lifecycle

extension SQLiteTarget: KeySource {
    /// Reads the ids in users' rows, in short read transactions.
    package func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        let (answers, failure) = await answers(orders.count, by: key) { transaction, place in
            try transaction.find(orders[place...])
        }
        let missing = orders.count - answers.count
        return answers + Array(repeating: .failure(failure ?? .lost), count: missing)
    }

    /// Counts the rows that name each id, in short read transactions.
    package func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        let (answers, failure) = await answers(ids.count, by: key) { transaction, place in
            try transaction.named(ids[place...], besides: orders)
        }
        if let failure { return .failure(failure) }
        return .named(Set(zip(ids, answers).filter(\.1).map(\.0)))
    }

    /// Asks in one transaction after the other until there are so many answers.
    private func answers<Answer: Sendable>(
        _ count: Int,
        by name: String,
        _ ask: @escaping @Sendable (KeyTransaction, Int) throws -> [Answer]
    ) async -> (answers: [Answer], failure: EffectFailure?) {
        var answers: [Answer] = []
        var schemaTries = 0
        while answers.count < count {
            do {
                let (queue, plan) = try await ready()
                guard let key = plan.keys.first(where: { $0.rule.name == name }) else {
                    return (answers, .misconfigured)
                }
                let (target, clock, place) = (self.name, clock, answers.count)
                answers += try await queue.writeWithoutTransaction { db in
                    let transaction = KeyTransaction(
                        db: db,
                        plan: plan,
                        key: key,
                        target: target,
                        clock: clock
                    )
                    return try ask(transaction, place)
                }
            } catch {
                let error = TargetError(error, target: self.name)
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else { return (answers, error.failure) }
            }
        }
        return (answers, nil)
    }
}
