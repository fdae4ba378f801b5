import Engine
import Lifecycle
import Logging
import Messages
import Settings
import Storage

/// Empties the queues of messages: one lane for each subscriber, and one for mail.
///
/// A lane has some calls under way and hinders no other, and nothing in the engine waits for one.
/// What a crash interrupts is sent again: the receiver knows it by its id.
struct MessageService: Sendable {
    /// Calls of a lane at a time.
    static let batchMax = WebhookChannel.concurrency

    /// Attempts of one subscriber that ended alike.
    struct Attempts: Hashable, Sendable {
        static let delivered = "delivered"

        let subscriber: SubscriberName
        /// ``Lifecycle/MessageFailure``, or ``delivered``.
        let outcome: String
    }

    let state: StateDatabase
    let registry: AdapterRegistry
    let mail: MailRoom
    let alarms: AlarmQueue
    let clock: any EngineClock
    var steward = Steward.single
    let logger: Logger
    let counter = Counter<Attempts>()
    private let lanes = Latest<[SubscriberName: MessageLane]>([:])

    func run() async throws {
        // What came before is taken with the first signal, which the start has sent.
        alarms.signal.set { [state] in state.wakeMessages() }
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            for await _ in state.messageSignals {
                try await storeAlarms()
                guard steward.isHere else { continue }
                let next = try await beginDue(&group)
                timers.arm(next, at: clock.now(), by: clock, in: &group) { [state] in
                    state.wakeMessages()
                }
            }
            group.cancelAll()
        }
    }

    private func storeAlarms() async throws {
        let taken = alarms.take()
        guard !taken.isEmpty else { return }
        do {
            try await state.queue(taken)
        } catch let failure as any StoreFailure where failure.isRetryable {
            // The next signal takes them along.
            alarms.putBack(taken)
        }
    }

    /// Starts every lane with something due, and returns when the next of the others has.
    private func beginDue(
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws -> WallTime? {
        let adapters = registry.current
        guard adapters.hasMessages else { return nil }
        let now = clock.now()
        var next: WallTime?
        let busy = Set(lanes.value.filter(\.value.isBusy).keys)
        let queues = try await clock.persist { [state] in try await state.messageQueues() }
        // The queue of a subscriber that this configuration lacks waits for one that has it.
        for queue in queues where channel(queue.name, of: adapters) != nil {
            noteDropped(queue)
            // What was due while calls were under way may be sent by now; their end is a signal.
            guard let dueAt = queue.nextAt, !busy.contains(queue.name) else { continue }
            let start = lanes.withLock { $0[queue.name, default: MessageLane()].begin(dueAt, now) }
            switch start {
            case .busy: break
            case .later(let time): next = min(next ?? time, time)
            case .now:
                group.addTask {
                    defer {
                        self.lanes.withLock { $0[queue.name]?.end() }
                        self.state.wakeMessages()
                    }
                    _ = try await self.steward.run {
                        try await self.deliver(to: queue.name, by: adapters)
                    }
                }
            }
        }
        return next
    }

    private func noteDropped(_ queue: SubscriberQueue) {
        let new = lanes.withLock { lanes in
            lanes[queue.name, default: MessageLane()].noteDropped(queue.dropped)
        }
        guard new > 0 else { return }
        logger.note(
            .messagesDropped,
            ["subscriber": "\(queue.name)", "count": "\(new)"]
        )
    }

    /// Sends batches until nothing is due or something fails.
    private func deliver(to name: SubscriberName, by adapters: Adapters) async throws {
        guard let channel = channel(name, of: adapters) else { return }
        let retryFor = adapters.retryFor(name)
        while !Task.isCancelled, steward.isHere {
            let now = clock.now()
            let next = lanes.withLock { lanes in
                lanes[name, default: MessageLane()]
                    .nextBatch(upTo: Self.batchMax, retryFor: retryFor, at: now)
            }
            if let time = next.expiresBefore { try await expire(name, before: time) }
            let batch = try await clock.persist { [state] in
                try await state.dueMessages(for: name, at: now, limit: next.limit)
            }
            guard !batch.isEmpty else { return }
            let results = await send(batch, by: channel)
            guard !Task.isCancelled else { return }
            let attempts = zip(batch, results).map { record, result in
                MessageAttempt(
                    of: record.message.id,
                    attempts: record.attempts,
                    begunAt: record.begunAt,
                    result,
                    retryFor: retryFor,
                    at: clock.now()
                )
            }
            try await clock.persist { [clock, state] in
                try await state.record(attempts, of: name, now: clock.now())
            }
            note(attempts, of: name)
            let alarms = zip(batch, results).filter { $0.0.message.topic == .alarm }
            noteRefused(alarms.map(\.1), of: name)
            if settle(results, of: name) { return }
        }
    }

    private func channel(_ name: SubscriberName, of adapters: Adapters) -> (any MessageChannel)? {
        guard name == .mail else { return adapters.channels[name] }
        return adapters.mail.map { transport in
            MailChannel(room: mail, transport: transport, configuration: adapters.configuration)
        }
    }

    private func send(
        _ batch: [MessageRecord],
        by channel: any MessageChannel
    ) async -> [SendResult] {
        await withTaskGroup(of: (Int, SendResult).self) { group in
            for (index, record) in batch.enumerated() {
                group.addTask { (index, await channel.send(record.message)) }
            }
            var results = Array(repeating: SendResult(failure: .lost), count: batch.count)
            for await (index, result) in group { results[index] = result }
            return results
        }
    }

    private func note(_ attempts: [MessageAttempt], of name: SubscriberName) {
        for attempt in attempts {
            let failure = attempt.isDelivered ? nil : attempt.failure
            counter.count(Attempts(subscriber: name, outcome: failure ?? Attempts.delivered))
        }
        let ended = attempts.filter(\.isGivenUp)
        guard let reason = ended.first?.failure else { return }
        givenUp(ended.count, of: name, reason)
    }

    private func givenUp(_ count: Int, of name: SubscriberName, _ reason: String) {
        logger.note(
            .messagesGivenUp,
            ["subscriber": "\(name)", "count": "\(count)", "error": "\(reason)"]
        )
    }

    private func noteRefused(_ results: [SendResult], of name: SubscriberName) {
        let reports = lanes.withLock { $0[name, default: MessageLane()].noteRefused(results) }
        for positions in reports {
            logger.note(
                .recipientsRefused,
                [
                    "subscriber": "\(name)", "count": "\(positions.count)",
                    "detail": "\(positions.map { "mail.to[\($0)]" }.joined(separator: ", "))",
                ]
            )
        }
    }

    /// Returns whether the lane pauses.
    private func settle(_ results: [SendResult], of name: SubscriberName) -> Bool {
        let now = clock.now()
        let change = lanes.withLock { lanes in
            lanes[name, default: MessageLane()].settle(results, at: now)
        }
        switch change {
        case .none: return false
        case .recovered:
            logger.note(.messagesDelivered, ["subscriber": "\(name)"])
            return false
        case .failed(let failure):
            logger.note(
                .messagesFailing,
                ["subscriber": "\(name)", "error": "\(failure.rawValue)"]
            )
            return true
        case .stillFailing: return true
        }
    }

    /// Gives up what has waited for too long behind a lane that fails.
    private func expire(_ name: SubscriberName, before time: WallTime) async throws {
        let count = try await clock.persist { [state] in
            try await state.expireMessages(of: name, begunBefore: time)
        }
        if count > 0 { givenUp(count, of: name, "out_of_time") }
    }

    /// The failure of each lane that fails now, for the status.
    var failing: [SubscriberName: MessageFailure] {
        lanes.value.compactMapValues(\.failure)
    }
}
