import Engine
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

    /// Whether another process keeps us out for now.
    var isKeptOut: Bool { [.locked, .inWAL].contains(health.quarantine) }

    func allowWriteRetry() { state.withLock { $0.mayRetryWrite = true } }

    func tell(_ change: SpoolHealthChange) { report(change) }

    func quarantine(_ failure: SpoolFailure) {
        change(\.quarantine, to: failure) { before in
            before.quarantine == failure ? [] : [.quarantined(failure)]
        }
    }

    @discardableResult
    func readSucceeded(foreignCount: Int?, unreadableCount: Int) -> Bool {
        let update = { (health: inout SpoolHealth) in
            health.quarantine = nil
            health.unreadableCount += unreadableCount
            health.foreignCount = foreignCount ?? health.foreignCount
        }
        let before = change(by: update) { before in
            var changes: [SpoolHealthChange] = []
            if before.quarantine != nil { changes.append(.back) }
            if unreadableCount > 0 { changes.append(.unreadableRows(count: unreadableCount)) }
            if let count = foreignCount, count > 0, count != before.foreignCount {
                changes.append(.foreignObjects(count: count))
            }
            return changes
        }
        return before.quarantine != nil
    }

    func found(isInWAL: Bool) {
        change(\.isWAL, to: isInWAL) { before in
            before.isWAL == isInWAL ? [] : [isInWAL ? .enteredWAL : .leftWAL]
        }
    }

    /// Everything was read again; a `count` of 0 ends what was found before.
    func rescanned(unreadableCount count: Int) {
        change(\.unreadableCount, to: count) { before in
            count > before.unreadableCount ? [.unreadableRows(count: count)] : []
        }
    }

    func writeFailed(_ failure: SpoolFailure) {
        change(\.writeFailure, to: failure, isWrite: true) { before in
            before.writeFailure == failure ? [] : [.unwritable(failure)]
        }
    }

    func writeSucceeded() {
        change(\.writeFailure, to: nil, isWrite: true) { before in
            before.writeFailure == nil ? [] : [.writable]
        }
    }

    private func change<Value>(
        _ part: WritableKeyPath<SpoolHealth, Value>,
        to value: Value,
        isWrite: Bool = false,
        _ changes: (SpoolHealth) -> [SpoolHealthChange]
    ) {
        let update = { (health: inout SpoolHealth) in health[keyPath: part] = value }
        _ = change(by: update, isWrite: isWrite, changes)
    }

    /// Reports what is new; returns the health of before.
    private func change(
        by update: (inout SpoolHealth) -> Void,
        isWrite: Bool = false,
        _ changes: (SpoolHealth) -> [SpoolHealthChange]
    ) -> SpoolHealth {
        let before = state.withLock { state in
            defer {
                update(&state.health)
                if isWrite { state.mayRetryWrite = false }
            }
            return state.health
        }
        for change in changes(before) { report(change) }
        return before
    }
}
