/// What one recheck of a completed deletion found.
package struct Recheck: Hashable, Sendable {
    /// The result.
    package enum Outcome: String, Sendable, CaseIterable {
        case clean
        case returned
        /// None of its stores can be asked any more, or not the one that had data again.
        case unverified
        /// Its vault key is lost, or its bits are damaged: nothing can be rechecked.
        case unreadable
        case abandoned
    }

    /// What was found in one store.
    package struct Found: Hashable, Sendable {
        package let store: StoreName
        package let rowCount: Int

        package init(store: StoreName, rowCount: Int) {
            (self.store, self.rowCount) = (store, rowCount)
        }
    }

    package let at: WallTime
    package let outcome: Outcome
    package var found: [Found]
    /// Stores that cannot be asked: not configured any more, or without the ids that they know.
    package var missing: [StoreName]

    package init(
        at: WallTime,
        _ outcome: Outcome,
        found: [Found] = [],
        missing: [StoreName] = []
    ) {
        (self.at, self.outcome, self.found, self.missing) = (at, outcome, found, missing)
    }
}
