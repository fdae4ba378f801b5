import Lifecycle
import Messages

/// What is known of one subscriber while the service runs.
struct MessageLane: Sendable {
    enum Start: Equatable {
        case now
        case busy
        case later(WallTime)
    }

    enum Change: Equatable {
        case none
        case failed(MessageFailure)
        case stillFailing
        case recovered
    }

    var isBusy = false
    /// Consecutive failures that concern every message.
    private(set) var failures = 0
    private(set) var failure: MessageFailure?
    private var pausedUntil: WallTime?
    private var dropped: Int?

    /// Takes the lane if something is due and it does not pause.
    mutating func begin(_ dueAt: WallTime, _ now: WallTime) -> Start {
        guard !isBusy else { return .busy }
        let start = max(dueAt, pausedUntil ?? dueAt)
        guard start <= now else { return .later(start) }
        isBusy = true
        return .now
    }

    /// A subscriber that fails gets one message at a time, less and less often.
    mutating func settle(_ results: [SendResult], at now: WallTime) -> Change {
        guard let failed = results.first(where: \.concernsAll), let reason = failed.failure else {
            defer { (failures, failure, pausedUntil) = (0, nil, nil) }
            return failures > 0 ? .recovered : .none
        }
        failures += 1
        let wasFailing = failure != nil
        failure = reason
        let delay = RetryPolicy.subscriber.delay(failures: failures)
        let asked = min(failed.retryAfter ?? .zero, Limits.backoffMax)
        pausedUntil = now + max(delay, asked)
        return wasFailing ? .stillFailing : .failed(reason)
    }

    /// How many were dropped since the last call; the first one only learns the count.
    mutating func noteDropped(_ count: Int) -> Int {
        defer { dropped = count }
        return dropped.map { max(0, count - $0) } ?? 0
    }
}
