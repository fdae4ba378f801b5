package import Engine
package import Lifecycle

extension PostgreSQLTarget: KeySource {
    /// Reads the ids in users' rows.
    package func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        await cancellable { signal in
            var answers: [KeysAnswer] = []
            for order in orders {
                do throws(PostgreSQLError) {
                    answers.append(try find(key, order, signal))
                } catch {
                    forget(after: error)
                    answers.append(.failure(error.failure))
                }
            }
            return answers
        }
    }

    /// Counts the rows that name each id; every count sees what was committed before it.
    package func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        await cancellable { signal in
            do throws(PostgreSQLError) {
                var named: Set<UserID> = []
                for id in ids where try isNamed(id, as: key, besides: orders, signal) {
                    named.insert(id)
                }
                return .named(named)
            } catch {
                forget(after: error)
                return .failure(error.failure)
            }
        }
    }

    private func find(
        _ name: String,
        _ order: PurgeOrder,
        _ signal: CancelSignal
    ) throws(PostgreSQLError) -> KeysAnswer {
        let (session, key) = try key(name, signal)
        guard let user = key.rule.idType.key(for: order.user)?.parameter else {
            return .found([])
        }
        let rows = try ask(
            key.findSQL,
            [user, cutoff(order), "\(Limits.keysMax + 1)"],
            session
        )
        let type = key.rule.valueType
        return type.ids(from: rows.rows.map { row in (row.first ?? nil).flatMap(type.value) })
    }

    private func isNamed(
        _ id: UserID,
        as name: String,
        besides orders: [PurgeOrder],
        _ signal: CancelSignal
    ) throws(PostgreSQLError) -> Bool {
        let (session, key) = try key(name, signal)
        guard let value = key.rule.valueType.key(for: id)?.parameter else { return false }
        let limit = orders.isEmpty ? 1 : TargetLimits.ownerRows + 1
        let user = key.rule.idType.sample
        let count = try ask(key.namedSQL, [user, "0", "\(limit)", value], session).integer(0)
        guard !orders.isEmpty, count <= TargetLimits.ownerRows else { return count > 0 }
        var ownCount = 0
        for order in orders {
            guard let user = key.rule.idType.key(for: order.user)?.parameter else { continue }
            ownCount += try ask(key.ownSQL, [user, cutoff(order), "\(limit)", value], session)
                .integer(0)
        }
        return count > ownCount
    }

    /// The session and the compiled key.
    private func key(
        _ name: String,
        _ signal: CancelSignal
    ) throws(PostgreSQLError) -> (PostgreSQLSession, PostgreSQLKeyPlan) {
        let (session, plan) = try ready(signal)
        guard let key = plan.keys.first(where: { $0.rule.name == name }) else {
            throw PostgreSQLError(.planRefused, target: self.name)
        }
        return (session, key)
    }
}

extension IDType {
    /// What the server wrote as text, as a value of the column.
    fileprivate func value(_ text: String) -> BoundValue? {
        switch self {
        case .text, .uuid: .text(Array(text.utf8))
        case .integer: Int64(text).map { .integer($0) }
        case .blob: UserID(text).flatMap { key(for: $0) }
        }
    }
}
