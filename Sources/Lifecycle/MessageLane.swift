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

/// What an attempt to deliver a message came to.
package struct MessageAttempt: Hashable, Sendable {
    package let id: MessageID
    package let at: WallTime
    package let status: Int?
    /// What failed; of a message that was delivered, what did not reach some of its recipients.
    package let failure: String?
    package let isDelivered: Bool
    /// The next attempt; `nil` when there is none.
    package let nextAt: WallTime?

    package init(
        _ id: MessageID,
        at: WallTime,
        status: Int? = nil,
        failure: String? = nil,
        isDelivered: Bool? = nil,
        nextAt: WallTime? = nil
    ) {
        (self.id, self.at, self.status, self.failure) = (id, at, status, failure)
        self.isDelivered = isDelivered ?? (failure == nil)
        self.nextAt = nextAt
    }

    /// Judges one attempt, after `attempts` earlier ones.
    ///
    /// A failure that is not final has another attempt, for `retryFor` after the message was
    /// queued.
    package init(
        of id: MessageID,
        attempts: Int,
        begunAt: WallTime,
        _ result: SendResult,
        retryFor: Duration,
        at now: WallTime
    ) {
        var nextAt: WallTime?
        if let failure = result.failure, !failure.isFinal, now.since(begunAt) < retryFor {
            let delay = RetryPolicy.message.delay(failures: attempts + 1)
            nextAt = now + max(delay, result.retryAfter ?? .zero)
        }
        self.init(
            id,
            at: now,
            status: result.status,
            failure: result.failure?.rawValue
                ?? (result.refusedRecipients.isEmpty ? nil : "recipients_refused"),
            isDelivered: result.failure == nil,
            nextAt: nextAt
        )
    }

    /// Whether no attempt follows that could deliver it.
    package var isGivenUp: Bool { !isDelivered && nextAt == nil }
}

/// How one attempt to send a message ended.
package struct SendResult: Hashable, Sendable {
    /// The status of an HTTP answer.
    package var status: Int?
    /// `nil` for a message that was delivered.
    package var failure: MessageFailure?
    /// What the receiver asked for.
    package var retryAfter: Duration?
    /// Positions of the recipients that the mail server refused for good; the others got the mail.
    package var refusedRecipients: [Int] = []

    package static let delivered = SendResult()

    package init(
        status: Int? = nil,
        failure: MessageFailure? = nil,
        retryAfter: Duration? = nil
    ) {
        (self.status, self.failure, self.retryAfter) = (status, failure, retryAfter)
    }

    /// Whether the next message would fare the same.
    package var concernsAll: Bool {
        guard let failure else { return false }
        switch failure {
        case .unreachable, .lost, .redirected, .privateAddress, .misconfigured: return true
        case .refused:
            return status.map { $0 >= 500 || [401, 403, 404, 410, 429].contains($0) } ?? true
        case .rejected, .addressLost: return false
        }
    }
}

/// How many alarms of one event are passed on: a flood is some messages, and the rest stands in the
/// journal.
package struct AlarmLimit: Sendable {
    /// Of one event in any hour.
    package static let perHourMax = 10
    private static let hour = Duration.seconds(3600)

    private var recent: [JournalEvent: [WallTime]] = [:]

    package init() {}

    /// Whether one more is passed on; it counts then.
    package mutating func admit(_ event: JournalEvent, at now: WallTime) -> Bool {
        let times = (recent[event] ?? []).filter { now.since($0) < Self.hour }
        guard times.count < Self.perHourMax else { return false }
        recent[event] = times + [now]
        return true
    }
}
