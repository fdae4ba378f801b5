import Engine
import Glibc
import Lifecycle
import Logging
import Providers
import Settings
import Storage

/// Fetches security events of the providers that are configured so.
struct NotificationPoller: Sendable {
    struct Source: Sendable {
        let provider: ProviderName
        let interval: Duration
        let poller: PendingPoller
    }

    /// Pages fetched without a pause.
    private static let pagesMax = 100

    let sources: [Source]
    let service: NotificationService
    let clock: any EngineClock
    var steward = Steward.single
    let logger: Logger
    var report: @Sendable (ProviderName, String) -> Void = { _, _ in }
    /// A provider that a reload removed is not polled.
    var isConfigured: @Sendable (ProviderName) -> Bool = { _ in true }

    func problem(of provider: ProviderName) -> String? {
        sources.first { $0.provider == provider }?.poller.problem
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in sources { group.addTask { try await poll(source) } }
            // Without a source nothing else would keep this from ending the service.
            group.addTask { try await BootClock.sleepForever() }
            // Not `waitForAll`, which would hear of a failed store only when all the others end.
            while try await group.next() != nil {}
        }
    }

    func shutdown() async {
        for source in sources { await source.poller.shutdown() }
    }

    private func poll(_ source: Source) async throws {
        var failures = 0
        let poller = try await setUp(source)
        while true {
            try await steward.wait()
            do {
                if isConfigured(source.provider) { try await drain(source, poller) }
                failures = 0
            } catch let error as PollFailure {
                failures += 1
                if failures == 1 {
                    logger.note(
                        .notificationPollFailed,
                        ["provider": "\(source.provider)", "error": "\(error.code)"]
                    )
                }
            }
            let pause = RetryPolicy.poll(every: source.interval).delay(failures: failures + 1)
            try await clock.sleep(until: clock.now() + pause)
        }
    }

    private func setUp(_ source: Source) async throws -> SecurityEventPoller {
        var known = source.poller.problem
        while true {
            _ = await source.poller.setUp()
            if let poller = source.poller.value { return poller }
            if let problem = source.poller.problem, problem != known {
                report(source.provider, problem)
                known = problem
            }
            try await clock.sleep(until: clock.now() + RetryPolicy.pausedComponent.first)
        }
    }

    /// Fetches until nothing is left; what is durable is acknowledged with the next call.
    ///
    /// - Throws: ``PollFailure`` when the transmitter did not answer, or could not be verified.
    private func drain(_ source: Source, _ poller: SecurityEventPoller) async throws {
        var acknowledged: [String] = []
        var refused: [String: NotificationRefusal.Kind] = [:]
        for _ in 0..<Self.pagesMax {
            let now = clock.now()
            let page = try await poller.fetch(
                acknowledging: acknowledged,
                refusing: refused,
                at: now
            )
            acknowledged = []
            refused = [:]
            for (id, notification) in page.verified {
                guard try await take(notification, of: source.provider, at: now) else { return }
                acknowledged.append(id)
            }
            for (id, refusal) in page.refused {
                service.refused(refusal)
                // Nothing is known about it; it comes again.
                guard refusal.kind != .keysUnavailable else {
                    throw PollFailure(code: refusal.kind.rawValue)
                }
                refused[id] = refusal.kind
            }
            if acknowledged.isEmpty && refused.isEmpty { return }
        }
    }

    /// Returns `false` when the disk is full: it comes again.
    private func take(
        _ notification: VerifiedNotification,
        of provider: ProviderName,
        at now: WallTime
    ) async throws -> Bool {
        do {
            _ = try await service.take(
                notification,
                of: provider,
                at: now,
                from: NotificationSource(uid: getuid(), role: "poll")
            )
            return true
        } catch let failure as any StoreFailure where failure.isRetryable {
            return false
        }
    }
}
