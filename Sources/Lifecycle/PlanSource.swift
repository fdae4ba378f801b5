/// Where a part of a plan comes from.
package enum PlanSource: Hashable, Sendable {
    case asked(StoreName)
    /// The store is asked; something of the part that was approved may be gone by now.
    case rest(of: PurgePlan.Part)
    /// The part stays as it was: the store's purge does not begin now, or is over.
    case kept(PurgePlan.Part)

    package var store: StoreName {
        switch self {
        case .asked(let store): store
        case .rest(let part), .kept(let part): part.store
        }
    }

    /// The approved part where what is left is no more than that.
    package func part(of made: PurgePlan.Part) -> PurgePlan.Part {
        switch self {
        case .asked: made
        case .rest(let approved): made.isRest(of: approved) ? approved : made
        case .kept(let part): part
        }
    }
}

extension PurgePlan.Part {
    /// Whether it can be what a purge of the other part that broke off has left: nothing else is
    /// done, and nothing to more.
    fileprivate func isRest(of approved: PurgePlan.Part) -> Bool {
        guard rules == approved.rules else { return false }
        guard let items, let before = approved.items else {
            return items == nil && approved.items == nil
        }
        return items.allSatisfy { item in
            let same: (PlanItem) -> Bool = {
                $0.name == item.name && $0.action == item.action && $0.reason == item.reason
            }
            let bounds = before.filter(same)
            guard !bounds.isEmpty else { return item.count == 0 || item.action == .keep }
            guard item.action != .keep, !bounds.contains(where: \.isBounded) else { return true }
            let left = items.filter(same)
            return !left.contains(where: \.isBounded)
                && left.reduce(0) { $0 + $1.count } <= bounds.reduce(0) { $0 + $1.count }
        }
    }
}
