import Engine
import FoundationEssentials
import HTTP
import Lifecycle
import NIOPosix
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Providers

/// RFC 8936 against a transmitter on the other side of a TLS connection.
@Suite("Polling for security events") struct NotificationPollerTests {
    /// A transmitter as RFC 8936 §2 describes one: an event stays until it is acknowledged.
    private final class Transmitter: Sendable {
        private struct State {
            var waiting: [(id: String, token: String)]
            /// How many polls are answered from now on; `nil` for all.
            var answers: Int?
            var acknowledged: [String] = []
            var errors: [String: String] = [:]
        }

        private let issuer: TestIssuer
        private let keySet: String
        private let pageSize: Int
        private let state: Mutex<State>

        init(_ issuer: TestIssuer, _ events: [(id: String, token: String)], page: Int) throws {
            self.issuer = issuer
            keySet = try issuer.keySet()
            pageSize = page
            state = Mutex(State(waiting: events))
        }

        var acknowledged: [String] { state.withLock { $0.acknowledged } }
        var errors: [String: String] { state.withLock { $0.errors } }
        var waitingCount: Int { state.withLock { $0.waiting.count } }

        func answer(only count: Int?) { state.withLock { $0.answers = count } }

        func react(_ call: LocalServer.Call) -> LocalServer.Reply {
            if call.path == "/keys" { return LocalServer.Reply(body: keySet) }
            guard call.authorization == "Bearer poll-token", let poll = Poll(call.body) else {
                return LocalServer.Reply(status: 401)
            }
            return state.withLock { state in
                if let left = state.answers {
                    guard left > 0 else { return LocalServer.Reply(status: 500) }
                    state.answers = left - 1
                }
                state.acknowledged += poll.acknowledged
                state.errors.merge(poll.errors) { _, new in new }
                let done = poll.acknowledged + poll.errors.keys
                state.waiting.removeAll { done.contains($0.id) }
                let page = state.waiting.prefix(min(pageSize, poll.eventsMax))
                let sets = page.map { #""\#($0.id)":"\#($0.token)""# }.joined(separator: ",")
                let hasMore = state.waiting.count > page.count
                return LocalServer.Reply(
                    body: #"{"sets":{\#(sets)},"moreAvailable":\#(hasMore)}"#
                )
            }
        }
    }

    /// What a poll says (RFC 8936 §2.2).
    private struct Poll {
        private struct Wire: Decodable {
            struct Failure: Decodable { let err: String }
            let maxEvents: Int
            let returnImmediately: Bool
            let ack: [String]?
            let setErrs: [String: Failure]?
        }

        let eventsMax: Int
        let acknowledged: [String]
        let errors: [String: String]

        init?(_ body: String) {
            do {
                let wire = try JSONDecoder().decode(Wire.self, from: Data(body.utf8))
                guard wire.returnImmediately else { return nil }
                eventsMax = wire.maxEvents
                acknowledged = wire.ack ?? []
                errors = (wire.setErrs ?? [:]).mapValues(\.err)
            } catch {
                return nil
            }
        }
    }

    private static let events = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let revoked = "https://schemas.openid.net/secevent/oauth/event-type/"

    private static func event(
        _ issuer: TestIssuer,
        _ id: String,
        _ uri: String = revoked + "tokens-revoked",
        audience: String = "receiver"
    ) throws -> (id: String, token: String) {
        let subject = #"{"format":"iss_sub","iss":"https://transmitter.example","sub":"sub-1"}"#
        let token = try issuer.token(
            [
                "iss": #""https://transmitter.example""#, "aud": #""\#(audience)""#,
                "jti": #""\#(id)""#, "iat": "1800000004", "sub_id": subject,
                "events": #"{"\#(uri)":{}}"#,
            ],
            type: "secevent+jwt"
        )
        return (id, token)
    }

    /// Lets a poller of a new process look once, after it could not be set up a few times.
    @discardableResult
    private static func look(
        _ setup: NotificationSetup,
        at server: LocalServer,
        after failures: Int = 0,
        isConfigured: Bool = true
    ) async throws -> [String] {
        let left = Mutex(failures)
        let reported = Mutex<[String]>([])
        var http = RemoteSettings(owner: .provider(ProviderName("apple")), concurrency: 1)
        http.caFile = server.authorityFile
        http.timeoutConnect = .seconds(120)
        http.timeoutTotal = .seconds(120)
        let logger = setup.bench.log.logger
        let environment = AdapterFactory(
            credentials: nil,
            hasher: setup.bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start + .seconds(10) },
            logger: logger
        ).environment
        let receiver = SecurityEventReceiver(
            provider: ProviderName("apple"),
            issuers: ["https://transmitter.example"],
            audiences: ["receiver"],
            keys: try PublishedKeys(at: server.url + "/keys", http, in: environment)
        )
        let poller = NotificationPoller(
            sources: [
                NotificationPoller.Source(
                    provider: ProviderName("apple"),
                    interval: .seconds(60),
                    poller: PendingPoller(discard: { await $0.shutdown() }) { [http] in
                        let isReadable = left.withLock { left in
                            left -= 1
                            return left < 0
                        }
                        guard isReadable else {
                            throw SetupError(kind: .unreadableCAFile, provider: "apple")
                        }
                        return try SecurityEventPoller(
                            url: server.url + "/poll",
                            token: Secret("poll-token"),
                            settings: http,
                            receiver: receiver,
                            in: environment
                        )
                    }
                )
            ],
            service: setup.service,
            clock: StoppedClock(after: failures),
            logger: logger,
            report: { name, problem in reported.withLock { $0.append("\(name): \(problem)") } },
            isConfigured: { _ in isConfigured }
        )
        await #expect(throws: CancellationError.self) { try await poller.run() }
        #expect(poller.problem(of: ProviderName("apple")) == nil)
        await poller.shutdown()
        return reported.withLock { $0 }
    }

