import Lifecycle

/// The plans of several ids, added up by what is done where.
struct PlannedItems {
    /// What nobody owns any more goes whole, so that a missing time is no matter.
    let isShared: Bool
    private(set) var all: [PlanItem] = []

    init(isShared: Bool) { self.isShared = isShared }

    mutating func add(_ items: [PlanItem]) {
        for item in items {
            let index = all.firstIndex {
                $0.name == item.name && $0.action == item.action && $0.reason == item.reason
            }
            let before = index.map { all[$0] }
            let sum = PlanItem(
                name: item.name,
                action: item.action,
                reason: item.reason,
                count: item.count + (before?.count ?? 0),
                isBounded: item.isBounded || before?.isBounded ?? false,
                newerCount: item.newerCount + (before?.newerCount ?? 0),
                undatedCount: isShared ? 0 : item.undatedCount + (before?.undatedCount ?? 0),
                hasNoTimestamps: !isShared && item.hasNoTimestamps
            )
            if let index { all[index] = sum } else { all.append(sum) }
        }
    }
}
