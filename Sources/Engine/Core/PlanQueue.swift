import DequeModule
import Lifecycle

/// Requests that wait for their plan; few are made at once.
struct PlanQueue: Sendable {
    private var waiting = Deque<RequestID>()
    private(set) var underWay = 0

    mutating func enqueue(_ id: RequestID) { waiting.append(id) }

    mutating func next() -> RequestID? {
        guard underWay < Limits.plansAtOnce, let id = waiting.popFirst() else { return nil }
        underWay += 1
        return id
    }

    mutating func remove(_ requests: Set<RequestID>) {
        waiting.removeAll { requests.contains($0) }
    }

    mutating func finished() { underWay -= 1 }
}
