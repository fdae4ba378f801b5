/// What is known of one subscriber while the service runs, and what it is sent next.
package struct MessageLane: Hashable, Sendable, Retryable {
    /// Whether a delivery begins.
    package enum Start: Hashable, Sendable {
        case now
        case busy
        case later(WallTime)
    }

    /// What the results of a batch changed.
    package enum Change: Hashable, Sendable {
        case none
        case failed(MessageFailure)
        case stillFailing
        case recovered
    }

    /// What is taken from the queue next.
    package struct Batch: Hashable, Sendable {
        /// Most messages.
        package let limit: Int
        /// Messages that were queued before this are given up first.
        package let expiresBefore: WallTime?
    }

    package private(set) var isBusy = false
    /// Consecutive failures that concern every message, and the end of the pause after the last.
    package var retry = Retry()
    private var dropped: Int?
    /// Positions of the recipients that the mail server refused last.
    private var refused: [Int] = []

    package init() {}

    package var failure: MessageFailure? { lastFailure.flatMap(MessageFailure.init) }

    /// Takes the lane if something is due and it does not pause.
    package mutating func begin(_ dueAt: WallTime, _ now: WallTime) -> Start {
        guard !isBusy else { return .busy }
        let start = max(dueAt, retryAt ?? dueAt)
        guard start <= now else { return .later(start) }
        isBusy = true
        return .now
    }

    /// Gives the lane back.
    package mutating func end() { isBusy = false }

    /// Behind a subscriber that fails, one message shows whether it is back, and what has waited
    /// for too long is given up.
    package func nextBatch(upTo most: Int, retryFor: Duration, at now: WallTime) -> Batch {
        failures > 0
            ? Batch(limit: 1, expiresBefore: now - retryFor)
            : Batch(limit: most, expiresBefore: nil)
    }

    /// A subscriber that fails is called less and less often.
    package mutating func settle(_ results: [SendResult], at now: WallTime) -> Change {
        guard let failed = results.first(where: \.concernsAll), let reason = failed.failure else {
            defer { retry = Retry() }
            return failures > 0 ? .recovered : .none
        }
        let wasFailing = failures > 0
        let earliest = retry.fail(.subscriber, at: now)
        let asked = min(failed.retryAfter ?? .zero, Limits.backoffMax)
        retry.postpone(until: max(earliest, now + asked))
        lastFailure = reason.rawValue
        return wasFailing ? .stillFailing : .failed(reason)
    }

    /// How many were dropped since the last call; the first one only learns the count.
    package mutating func noteDropped(_ count: Int) -> Int {
        defer { dropped = count }
        return dropped.map { max(0, count - $0) } ?? 0
    }

    /// The recipients to report whom the mail server refuses, by position: once, until it refuses
    /// others.
    package mutating func noteRefused(_ results: [SendResult]) -> [[Int]] {
        var reports: [[Int]] = []
        for result in results where result.failure == nil {
            let positions = result.refusedRecipients
            if positions != refused, !positions.isEmpty { reports.append(positions) }
            refused = positions
        }
        return reports
    }
}
