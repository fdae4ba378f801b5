import Control
import Engine
import Lifecycle
import Providers
import Storage
import Testing
import Vault

@testable import Daemon

@Suite("What the control API answers") struct BackendTests {
    func ask(
        _ user: String,
        _ kind: RequestKind = .revokeTokens
    ) throws -> WireSubmission {
        WireSubmission(
            kind: kind,
            user: try #require(UserID(user)),
            options: try SubmissionOptions(members: [], kind: kind)
        )
    }

    @Test("an operator's pause of the intake is one entry in the journal, with who did it")
    func pausesIntake() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let caller = Caller(role: .operator, uid: 0, operatorUID: 7)
        #expect(try await backend.setIntake(isPaused: true, caller: caller).isIntakePaused)
        #expect(try await !backend.setIntake(isPaused: false, caller: caller).isIntakePaused)
        let entries = ["pause_intake", "resume_intake"].map {
            "operatorAction operator.uid=7 step=\($0)"
        }
        #expect(bench.log.all == entries)
    }

    @Test("an idempotency key belongs to one socket and one uid")
    func idempotency() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let application = Caller(role: .submit, uid: 1000)
        func id(_ user: String, _ caller: Caller) async throws -> RequestID {
            try await backend.submit(ask(user), idempotencyKey: "k", caller: caller).id
        }
        let first = try await id("alice", application)
        #expect(try await id("alice", application) == first)
        // In the same scope this would be the conflict below.
        let other = try await id("bob", Caller(role: .submit, uid: 1001))
        #expect(try await id("carol", Caller(role: .operator, uid: 1000)) != first)
        #expect(other != first)
        await #expect(throws: ControlProblem(.idempotencyConflict)) {
            _ = try await id("dave", application)
        }
    }

    @Test("failures of the spool are alarms and metrics, and a healthy one is neither")
    func spoolHealth() async throws {
        let bench = try Bench()
        let caller = Caller(role: .operator, uid: 0)
        #expect(try await bench.backend().status(caller: caller).alarms.isEmpty)
        var health = SpoolHealth()
        health.writeFailure = .diskFull
        health.foreignCount = 2
        health.unreadableCount = 3
        let ill = try bench.backend(spool: health)
        #expect(
            try await ill.status(caller: caller).alarms
                == ["spool_unwritable", "spool_foreign_objects", "spool_unreadable_rows"]
        )
        let metrics = try await ill.metrics(caller: caller)
        for line in [
            "expunged_spool_quarantined{failure=\"missing\"} 0",
            "expunged_spool_unwritable{failure=\"disk_full\"} 1", "expunged_spool_in_wal 0",
            "expunged_spool_foreign_objects 2", "expunged_spool_unreadable_rows 3",
            "expunged_credential_not_sealed 0",
        ] { #expect(metrics.contains("\n\(line)\n"), "\(line)") }
    }

    @Test(
        "the first deadline of all open requests is a metric, and an alarm from a week before it",
        arguments: [
            (days: 22, alarm: nil), (23, "deadline_near"), (29, "deadline_near"),
            (30, "deadline_passed"),
        ] as [(days: Int, alarm: String?)]
    )
    func deadlines(days: Int, alarm: String?) async throws {
        let bench = try Bench()
        let submittedAt = Bench.start - .seconds(days * 86_400)
        _ = try await bench.submit("alice", stores: [], at: submittedAt)
        _ = try await bench.submit("bob", stores: [], at: Bench.start)
        let (backend, caller) = (try bench.backend(), Caller(role: .operator, uid: 0))
        #expect(try await backend.status(caller: caller).alarms == [alarm].compactMap(\.self))
        let deadline = (submittedAt + .seconds(30 * 86_400)).unixMilliseconds / 1000
        let line = "\nexpunged_next_deadline_timestamp_seconds \(deadline)\n"
        #expect(try await backend.metrics(caller: caller).contains(line))
    }

    private static let section = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/nowhere/app.db"
        [[store.table]]
        table = "posts"
        column = "author_id"
        action = "delete"
        """

    @Test("a check of a store fails while it blocks requests, and says how many and why")
    func blocked() async throws {
        let bench = try Bench()
        let (name, operators) = (StoreName("app-db"), Caller(role: .operator, uid: 0))
        let (trigger, lock) = ("trigger 'keep' of 'posts'", "rows of 'posts' are locked")
        // They are not due as long as the clock stands still.
        let later = Bench.start + .seconds(3600)
        for (user, obstacle) in [("alice", lock), ("bob", trigger), ("carol", trigger)] {
            let loaded = try await bench.submit(user, stores: [name], at: later)
            var request = loaded.request
            for index in request.purges.indices { request.purges[index].obstacle = obstacle }
            _ = try await bench.state.commit([
                .save(now: request, was: loaded.request, at: later)
            ])
        }
        _ = try await bench.submit("dave", stores: [name], at: later)
        let backend = try bench.backend(
            more: Self.section,
            stores: [name: OpaqueStore()],
            clock: StillClock()
        )
        try await Self.running(backend) {
            let checked = try await backend.control(.check, store: name, caller: operators)
            let found = "3 requests are blocked: \(trigger); \(lock)"
            #expect(checked.findings == [found])
            #expect(checked.summary == "'app-db' does not work: \(found)")
            let resumed = try await backend.control(.resume, store: name, caller: operators)
            #expect(resumed.findings.isEmpty)
        }
    }

    @Test("a store that cannot be used stays paused, and says why to whoever resumes it")
    func resume() async throws {
        let bench = try Bench()
        let (name, operators) = (StoreName("app-db"), Caller(role: .operator, uid: 0))
        let more = Self.section
        let store = OpaqueStore()
        let ill = try bench.backend(
            more: more,
            stores: [name: store],
            clock: StillClock(),
            problems: [.store(name): ["cannot open '/nowhere/app.db'"]]
        )
        try await Self.running(ill) {
            _ = try await ill.control(.pause, store: name, caller: operators)
            #expect(try await bench.state.pauses().stores[name] == "operator")
            let refused = try await ill.control(.resume, store: name, caller: operators)
            #expect(refused.findings == ["cannot open '/nowhere/app.db'"])
            #expect(bench.log.all.contains("storePaused error=misconfigured store=app-db"))
        }
        // A pause of the service's own, which ends it once nothing is wrong.
        #expect(try await bench.state.pauses().stores[name] == "misconfigured")
        let well = try bench.backend(more: more, stores: [name: store], clock: StillClock())
        try await Self.running(well) {
            let resumed = try await well.control(.resume, store: name, caller: operators)
            #expect(resumed.findings.isEmpty)
        }
        #expect(try await bench.state.pauses().stores[name] == nil)
    }

    @Test(
        "a provider that cannot be set up stays paused, by the service, until it can",
        arguments: [(["no key"], "not_set_up"), ([], nil)] as [([String], String?)]
    )
    func resumeProvider(problems: [String], reason: String?) async throws {
        let (bench, name) = (try Bench(), ProviderName("apple"))
        let operators = Caller(role: .operator, uid: 0)
        let backend = try bench.backend(
            providers: [name: WellProvider(name: name, clients: ["com.example.app"])],
            clock: StillClock(),
            problems: [.provider(name): problems]
        )
        try await Self.running(backend) {
            _ = try await backend.control(.pause, provider: name, caller: operators)
            #expect(try await bench.state.pauses().providers[name] == "operator")
            _ = try await backend.control(.resume, provider: name, caller: operators)
        }
        #expect(try await bench.state.pauses().providers[name] == reason)
    }

    @Test("a check fails while users of a client id that is not configured wait")
    func unserved() async throws {
        let (bench, name) = (try Bench(), ProviderName("apple"))
        let operators = Caller(role: .operator, uid: 0)
        let backend = try bench.backend(
            providers: [name: WellProvider(name: name, clients: [])],
            clock: StillClock()
        )
        _ = try await backend.parts.credentials.store([try bench.offer("alice", "t0ken")])
        _ = try await bench.submit("alice", stores: [], at: Bench.start)
        try await Self.running(backend) {
            await Self.wait(for: "outageBegan", in: bench.log)
            for _ in 1...2 {
                let checked = try await backend.control(.check, provider: name, caller: operators)
                #expect(checked.findings.count == 1)
                let finding = try #require(checked.findings.first)
                for text in ["'com.example.app'", "(1)", "client_ids", "reload", "abandon"] {
                    #expect(finding.contains(text), "\(finding)")
                }
                #expect(checked.summary?.hasPrefix("'apple' does not work: ") == true)
                let alarms = try await backend.status(caller: operators).alarms
                #expect(alarms == ["provider_broken"])
            }
            let well = WellProvider(name: name, clients: ["com.example.app"])
            backend.parts.engine.reconfigure(
                backend.parts.registry.current.engineConfiguration,
                adapters: EngineAdapters(providers: [name: well], stores: [:])
            )
            await Self.wait(for: "outageEnded", in: bench.log)
            #expect(try await backend.status(caller: operators).alarms.isEmpty)
        }
        #expect(
            bench.log.all.filter { $0.hasPrefix("outage") } == [
                "outageBegan error=client_not_configured: 'com.example.app' provider=apple",
                "outageEnded detail=com.example.app provider=apple",
            ]
        )
    }

    @Test("a provider that a reload removed has an entry, and an alarm until it is back")
    func unknownProvider() async throws {
        let (bench, name) = (try Bench(), ProviderName("apple"))
        let operators = Caller(role: .operator, uid: 0)
        let well = WellProvider(name: name, clients: ["com.example.app"])
        let backend = try bench.backend(providers: [name: well], clock: StillClock())
        let engine = backend.parts.engine
        _ = try await backend.parts.credentials.store([try bench.offer("alice", "t0ken")])
        let request = try await bench.submit("alice", stores: [], at: Bench.start).request.id
        engine.reconfigure(
            EngineConfiguration(
                providers: [:],
                lanes: [:],
                stores: [],
                withoutIdentities: .proceed,
                purgesPerHourMax: 10
            ),
            adapters: EngineAdapters(providers: [:], stores: [:])
        )
        try await Self.running(backend) {
            await Self.wait(for: "requestParked", in: bench.log)
            let entry = "requestParked detail=unknown_provider provider=apple request.id=\(request)"
            #expect(bench.log.all.contains(entry))
            let alarms = try await backend.status(caller: operators).alarms
            #expect(alarms == ["provider_broken"])
            engine.reconfigure(
                backend.parts.registry.current.engineConfiguration,
                adapters: EngineAdapters(providers: [name: well], stores: [:])
            )
            await Self.wait(for: "requestReleased", in: bench.log)
            let later = try await backend.status(caller: operators).alarms
            #expect(later.isEmpty)
        }
    }

    private static func wait(for event: String, in log: LogBook) async {
        func isThere() -> Bool { log.all.contains { $0.hasPrefix(event) } }
        guard !isThere() else { return }
        for await _ in log.changes where isThere() { return }
    }

    /// Runs the engine beside the body.
    private static func running(
        _ backend: DaemonBackend,
        _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }
}

/// Answers every call as it should.
private struct WellProvider: ConnectedProvider, ProviderAdapter {
    let name: ProviderName
    let clients: Set<String>
    let traits = ProviderTraits(
        canCheckRefreshToken: false,
        refreshInterval: .seconds(60),
        livenessLifetime: .seconds(60),
        revokesWholeGrant: true,
        userActionURL: "",
        userActionText: ""
    )

    func serves(_ clientID: String) -> Bool { clients.contains(clientID) }

    func exchange(_ code: OpenCredential) async -> ExchangeAnswer { .refused }

    func check(_ credential: OpenCredential) async -> CheckAnswer { .live }

    func revoke(_ credential: OpenCredential) async -> RevokeAnswer { .success }

    func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        throw SignInError(kind: .unsupported, provider: name)
    }

    func diagnose() async -> EffectFailure? { nil }

    func shutdown() async {}
}
