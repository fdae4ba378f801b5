import Lifecycle

/// What a sweep found of one user by one rule.
struct SweepCounter {
    var count = 0
    /// Newer than the cutoff.
    var newerCount = 0
    /// Of the count, those without a date where others have one.
    var undatedCount = 0
    /// Something is dated later than any date can be.
    var isAhead = false
    /// Counting stopped at a bound.
    var isCut = false

    /// The line of the receipt.
    func entry(_ rule: String, _ action: PlanItem.Action = .delete) -> PurgeCounts.Entry {
        .init(name: rule, action: .rule(action), rowCount: count, newerCount: newerCount)
    }
}
