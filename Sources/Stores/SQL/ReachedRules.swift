import Engine
import Lifecycle

/// The rules that pieces of purges have reached whose ends are not known, for their next tries.
struct ReachedRules {
    private struct Place: Hashable {
        let request: RequestID
        let partitionKey: String?
    }

    private var rules: [Place: [TableRule: ChainStart.Lead]] = [:]

    subscript(order: PurgeOrder) -> [TableRule: ChainStart.Lead] {
        get { rules[Self.place(of: order)] ?? [:] }
        set {
            // Without it a receipt says less than it could.
            if rules.count >= Limits.windowMax { rules.removeAll() }
            rules[Self.place(of: order)] = newValue.isEmpty ? nil : newValue
        }
    }

    /// Forgets what has come to its end.
    mutating func forget(_ orders: [PurgeOrder], _ answers: [PurgeAnswer]) {
        guard !rules.isEmpty else { return }
        for (order, answer) in zip(orders, answers) where answer.counts != nil {
            rules[Self.place(of: order)] = nil
        }
    }

    private static func place(of order: PurgeOrder) -> Place {
        Place(request: order.request, partitionKey: order.partitionKey)
    }
}
