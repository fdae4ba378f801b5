import Synchronization

/// Remembers how the spool is, so that each change is reported once.
final class SpoolMonitor: Sendable {
    private struct State {
        var health = SpoolHealth()
        /// One more try is due although writing failed.
        var mayRetryWrite = false
    }

    private let state = Mutex(State())
    private let report: @Sendable (SpoolHealthChange) -> Void

    init(report: @escaping @Sendable (SpoolHealthChange) -> Void) { self.report = report }

    var health: SpoolHealth { state.withLock { $0.health } }

    /// Whether the safety sweep has something to try again.
    var needsSweeps: Bool {
        let health = health
        return health.quarantine != nil || health.writeFailure != nil || health.isWAL
    }

    var isUnwritable: Bool { health.writeFailure != nil }

    var canWrite: Bool {
        state.withLock {
            $0.health.quarantine == nil && ($0.health.writeFailure == nil || $0.mayRetryWrite)
        }
    }

    var isLocked: Bool { health.quarantine == .locked }

    /// Whether another process keeps us out for now.
    var isKeptOut: Bool { isLocked || health.quarantine == .inWAL }

    func allowWriteRetry() { state.withLock { $0.mayRetryWrite = true } }

    func tell(_ change: SpoolHealthChange) { report(change) }

    func quarantine(_ failure: SpoolFailure) {
        let isNew = state.withLock { state in
            defer { state.health.quarantine = failure }
            return state.health.quarantine != failure
        }
        if isNew { report(.quarantined(failure)) }
    }

    /// - Returns: Whether it was quarantined.
    @discardableResult
    func readSucceeded(_ look: SpoolProbe?, unreadableCount: Int) -> Bool {
        let (wasQuarantined, changes) = state.withLock { state in
            var changes: [SpoolHealthChange] = []
            let before = state.health
            if before.quarantine != nil { changes.append(.back) }
            state.health.quarantine = nil
            if unreadableCount > 0 { changes.append(.unreadableRows(count: unreadableCount)) }
            state.health.unreadableCount += unreadableCount
            guard let look else { return (before.quarantine != nil, changes) }
            if look.foreignCount > 0, look.foreignCount != before.foreignCount {
                changes.append(.foreignObjects(count: look.foreignCount))
            }
            state.health.foreignCount = look.foreignCount
            return (before.quarantine != nil, changes)
        }
        for change in changes { report(change) }
        return wasQuarantined
    }

    func found(isInWAL: Bool) {
        let isNew = state.withLock { state in
            defer { state.health.isWAL = isInWAL }
            return state.health.isWAL != isInWAL
        }
        if isNew { report(isInWAL ? .enteredWAL : .leftWAL) }
    }

    /// Everything was read again, and this many rows were too large.
    ///
    /// - Parameter count: 0 ends what was found before.
    func rescanned(unreadableCount count: Int) {
        let isMore = state.withLock { state in
            defer { state.health.unreadableCount = count }
            return count > state.health.unreadableCount
        }
        if isMore { report(.unreadableRows(count: count)) }
    }

    func writeFailed(_ failure: SpoolFailure) {
        let isNew = state.withLock { state in
            defer { (state.health.writeFailure, state.mayRetryWrite) = (failure, false) }
            return state.health.writeFailure != failure
        }
        if isNew { report(.unwritable(failure)) }
    }

    func writeSucceeded() {
        let wasUnwritable = state.withLock { state in
            defer { (state.health.writeFailure, state.mayRetryWrite) = (nil, false) }
            return state.health.writeFailure != nil
        }
        if wasUnwritable { report(.writable) }
    }
}
