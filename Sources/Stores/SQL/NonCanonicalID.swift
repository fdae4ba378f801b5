internal import Engine
internal import Lifecycle

/// Keeps a database from being asked for users whose ids its columns spell otherwise: it would find
/// nothing, and that would be called erased.
struct NonCanonicalID {
    /// One rule that erases for each type of column.
    private let rules: [IDType: TableRule]

    init(_ rules: [TableRule]) {
        let erasing = rules.filter { $0.action != .keep }.map { ($0.idType, $0) }
        self.rules = Dictionary(erasing) { first, _ in first }
    }

    /// Whether any of the columns spells the id of an order otherwise.
    func concerns(_ order: PurgeOrder) -> Bool {
        rules.keys.contains { $0.isNonCanonical(order.user) }
    }

    func failure(_ order: PurgeOrder) -> EffectFailure {
        let rule = IDType.allCases.filter { $0.isNonCanonical(order.user) }
            .compactMap { rules[$0] }.first
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
