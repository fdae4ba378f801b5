import Lifecycle
import Synchronization

/// Works on the orders of one call a few at a time, for stores that take one user, or one object,
/// per request.
enum OrderPool {
    /// Enough to hide the latency of one request behind others, few enough for any quota.
    static let widthMax = 8

    /// - Returns: One answer per order, in their order.
    static func map<Order: Sendable, Answer: Sendable>(
        _ orders: [Order],
        width: Int = widthMax,
        _ body: @escaping @Sendable (Order) async -> Answer
    ) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            var answers = [Answer?](repeating: nil, count: orders.count)
            for (index, order) in orders.enumerated() {
                if index >= width, let (index, answer) = await group.next() {
                    answers[index] = answer
                }
                group.addTask { (index, await body(order)) }
            }
            for await (index, answer) in group { answers[index] = answer }
            return answers.compactMap(\.self)
        }
    }
}

/// The first failure that every further call of a store would meet: the rest is not asked.
final class Halt: Sendable {
    private let state = Mutex<EffectFailure?>(nil)

    var failure: EffectFailure? { state.withLock { $0 } }

    func note(_ failure: EffectFailure) {
        guard failure.isOfAll else { return }
        state.withLock { $0 = $0 ?? failure }
    }
}
