/// Works on the orders of one call a few at a time, for stores that take one user, or one object,
/// per request.
enum OrderPool {
    /// Enough to hide the latency of one request behind others, few enough for any quota.
    static let widthMax = 8

    /// - Returns: One answer per order, in their order.
    static func map<Order: Sendable, Answer: Sendable>(
        _ orders: [Order],
        _ body: @escaping @Sendable (Order) async -> Answer
    ) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            var answers = [Answer?](repeating: nil, count: orders.count)
            var next = 0
            while next < min(widthMax, orders.count) {
                let (index, order) = (next, orders[next])
                group.addTask { (index, await body(order)) }
                next += 1
            }
            while let (index, answer) = await group.next() {
                answers[index] = answer
                guard next < orders.count else { continue }
                let (following, order) = (next, orders[next])
                group.addTask { (following, await body(order)) }
                next += 1
            }
            return answers.compactMap(\.self)
        }
    }
}
