import Engine
import Lifecycle

/// Works on one user after another, for stores where one user can be a lot of work.
enum GoogleOrders {
    /// Once the store is gone, refuses or is overloaded, the rest is not tried.
    ///
    /// - Returns: One answer per order, in their order.
    static func map<Answer: Sendable>(
        _ orders: [PurgeOrder],
        _ body: (PurgeOrder) async throws(GoogleFailure) -> Answer,
        failure: (EffectFailure) -> Answer
    ) async -> [Answer] {
        var answers: [Answer] = []
        var halt: EffectFailure?
        for order in orders {
            if let halt {
                answers.append(failure(halt))
                continue
            }
            do throws(GoogleFailure) {
                answers.append(try await body(order))
            } catch {
                answers.append(failure(error.failure))
                if error.failure != .unusable { halt = error.failure }
            }
        }
        return answers
    }
}
