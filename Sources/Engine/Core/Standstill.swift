import Lifecycle

/// The deletions that one store fails again and again, whatever the reason.
///
/// What a store refuses for one user alone is announced at once (``Lifecycle/Obstacle``), and a
/// set-up that is refused pauses it: neither is here. A restart begins the time anew.
struct Standstill: Sendable {
    /// What changed for an operator.
    enum Change: Equatable {
        case began(reason: String)
        case ended
    }

    /// When each began to fail; bounded, since one is enough for the alarm.
    private var failing: [RequestID: WallTime] = [:]
    /// When the first of them began to fail.
    private(set) var since: WallTime?
    /// What the store said last.
    private(set) var reason = ""
    private(set) var isReported = false

    /// When it is to be reported; `nil` when nothing fails, or it was.
    var reportAt: WallTime? { isReported ? nil : since.map { $0 + Limits.stuckAfter } }

    mutating func note(_ request: RequestID, _ reason: String, at now: WallTime) {
        self.reason = reason
        guard failing[request] == nil, failing.count < Limits.stuckMax else { return }
        failing[request] = now
        since = min(since ?? now, now)
    }

    /// A deletion has made progress, ended, or waits for something else.
    mutating func forget(_ request: RequestID) {
        guard let time = failing.removeValue(forKey: request), time == since else { return }
        since = failing.values.min()
    }

    mutating func forgetAll() { (failing, since) = ([:], nil) }

    mutating func reclock(by step: Duration, at now: WallTime) {
        failing = failing.mapValues { min($0 + step, now) }
        since = failing.values.min()
    }

    mutating func report(at now: WallTime) -> Change? {
        if isReported, failing.isEmpty {
            isReported = false
            return .ended
        }
        guard let reportAt, reportAt <= now else { return nil }
        isReported = true
        return .began(reason: reason)
    }
}
