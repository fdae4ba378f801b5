internal import Engine
internal import Lifecycle

/// Keeps a database from being asked for users whose ids its columns spell otherwise: it would find
/// nothing, and that would be called erased.
struct Misspelling {
    /// Of the columns that have rows erased.
    private let types: Set<IDType>

    init(_ rules: [TableRule]) {
        types = Set(rules.filter { $0.action != .keep }.map(\.idType))
    }

    /// Whether any of the columns spells the id of an order otherwise.
    func concerns(_ order: PurgeOrder) -> Bool { types.contains { $0.isMisspelled(order.user) } }

    /// Those that can be worked on.
    func fit(_ orders: [PurgeOrder]) -> [PurgeOrder] { orders.filter { !concerns($0) } }

    /// An answer for each order.
    ///
    /// - Parameters:
    ///   - answers: Of those that ``fit(_:)``, in their order.
    ///   - trouble: What the others are answered.
    ///   - orders: All.
    /// - Returns: As many as there are orders.
    func merged<Answer>(
        _ answers: [Answer],
        elsewhere trouble: Answer,
        _ orders: [PurgeOrder]
    ) -> [Answer] {
        var rest = answers[...]
        return orders.map { concerns($0) ? trouble : rest.removeFirst() }
    }
}
