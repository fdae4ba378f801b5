internal import Engine
internal import Lifecycle

/// Keeps a database from being asked for users whose ids its columns spell otherwise: it would find
/// nothing, and that would be called erased.
struct NonCanonicalID {
    /// What has rows erased: one rule for each type of column.
    private let rules: [IDType: TableRule]

    init(_ rules: [TableRule]) {
        let erasing = rules.filter { $0.action != .keep }.map { ($0.idType, $0) }
        self.rules = Dictionary(erasing) { first, _ in first }
    }

    /// Whether any of the columns spells the id of an order otherwise.
    func concerns(_ order: PurgeOrder) -> Bool {
        rules.keys.contains { $0.isNonCanonical(order.user) }
    }

    /// What such an order is answered.
    func failure(_ order: PurgeOrder) -> EffectFailure {
        let rule = IDType.allCases.filter { $0.isNonCanonical(order.user) }
            .compactMap { rules[$0] }.first
        return .blocked(rule?.nonCanonical ?? Obstacle(.spelling))
    }

    /// Those that can be worked on.
    func fit(_ orders: [PurgeOrder]) -> [PurgeOrder] { orders.filter { !concerns($0) } }

    /// An answer for each order.
    ///
    /// - Parameters:
    ///   - answers: Of those that ``fit(_:)``, in their order.
    ///   - orders: All.
    ///   - answer: Makes an answer of the failure of one of the others.
    /// - Returns: As many as there are orders.
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
    /// Rows of the table may be the user's, in another spelling.
    var nonCanonical: Obstacle { Obstacle(.spelling, at: table, name: column) }

    /// Rows of the user have times that the clock has not shown yet.
    var future: Obstacle { Obstacle(.future, at: table, name: creation?.column) }
}
