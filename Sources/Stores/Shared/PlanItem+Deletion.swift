import Lifecycle

extension PlanItem {
    /// What a deletion will do, from a line that its receipt would have: delete, or pass over.
    init(deletion entry: PurgeCounts.Entry, hasNoTimestamps: Bool = false) {
        let reason = entry.passedOverReason
        self.init(
            name: entry.name,
            action: reason == nil ? .delete : .keep,
            reason: reason,
            count: entry.rowCount,
            newerCount: entry.newerCount,
            hasNoTimestamps: hasNoTimestamps
        )
    }
}
