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
        trouble: (Trouble) -> Answer
    ) async -> [Answer] {
        var answers: [Answer] = []
        var halt: Trouble?
        for order in orders {
            if let halt {
                answers.append(trouble(halt))
                continue
            }
            do throws(GoogleFailure) {
                answers.append(try await body(order))
            } catch {
                answers.append(trouble(error.trouble))
                if error.trouble != .unusable { halt = error.trouble }
            }
        }
        return answers
    }
}