    @Test("a source whose secret cannot be read at the start is tried again, and says why")
    func pending() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let transmitter = try Transmitter(issuer, [try Self.event(issuer, "late")], page: 3)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            let reported = try await Self.look(setup, at: server, after: 3)
            #expect(transmitter.acknowledged == ["late"])
            #expect(reported.count == 1)
            #expect(reported[0].hasPrefix("apple: cannot "))
        }
    }

    @Test("a provider that a reload removed is not polled")
    func removed() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let transmitter = try Transmitter(issuer, [try Self.event(issuer, "e1")], page: 3)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            try await Self.look(setup, at: server, isConfigured: false)
            #expect(!server.calls.contains { $0.path == "/poll" })
        }
    }

    @Test("every page is taken at one look, and acknowledged with the next poll")
    func pages() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let events = try (1...7).map { try Self.event(issuer, "e\($0)") }
        let transmitter = try Transmitter(issuer, events, page: 3)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            try await Self.look(setup, at: server)
            #expect(transmitter.acknowledged == (1...7).map { "e\($0)" })
            #expect(transmitter.waitingCount == 0)
            // Three pages, the last of which is acknowledged by a poll of its own.
            #expect(server.calls.count { $0.path == "/poll" } == 4)
            #expect(server.calls.count { $0.path == "/keys" } == 1)
        }
        let later = try await setup.take(.deletionAsked, key: "other")
        let loaded = try await setup.bench.state.openRequests([try #require(later.requestID)])
        #expect(loaded[0].unseen.map(\.isCut) == [true])
    }

    @Test("a token that is not believed is reported by its code, and stops no other")
    func errors() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let stranger = try TestIssuer()
        let events = [
            try Self.event(issuer, "aud", audience: "somebody else"),
            try Self.event(issuer, "good", Self.events + "account-purged"),
            ("form", "not-a-token"), try Self.event(stranger, "sig"),
        ]
        let transmitter = try Transmitter(issuer, events, page: 10)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            try await Self.look(setup, at: server)
        }
        #expect(transmitter.acknowledged == ["good"])
        #expect(
            transmitter.errors == [
                "aud": "invalid_audience", "form": "invalid_request",
                "sig": "authentication_failed",
            ]
        )
        #expect(try await setup.openDeletions().count == 1)
    }

    @Test("what was taken and not acknowledged comes again after a restart, and does nothing twice")
    func restart() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let event = try Self.event(issuer, "gone", Self.events + "account-purged")
        let transmitter = try Transmitter(issuer, [event], page: 10)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            // The event comes; its acknowledgement does not arrive.
            transmitter.answer(only: 1)
            try await Self.look(setup, at: server)
            #expect(transmitter.acknowledged.isEmpty && transmitter.waitingCount == 1)
            let open = try await setup.openDeletions()
            #expect(open.count == 1)
            transmitter.answer(only: nil)
            try await Self.look(setup, at: server)
            #expect(transmitter.acknowledged == ["gone"] && transmitter.waitingCount == 0)
            #expect(try await setup.openDeletions() == open)
        }
    }

    @Test("a transmitter that does not answer is noted once, and nothing is lost")
    func silence() async throws {
        let setup = try await NotificationSetup()
        let issuer = try TestIssuer()
        let transmitter = try Transmitter(issuer, [try Self.event(issuer, "e1")], page: 10)
        try await LocalServer.with(setup.bench.directory, react: transmitter.react) { server in
            transmitter.answer(only: 0)
            try await Self.look(setup, at: server)
            let noted = "notificationPollFailed error=http_500 provider=apple"
            #expect(setup.bench.log.all.contains(noted))
            #expect(transmitter.waitingCount == 1)
            transmitter.answer(only: nil)
            try await Self.look(setup, at: server)
            #expect(transmitter.acknowledged == ["e1"])
        }
    }
}
