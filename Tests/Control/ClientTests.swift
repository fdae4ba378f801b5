import Control
import ControlClient
import ControlServer
import Encoding
import Lifecycle
import Synchronization
import Testing

extension ControlSuite {
    @Suite struct ClientTests {
        @Test func `every call reaches its route and reads its answer`() async throws {
            let backend = FakeBackend(expecting: Set(Operation.allCases))
            let (id, identity) = (Samples.requestID, Samples.identityID)
            let user = try #require(UserID("ü/%2F x"))
            try await TestServer.run(backend) { server in
                try await ControlClient.with(socketPath: server.controlPath, limits: .forTests) {
                    client in
                    try await Self.callRequests(client, user)
                    var signIn = ReauthorizeInput(provider: ProviderName("apple"))
                    signIn.idToken = Secret("token")
                    #expect(
                        try await client.call(.reauthorize(id, with: signIn)).state
                            == .known(.revoking)
                    )
                    #expect(try await client.call(.receipt(id))["rows"] == .integer(16))
                    let credential = SubmittedCredential(kind: .refreshToken, secret: Secret("abc"))
                    let stored = try await client.call(
                        .putCredential(
                            credential,
                            user: user,
                            provider: ProviderName("apple")
                        )
                    )
                    #expect(stored.identityID == identity)
                    let notification = NotificationInput(body: [0x7b, 0xff], fields: ["x-y": "z"])
                    #expect(
                        try await client.call(
                            .takeNotification(
                                notification,
                                provider: ProviderName("apple")
                            )
                        )
                            == Samples.notification
                    )
                    let status = try await client.call(
                        .notificationStatus(
                            "c0de",
                            provider: ProviderName("meta")
                        )
                    )
                    #expect(status == Samples.notificationStatus)
                    #expect(
                        try await client.call(.identities(of: user)).items == [Samples.identity]
                    )
                    try await client.call(.forgetIdentity(identity, of: user))
                    #expect(try await client.call(.holdUser(user, reason: "case-7")).isHeld)
                    #expect(try await !client.call(.releaseUser(user)).isHeld)
                    #expect(try await client.call(.providers).items.count == 1)
                    #expect(try await client.call(.stores).items.count == 1)
                    for action in ComponentAction.allCases {
                        _ = try await client.call(.control(action, provider: ProviderName("apple")))
                        _ = try await client.call(.control(action, store: StoreName("app-db")))
                    }
                    let asked = SuggestInput(userTable: "users.id")
                    _ = try await client.call(.suggest(asked, store: StoreName("app-db")))
                    try await Self.callService(client)
                }
            }
            let called = Set(backend.calls.map(\.operation))
            let others: Set<Operation> = [
                .health, .showAPI, .showPage, .watchAll, .watchRequest,
            ]
            #expect(called == Set(Operation.allCases).subtracting(others))
            #expect(backend.calls[0].facts == "delete_account ü/%2F x k")
        }

        private static func callService(_ client: ControlClient) async throws {
            #expect(try await client.call(.setIntake(isPaused: true)).isIntakePaused)
            #expect(try await !client.call(.setIntake(isPaused: false)).isIntakePaused)
            #expect(try await client.call(.holds).items == [Samples.hold, Samples.userHold])
            #expect(try await client.call(.messages(MessageQuery())).items == [Samples.message])
            #expect(try await client.call(.redeliver(Samples.message.id)) == Samples.message)
            let hold = HoldInput(
                store: StoreName("app-db"),
                rows: Samples.heldRows,
                reason: "case 7"
            )
            #expect(try await client.call(.placeHold("case-7", hold)) == Samples.hold)
            #expect(try await client.call(.liftHold("case-7")) == Samples.hold)
            let few = OverrideInput(count: 7)
            #expect(try await client.call(.overrideGuard(few)) == Samples.guardState)
            #expect(try await client.call(.reload).changed == ["requests.deadline"])
            #expect(
                try await client.call(.startReplay(Samples.replayOrder))
                    == client.call(.replay)
            )
            #expect(try await client.call(.ledger) == client.call(.acceptRollback))
            #expect(try await client.call(.ledgerEntries(from: 0)).next == 1)
            #expect(try await client.call(.verifyLedger) == Samples.damagedLedger)
            #expect(try await client.call(.settings(.all)) == Samples.settings)
            #expect(try await client.call(.hosts).items == Samples.hosts)
            #expect(try await client.call(.vault) == Samples.vault)
            #expect(try await client.call(.rotateVault) == Samples.vault)
            #expect(try await client.call(.status) == Samples.status)
            let month = try #require(CalendarMonth("2026-11"))
            #expect(
                try await client.call(.report(month, timeZone: "Europe/Berlin"))
                    == Samples.report(of: month, in: "Europe/Berlin")
            )
            #expect(try await client.call(.metrics).hasSuffix("expunged_requests 1\n"))
        }

        private static func callRequests(_ client: ControlClient, _ user: UserID) async throws {
            let id = Samples.requestID
            let submission = WireSubmission(kind: .deleteAccount, user: user)
            #expect(
                try await client.call(.submit(submission, idempotencyKey: "k"))
                    == Samples.request()
            )
            #expect(try await client.call(.list(WireRequestFilter())).nextCursor == "c2")
            #expect(try await client.call(.show(id)) == Samples.fullRequest)
            let actions: [RequestAction] = [
                .cancel, .retry, .hold(reason: nil), .release, .approve(plan: "h"),
                .abandon(reason: "r", provider: nil),
            ]
            for action in actions { _ = try await client.call(.act(action, on: id)) }
            #expect(try await client.call(.makePlan(for: user)) == Samples.dryRun)
            #expect(try await client.call(.plan(of: id)) == Samples.plan)
        }

        @Test func `a problem arrives with its code`() async throws {
            let backend = FakeBackend(expecting: [.showRequest], problem: .init(.requestNotFound))
            try await TestServer.run(backend) { server in
                try await ControlClient.with(socketPath: server.submitPath, limits: .forTests) {
                    client in
                    let error = await #expect(throws: ControlClientError.self) {
                        try await client.call(.show(Samples.requestID))
                    }
                    #expect(error?.problem?.code == .known(.requestNotFound))
                }
            }
            #expect(backend.calls.count == 1)
        }

        @Test func `nobody at the socket is unreachable`() async throws {
            try await TestServer.inDirectory { directory in
                var limits = ClientLimits.forTests
                limits.reconnectTimeout = .zero
                try await ControlClient.with(
                    socketPath: directory + "/none.sock",
                    limits: limits
                ) { client in
                    let error = await #expect(throws: ControlClientError.self) {
                        try await client.call(.status)
                    }
                    #expect(error?.kind == .unreachable)
                }
            }
        }

        @Test func `a call without an answer in time is made again`() async throws {
            let tries = Mutex(0)
            let (never, release) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.submitRequest],
                onSubmit: {
                    let isFirst = tries.withLock { tries in
                        tries += 1
                        return tries == 1
                    }
                    if isFirst { for await _ in never {} }
                }
            )
            // Also the next calls are made again until one is answered in time.
            var limits = ClientLimits.forTests
            limits.callTimeout = .milliseconds(300)
            try await TestServer.run(backend) { server in
                defer { release.finish() }
                try await ControlClient.with(socketPath: server.controlPath, limits: limits) {
                    let user = try #require(UserID("u"))
                    let submission = WireSubmission(kind: .deleteAccount, user: user)
                    let request = try await $0.call(.submit(submission, idempotencyKey: "k"))
                    #expect(request == Samples.request())
                }
            }
            #expect(tries.withLock { $0 } > 1)
        }

        @Test(.timeLimit(.minutes(15)))
        func `waiting survives a restart of the daemon`() async throws {
            try await TestServer.inDirectory { directory in
                let (subscribed, signal) = AsyncStream.makeStream(of: Void.self)
                let (finished, finish) = AsyncStream.makeStream(of: Void.self)
                let first = FakeBackend(
                    expecting: [.watchRequest, .showRequest],
                    shown: [Samples.request(.revoking)],
                    onSubscribe: { signal.yield() }
                )
                async let ended = ControlClient.with(
                    socketPath: directory + "/control.sock",
                    limits: .forTests,
                    { client in
                        defer { finish.finish() }
                        var seen: [String] = []
                        let last = try await client.waitForEnd(Samples.requestID) { request in
                            seen.append(request.state.description)
                        }
                        return (seen, last)
                    }
                )
                try await TestServer.run(first, in: directory) { _ in
                    for await _ in subscribed { break }
                }
                // A signal of its own: the first may have had another subscriber as it ended.
                let (followed, signalFollowed) = AsyncStream.makeStream(of: Void.self)
                let second = FakeBackend(
                    expecting: [.watchRequest, .showRequest],
                    shown: [Samples.request(.purging), Samples.request(.completed)],
                    onSubscribe: { signalFollowed.yield() }
                )
                try await TestServer.run(second, in: directory) { _ in
                    for await _ in followed { break }
                    second.send(Samples.event(1, state: .completed))
                    for await _ in finished {}
                }
                let (seen, last) = try await ended
                #expect(last.state == .known(.completed))
                #expect(seen.suffix(2) == ["purging", "completed"])
            }
        }

        @Test func `events arrive as they were sent`() async throws {
            let (subscribed, signal) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(expecting: [.watchAll], onSubscribe: { signal.yield() })
            try await TestServer.run(backend) { server in
                async let received = ControlClient.with(
                    socketPath: server.controlPath,
                    limits: .forTests
                ) { client in
                    var events: [WireEvent] = []
                    try await client.follow(nil) { event in
                        events.append(event)
                        return true
                    }
                    return events
                }
                for await _ in subscribed { break }
                let sent = [Samples.event(1, state: .revoking), Samples.fullEvent]
                for event in sent { backend.send(event) }
                backend.endStreams()
                let events = try await received
                #expect(events == sent)
            }
        }
    }
}

extension ClientLimits {
    /// As in the programs, but a slow machine ends no call.
    static var forTests: ClientLimits {
        var limits = ClientLimits()
        limits.callTimeout = .seconds(300)
        limits.reconnectTimeout = .seconds(300)
        return limits
    }
}
