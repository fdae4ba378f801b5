internal import Engine
internal import Lifecycle

/// Keeps a database from being asked for users whose ids its columns spell otherwise: it would find
/// nothing, and that would be called erased.
struct NonCanonicalID {
    /// One rule that erases for each way to store ids, by the order of the types.
    private let rules: [TableRule]

    init(_ rules: [TableRule]) {
        // What other rules follow may be kept itself.
        let isFollowed = rules.contains { $0.via != nil }
        let roots = rules.filter { $0.via == nil && ($0.action != .keep || isFollowed) }
        var found: [TableRule] = []
        for rule in roots
        where !found.contains(where: {
            $0.idType == rule.idType && $0.idTemplate == rule.idTemplate
        }) {
            found.append(rule)
        }
        self.rules = IDType.allCases.flatMap { type in found.filter { $0.idType == type } }
    }

    /// Whether any of the columns spells the id of an order otherwise.
    func concerns(_ order: PurgeOrder) -> Bool {
        rules.contains { $0.isNonCanonical(order.user) }
    }

    func failure(_ order: PurgeOrder) -> EffectFailure {
        let rule = rules.first { $0.isNonCanonical(order.user) }
        return .blocked(rule?.nonCanonical ?? Obstacle(.spelling))
    }

    func fit(_ orders: [PurgeOrder]) -> [PurgeOrder] { orders.filter { !concerns($0) } }

    /// An answer for each order, from the answers of those that ``fit(_:)``.
    func merged<Answer>(
        _ answers: [Answer],
        _ orders: [PurgeOrder],
        elsewhere answer: (EffectFailure) -> Answer
    ) -> [Answer] {
        var rest = answers[...]
        return orders.map { concerns($0) ? answer(failure($0)) : rest.removeFirst() }
    }
}

extension TableRule {
    var nonCanonical: Obstacle { Obstacle(.spelling, at: table, name: column) }

    var future: Obstacle { Obstacle(.future, at: table, name: creation?.column) }
}
