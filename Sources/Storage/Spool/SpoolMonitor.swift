import Synchronization

/// Remembers how the spool is, so that each change is told once.
final class SpoolMonitor: Sendable {
    private struct State {
        var quarantine: SpoolTrouble?
        var writeTrouble: SpoolTrouble?
        /// One more try is due although writing failed.
        var mayRetryWrite = false
        var isWAL = false
        var foreignCount = 0
        var unreadableCount = 0
    }

    private let state = Mutex(State())
    private let report: @Sendable (SpoolHealthChange) -> Void

    init(report: @escaping @Sendable (SpoolHealthChange) -> Void) { self.report = report }

    /// Whether the safety sweep has something to try again.
    var needsSweeps: Bool {
        state.withLock { $0.quarantine != nil || $0.writeTrouble != nil || $0.isWAL }
    }

    var isUnwritable: Bool { state.withLock { $0.writeTrouble != nil } }

    /// Whether a write has a chance.
    var canWrite: Bool {
        state.withLock {
            $0.quarantine == nil && ($0.writeTrouble == nil || $0.mayRetryWrite)
        }
    }

    var isLocked: Bool { state.withLock { $0.quarantine == .locked } }

    func allowWriteRetry() { state.withLock { $0.mayRetryWrite = true } }

    func tell(_ change: SpoolHealthChange) { report(change) }

    func quarantine(_ trouble: SpoolTrouble) {
        let isNew = state.withLock { state in
            defer { state.quarantine = trouble }
            return state.quarantine != trouble
        }
        if isNew { report(.quarantined(trouble)) }
    }

    /// - Returns: Whether it was quarantined.
    @discardableResult
    func readSucceeded(_ look: SpoolLook?, unreadableCount: Int) -> Bool {
        let (wasQuarantined, changes) = state.withLock { state in
            var changes: [SpoolHealthChange] = []
            let wasQuarantined = state.quarantine != nil
            if wasQuarantined { changes.append(.back) }
            state.quarantine = nil
            if unreadableCount > 0 { changes.append(.unreadableRows(count: unreadableCount)) }
            guard let look else { return (wasQuarantined, changes) }
            if look.isWAL != state.isWAL { changes.append(look.isWAL ? .enteredWAL : .leftWAL) }
            if look.foreignCount > 0, look.foreignCount != state.foreignCount {
                changes.append(.foreignObjects(count: look.foreignCount))
            }
            (state.isWAL, state.foreignCount) = (look.isWAL, look.foreignCount)
            return (wasQuarantined, changes)
        }
        for change in changes { report(change) }
        return wasQuarantined
    }

    func writeFailed(_ trouble: SpoolTrouble) {
        let isNew = state.withLock { state in
            defer { (state.writeTrouble, state.mayRetryWrite) = (trouble, false) }
            return state.writeTrouble != trouble
        }
        if isNew { report(.unwritable(trouble)) }
    }

    func writeSucceeded() {
        let wasUnwritable = state.withLock { state in
            defer { (state.writeTrouble, state.mayRetryWrite) = (nil, false) }
            return state.writeTrouble != nil
        }
        if wasUnwritable { report(.writable) }
    }
}
