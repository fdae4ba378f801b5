/// What a replay is doing, or did last.
package enum ReplayProgress: Hashable, Sendable {
    case idle
    case running(ReplayTerms, RecheckReport)
    case ended(ReplayTerms, RecheckReport)

    /// Why a replay does not begin.
    package enum Refusal: Error, Hashable, Sendable {
        case unknownStore
        /// The field is after `now`: nothing or too much would be erased.
        case inFuture(Field, now: WallTime)
        /// One replay runs at a time.
        case running
    }

    /// A time that the operator gives.
    package enum Field: String, Hashable, Sendable {
        case since
        case restoredAt = "restored_at"
    }

    /// `nil` before the first replay.
    package var terms: ReplayTerms? {
        switch self {
        case .idle: nil
        case .running(let terms, _), .ended(let terms, _): terms
        }
    }

    /// Begins a replay in the stores that are configured.
    ///
    /// The id of the last replay begins no other, so that a caller may repeat a lost call.
    /// - Returns: Whether this is a new replay, which has to be run.
    /// - Throws: ``Refusal``, and nothing changes.
    package mutating func begin(
        _ terms: ReplayTerms,
        in stores: Set<StoreName>,
        at now: WallTime
    ) throws(Refusal) -> Bool {
        if let store = terms.store, !stores.contains(store) { throw .unknownStore }
        guard terms.since <= now else { throw .inFuture(.since, now: now) }
        if let restoredAt = terms.restoredAt, restoredAt > now {
            throw .inFuture(.restoredAt, now: now)
        }
        if let id = terms.id, self.terms?.id == id { return false }
        if case .running = self { throw .running }
        self = .running(terms, RecheckReport())
        return true
    }

    /// Follows a run of these terms.
    package mutating func follow(_ run: RecheckRun, of terms: ReplayTerms) {
        self = run.phase.isEnded ? .ended(terms, run.report) : .running(terms, run.report)
    }
}
