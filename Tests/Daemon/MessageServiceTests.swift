import Engine
import Lifecycle
import Logging
import Messages
import Storage
import Synchronization
import Systemd
import Testing
import Vault

@testable import Daemon

/// A way that keeps what it gets, and answers as told.
private final class StubChannel: MessageChannel {
    enum Behavior: Sendable {
        case answer(SendResult)
        case hang
    }

    private let behavior: Mutex<Behavior>
    private let sent = AsyncStream.makeStream(of: OutgoingMessage.self)

    init(_ behavior: Behavior = .answer(SendResult(status: 200))) {
        self.behavior = Mutex(behavior)
    }

    func send(_ message: OutgoingMessage) async -> SendResult {
        sent.continuation.yield(message)
        switch behavior.withLock({ $0 }) {
        case .answer(let result): return result
        case .hang:
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            defer { continuation.finish() }
            for await _ in stream {}
            return SendResult(failure: .lost)
        }
    }

    func shutdown() async {}

    /// The next message that arrives; waits for one.
    func next() async -> OutgoingMessage? {
        for await message in sent.stream { return message }
        return nil
    }
}

struct MessageServiceTests {
    private static let names = ["app", "crm"].map { SubscriberName($0) }

    private static func submission(_ user: String) throws -> Submission {
        Submission(
            kind: .deleteAccount,
            user: try #require(UserID(user)),
            userHash: Array(repeating: 7, count: 32),
            createdAt: Bench.start,
            origin: .control(uid: 1, role: "submit")
        )
    }

    private func accept(_ bench: Bench) async throws {
        var random = SeededGenerator(seed: 1)
        let id = RequestID(TimeOrderedID(at: Bench.start, entropy: &random))
        let policy = IntakePolicy(gracePeriod: .zero, deadline: .seconds(86_400), stores: [])
        let outcomes = try await bench.state.accept(
            [try Self.submission("u")],
            policy: policy,
            now: Bench.start,
            newID: { id }
        )
        #expect(outcomes.count == 1)
    }

    /// Runs the service beside `body`, which it ends with.
    private func with(
        _ channels: [SubscriberName: StubChannel],
        _ clock: any EngineClock,
        body: (Bench, MessageService) async throws -> Void
    ) async throws {
        let bench = try Bench()
        var adapters = Adapters(
            configuration: try Bench.configuration(
                channels.keys.map { name in
                    """
                    [[subscriber]]
                    name = "\(name)"
                    url = "https://app.example.com/"
                    secret_credential = "app-messages"

                    """
                }.joined()
            ),
            providers: [:],
            stores: [:]
        )
        adapters.channels = channels
        try await bench.state.keepSubscribers(
            channels.keys.map { SubscriberWish($0, requests: true, alarms: true) }
        )
        let vault = SealedVault(keyring: nil)
        let service = MessageService(
            state: bench.state,
            registry: AdapterRegistry(adapters),
            mail: MailRoom(
                state: bench.state,
                vault: vault,
                generator: IdentifierGenerator(now: { Bench.start })
            ),
            alarms: AlarmQueue { Bench.start },
            clock: clock,
            logger: bench.log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await service.run()
                } catch is CancellationError {
                    return
                }
            }
            try await body(bench, service)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `a message is sent as soon as its change is on disk`() async throws {
        let app = StubChannel()
        try await with([Self.names[0]: app], SleepingClock(at: Bench.start)) { bench, _ in
            try await accept(bench)
            let message = try #require(await app.next())
            #expect(message.subject == "accepted")
            #expect(message.topic == .request)
        }
    }

    @Test func `a subscriber that hangs delays no other`() async throws {
        let (app, crm) = (StubChannel(.hang), StubChannel())
        let channels = [Self.names[0]: app, Self.names[1]: crm]
        try await with(channels, SleepingClock(at: Bench.start)) { bench, _ in
            try await accept(bench)
            #expect(await app.next() != nil)
            #expect(await crm.next() != nil)
        }
    }

    @Test func `a failure is told once, and tried again after a pause`() async throws {
        let clock = SleepingClock(at: Bench.start)
        let app = StubChannel(.answer(SendResult(failure: .unreachable)))
        try await with([Self.names[0]: app], clock) { bench, service in
            try await accept(bench)
            #expect(await app.next() != nil)
            // The pause of the lane is shorter than that of the message.
            #expect(await clock.nextSleep() == Bench.start + .seconds(5))
            let kept = try await bench.state.messages(before: nil, isWaiting: true, limit: 10)
            #expect(kept.map(\.attempts) == [1])
            #expect(kept.map(\.lastFailure) == ["unreachable"])
            #expect(service.failing == [Self.names[0]: .unreachable])
            let told = bench.log.all.filter { $0.hasPrefix("messagesFailing") }
            #expect(told == ["messagesFailing error=unreachable subscriber=app"])
        }
    }

    @Test func `an alarm of the journal becomes a message, and a flood of them a few`()
        async throws
    {
        let app = StubChannel()
        try await with([Self.names[0]: app], SleepingClock(at: Bench.start)) { _, service in
            service.alarms.setOn(true)
            for _ in 0..<100 {
                service.alarms.offer(
                    LogEntry(
                        level: .error,
                        message: "",
                        metadata: [
                            "event": "storePaused", "store": "app-db",
                            "error": "misconfigured",
                        ]
                    )
                )
            }
            service.alarms.offer(
                LogEntry(level: .notice, message: "", metadata: ["event": "started"])
            )
            var texts: Set<String> = []
            for _ in 0..<AlarmLimit.perHourMax {
                let message = try #require(await app.next())
                #expect(message.topic == .alarm)
                #expect(message.subject == "store_paused")
                texts.insert(message.detail ?? "")
            }
            #expect(texts == ["store app-db paused: it does not fit its configuration"])
            #expect(service.alarms.take().isEmpty)
        }
    }

    @Test func `a recipient whom the mail server refuses is told, and stays in the list`()
        async throws
    {
        var result = SendResult.delivered
        result.refusedRecipients = [1]
        let mail = StubChannel(.answer(result))
        try await with([Self.names[0]: mail], SleepingClock(at: Bench.start)) { bench, service in
            service.alarms.setOn(true)
            service.alarms.offer(
                LogEntry(
                    level: .error,
                    message: "",
                    metadata: [
                        "event": "storePaused", "store": "app-db", "error": "misconfigured",
                    ]
                )
            )
            for await _ in bench.log.changes { break }
            #expect(
                bench.log.all == ["recipientsRefused count=1 detail=mail.to[1] subscriber=app"]
            )
            let ended = try await bench.state.messages(before: nil, isWaiting: false, limit: 10)
            #expect(ended.map(\.isDelivered) == [true])
            #expect(ended.map(\.lastFailure) == ["recipients_refused"])
        }
    }

    @Test(arguments: ["messagesFailing", "messagesGivenUp", "messagesDropped", "recipientsRefused"])
    func `that mail fails is no mail`(_ event: String) {
        let alarms = AlarmQueue { Bench.start }
        alarms.setOn(true)
        for name in ["mail", "app"] {
            alarms.offer(
                LogEntry(
                    level: .error,
                    message: "",
                    metadata: [
                        "event": "\(event)", "subscriber": "\(name)", "error": "refused",
                        "count": "1", "detail": "mail.to[0]",
                    ]
                )
            )
        }
        #expect(alarms.take().map(\.exempt) == [SubscriberName.mail, nil])
    }
}
