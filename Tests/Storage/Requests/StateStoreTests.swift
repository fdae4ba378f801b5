import GRDB
import Lifecycle
import Testing

@testable import Engine
@testable import Storage

@Suite(.onEachDatabase)
struct StateStoreTests {
    private static let apple = ProviderName("apple")

    private static var environment: Environment {
        let traits = ProviderTraits(
            canCheckRefreshToken: true,
            refreshInterval: .seconds(60),
            livenessLifetime: .seconds(3600),
            revokesWholeGrant: false,
            userActionURL: "",
            userActionText: ""
        )
        let policy = ProviderPolicy(
            traits: traits,
            onUnrevocable: .proceed,
            revocationDeadline: .seconds(600)
        )
        var environment = Environment(providers: [apple: policy, ProviderName("google"): policy])
        environment.directory = directory
        return environment
    }

    private static let directory = ProviderName("firebase")

    private static func link(_ provider: String, isLocal: Bool = false) -> LinkedIdentity {
        LinkedIdentity(
            identity: IdentityID(StateFixture.newID()),
            provider: ProviderName(provider),
            isLocal: isLocal,
            subjectHash: StateFixture.hash(provider)
        )
    }

    private static let failures: [EffectFailure] = [
        .unreachable, .throttled(retryAfter: .seconds(3)), .lost, .unusable, .sealBroken,
        .vaultSealed,
    ]

    private static let answers = [
        VendorAnswer(Refusal(status: 502)), VendorAnswer(Refusal(status: nil, error: "odd")),
        VendorAnswer(Refusal(status: 400, error: "10/1363041"), words: "Not \"today\" é"),
        VendorAnswer(Refusal(status: 400), isNamed: true),
    ]

    /// Any event, likely ones more often.
    private static func event(
        for request: Request,
        _ random: inout SeededGenerator
    ) -> RequestEvent {
        let failure = failures.randomElement(using: &random) ?? .lost
        let store = StoreName("app-db")
        let revocation = request.revocations.randomElement(using: &random)
        let credential = revocation?.credentials.randomElement(using: &random)
        var events: [RequestEvent] = [
            .due, .due, .due, .hold, .release, .retry, .retry,
            .lookedUp(.failure(failure)),
            .lookedUp(.found([link("apple"), link("x"), link("password", isLocal: true)])),
            .purged(store, .failure(failure)), .verified(store, .remaining(2)),
            .purged(
                store,
                .done(
                    PurgeCounts(
                        entries: [
                            .init(
                                name: "po\"s\n\\ts",
                                action: .rule(.delete),
                                rowCount: 3,
                                newerCount: 1
                            )
                        ],
                        residualCopies: [
                            .init(text: "soft-deleted objects", until: StateFixture.start),
                            .init(text: "versions", until: nil),
                        ]
                    )
                )
            ), .verified(store, .clean),
        ]
        if let revocation, let credential {
            let (identity, id) = (revocation.identity, credential.id)
            events += [
                .checked(identity, id, .live), .checked(identity, id, .dead),
                .checked(identity, id, .failure(failure)), .revoked(identity, id, .success),
                .revoked(identity, id, .success), .revoked(identity, id, .alreadyInvalid),
                .revoked(identity, id, .failure(failure)), .confirmed(identity, id, .dead),
                .confirmed(identity, id, .live), .confirmed(identity, id, .failure(failure)),
            ]
        }
        return events.randomElement(using: &random) ?? .due
    }

    @Test(arguments: 1...12)
    func `whatever a request becomes is read back as it was`(_ seed: UInt64) async throws {
        let fixture = try StateFixture()
        for secret in ["a", "b", "c"] {
            _ = try await fixture.keep(StateFixture.credential("u", secret))
        }
        _ = try await fixture.keep(StateFixture.credential("u", "d", provider: "google"))
        var request = try await fixture.open("u", directory: Self.directory).request
        var random = SeededGenerator(seed: seed)
        var now = StateFixture.start
        for _ in 0..<120 where !request.phase.isEnded {
            now = now + .seconds(Int.random(in: 0...40, using: &random))
            let was = request
            var context = StepContext(now: now, random: random)
            context.lastAnswer = Self.answers.randomElement(using: &random)
            let event = Self.event(for: request, &random)
            do {
                _ = try request.handle(event, &context, in: Self.environment)
            } catch {
                request = was
            }
            random = context.random
            _ = try await fixture.database.commit([.save(now: request, was: was, at: now)])
            let record = try #require(try await fixture.database.requestRecord(request.id))
            #expect(record.request == request.withoutBusy(), "seed \(seed), after \(event)")
            let loaded = try await fixture.database.openRequests([request.id])
            #expect(loaded.first?.request == (request.phase.isEnded ? nil : request.withoutBusy()))
            #expect(loaded.first?.unseen ?? [] == [])
        }
    }

    @Test func `a credential of an earlier grant is read back as one`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let was = try await fixture.open("u").request
        var request = was
        request.revocations[0].credentials[0].isOfEarlierGrant = true
        #expect(request.revocations[0].credentials[0].isUnnamed)
        try await fixture.save(request, was: was)
        let loaded = try await fixture.database.openRequests([request.id])
        #expect(loaded.first?.request == request)
    }

    @Test func `the times of a token reach the vault`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "a"))
        let loaded = try await fixture.open("u")
        var request = loaded.request
        request.revocations[0].credentials[0].lastLiveAt = WallTime(unixMilliseconds: 7)
        try await fixture.save(request, was: loaded.request)
        let again = try await fixture.keep(StateFixture.credential("u", "a"))
        #expect(again.isDuplicate)
        #expect(again.credential == stored.credential)
        #expect(again.update.snapshot.credentials[0].lastLiveAt == WallTime(unixMilliseconds: 7))
    }

    @Test func `what is saved of a request that has ended changes nothing`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let open = try await fixture.open("u").request
        var ended = open
        ended.phase = .cancelled
        ended.endedAt = StateFixture.start
        ended.dueAt = nil
        try await fixture.save(ended, was: open)
        var late = open
        late.revocations[0].attempts = 7
        try await fixture.save(late, was: open)
        let record = try #require(try await fixture.database.requestRecord(open.id))
        #expect(record.request.phase == .cancelled)
        #expect(record.request.revocations[0].attempts == 0)
    }

    @Test func `due requests come by lane, the longest due first`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("a", "1", provider: "apple"))
        _ = try await fixture.keep(StateFixture.credential("g", "2", provider: "google"))
        let apple = try await fixture.open("a")
        let google = try await fixture.open("g")
        let none = try await fixture.open("n")
        var earlier = apple.request
        earlier.dueAt = StateFixture.start - .seconds(1)
        try await fixture.save(earlier, was: apple.request)
        var later = none.request
        later.dueAt = StateFixture.start + .seconds(5)
        try await fixture.save(later, was: none.request)
        let all = try await fixture.database.dueRequests(
            at: StateFixture.start,
            limit: 10,
            excluding: [],
            laneLimits: [:]
        )
        #expect(all.requests.map(\.request.id) == [apple.request.id, google.request.id])
        #expect(all.nextDueAt == later.dueAt)
        let some = try await fixture.database.dueRequests(
            at: later.dueAt ?? .distantPast,
            limit: 10,
            excluding: [google.request.id],
            laneLimits: [Self.apple: 0]
        )
        #expect(some.requests.map(\.request.id) == [none.request.id])
        #expect(some.requests.first?.user.exposeText() == "n")
        #expect(some.nextDueAt == nil)
    }

    @Test func `of due work each uid gets a share, however much another one has`() async throws {
        let fixture = try StateFixture()
        func submit(_ users: [String], _ origin: SubmissionOrigin) async throws -> [RequestID] {
            var ids: [RequestID] = []
            for user in users {
                let submission = StateFixture.submission(user, origin: origin)
                guard case .accepted(let loaded, _) = try await fixture.accept(submission)[0]
                else { throw CancellationError() }
                ids.append(loaded.request.id)
            }
            return ids
        }
        let names = (0..<100).map { "flood-\($0)" }
        let flood = try await submit(names, .control(uid: 7, role: "submit"))
        let other = try await submit(["a", "b", "c"], .control(uid: 8, role: "submit"))
        func due(_ limit: Int, excluding: Set<RequestID> = []) async throws -> [RequestID] {
            try await fixture.database.dueRequests(
                at: StateFixture.start,
                limit: limit,
                excluding: excluding,
                laneLimits: [:]
            ).requests.map(\.request.id)
        }
        let first = try await due(32)
        #expect(first.count == 32)
        #expect(first.filter { other.contains($0) } == Array(other.prefix(2)), "a sixteenth")
        #expect(first.filter { !other.contains($0) } == Array(flood.prefix(30)), "the longest due")
        // What is in the window already does not count.
        let next = try await due(32, excluding: Set(first))
        #expect(next.filter { other.contains($0) } == [other[2]])
        #expect(try await due(200).count == 103)
    }

    @Test func `the parked wake up by their reason`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("u")
        var parked = loaded.request
        parked.phase = .parked(.revoking, .providerPaused, until: nil)
        parked.dueAt = nil
        try await fixture.save(parked, was: loaded.request)
        #expect(try await fixture.database.requestCounts().byParkReason == [.providerPaused: 1])
        for (reason, count) in [(ParkReason.storePaused, 0), (.providerPaused, 1)] {
            _ = try await fixture.database.commit([.wake(parkedFor: reason, at: StateFixture.start)]
            )
            let due = try await fixture.database.dueRequests(
                at: StateFixture.start,
                limit: 10,
                excluding: [],
                laneLimits: [:]
            )
            #expect(due.requests.count == count)
        }
    }

    @Test func `pauses and begun purges survive`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("u")
        var purging = loaded.request
        purging.phase = .open(.purging)
        purging.purgeStartedAt = StateFixture.start
        _ = try await fixture.database.commit([
            .pauseProvider(Self.apple, reason: "invalid_client", at: StateFixture.start),
            .pauseStore(StoreName("app-db"), reason: "operator", at: StateFixture.start),
            .save(now: purging, was: loaded.request, at: StateFixture.start),
        ])
        let pauses = try await fixture.database.pauses()
        #expect(pauses.providers == [Self.apple: "invalid_client"])
        #expect(pauses.stores == [StoreName("app-db"): "operator"])
        #expect(try await fixture.database.purgeCount(since: StateFixture.start) == 1)
        #expect(try await fixture.database.purgeCount(since: StateFixture.start + .seconds(1)) == 0)
        // The service does not resume what an operator has paused, or give it a reason of its own.
        _ = try await fixture.database.commit([
            .pauseProvider(Self.apple, reason: "operator", by: 7, at: StateFixture.start),
            .pauseProvider(Self.apple, reason: "misconfigured", at: StateFixture.start),
            .resumeProvider(Self.apple, isOwn: true, at: StateFixture.start),
        ])
        #expect(try await fixture.database.pauses().providers == [Self.apple: "operator"])
        _ = try await fixture.database.commit([.resumeProvider(Self.apple, at: StateFixture.start)])
        #expect(try await fixture.database.pauses().providers.isEmpty)
    }

    @Test func `a batch with one refused change commits nothing`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let loaded = try await fixture.open("u")
        var illegal = loaded.request
        illegal.phase = .open(.purging)
        await #expect(throws: StorageError.self) {
            _ = try await fixture.database.commit([
                .pauseProvider(Self.apple, reason: "x", at: StateFixture.start),
                .save(now: illegal, was: loaded.request, at: StateFixture.start),
            ])
        }
        #expect(try await fixture.database.pauses().providers.isEmpty)
    }

    @Test func `what was under way is suspected of a crash of ours, once`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        _ = try await fixture.open("bystander")
        let loaded = try await fixture.open("u")
        var busy = loaded.request
        busy.revocations[0].isBusy = true
        let database = fixture.database
        try await fixture.save(busy, was: loaded.request)
        #expect(try await database.takeSuspects(isOwnCrash: false).isEmpty)
        #expect(try await database.takeSuspects(isOwnCrash: true).isEmpty)
        for count in 1...3 {
            try await fixture.save(busy, was: loaded.request)
            #expect(try await database.takeSuspects(isOwnCrash: true) == [busy.id])
            let record = try await database.requestRecord(busy.id)
            #expect(record?.request.crashCount == count)
            busy.crashCount = count
        }
    }

    @Test func `an exchange destroys the code and brings its tokens and subject`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(
            StateFixture.credential("u", "the code", kind: .authorizationCode)
        )
        let loaded = try await fixture.open("u")
        #expect(loaded.request.revocations[0].credentials[0].step == .codePending)
        var exchange = try #require(stored.exchange).exchange
        #expect(try await fixture.database.openExchanges(limit: 10).map(\.exchange) == [exchange])
        var random = SeededGenerator(seed: 1)
        _ = exchange.handle(.begin, now: StateFixture.start, random: &random)
        _ = try await fixture.database.commit([.saveExchange(exchange, at: StateFixture.start)])
        #expect(
            try await fixture.database.openExchanges(limit: 1).first?.exchange.phase == .exchanging
        )
        _ = exchange.handle(.exchanged, now: StateFixture.start, random: &random)
        let token = SealedToken(
            kind: .refreshToken,
            rowNonce: [1],
            sealedSecret: [2],
            fingerprint: [3],
            expiresAt: nil
        )
        let subject = LearnedSubject(hash: [4], rowNonce: [5], sealed: [6])
        let update = try #require(
            try await fixture.database.commit([
                .storeTokens(exchange, [token], subject, at: StateFixture.start)
            ])[0]?.identity
        )
        #expect(!update.isSubjectMismatch)
        #expect(update.openRequests == [loaded.request.id])
        #expect(update.snapshot.credentials.map(\.step) == [.unusable, .stored])
        #expect(update.snapshot.credentials[1].lastLiveAt == StateFixture.start)
        #expect(update.credentials.values.map(\.sealedSecret) == [[2]])
        #expect(update.credentials.values.map(\.isFromCode) == [true], "no other client's")
        #expect(try await fixture.database.openExchanges(limit: 10).isEmpty)
        #expect(
            try await fixture.int("SELECT count(*) FROM credentials WHERE sealed_secret IS NULL")
                == 1
        )
        let unseen = try await fixture.database.openRequests([loaded.request.id])[0].unseen
        #expect(
            unseen == [update.snapshot],
            "a crash here must not hide the token from its request"
        )
    }
}

extension StateStoreTests {
    @Test func `a wake of many goes page by page, and a stop in between loses none`()
        async throws
    {
        let fixture = try StateFixture()
        let database = fixture.database
        let count = Limits.wakePageMax * 2 + 100
        let outcomes = try await database.accept(
            (0..<count).map { StateFixture.submission("user \($0)") },
            policy: StateFixture.policy,
            now: StateFixture.start,
            newID: { RequestID(StateFixture.newID()) }
        )
        #expect(outcomes.count == count)
        try await fixture.execute(
            "UPDATE requests SET phase = 'revoking', park_reason = 'provider_paused', due_at = NULL"
        )
        var previous: RequestID?
        var woken: [Int] = []
        repeat {
            let update = try await database.commit([
                .wake(parkedFor: .providerPaused, after: previous, at: StateFixture.start)
            ])
            woken.append(
                try await fixture.int("SELECT count(*) FROM requests WHERE due_at IS NOT NULL")
            )
            previous = update[0]?.nextPage
            // What a start would go on with.
            #expect(try await database.pauses().unfinishedWakes[.providerPaused] == previous)
        } while previous != nil
        #expect(woken == [Limits.wakePageMax, Limits.wakePageMax * 2, count])
    }

    @Test func `what a request went on without is read back`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("u")
        var decided = loaded.request
        decided.isWithoutIdentities = true
        decided.unreadSources = ["spool", "queue app"]
        try await fixture.save(decided, was: loaded.request)
        let read = try await fixture.database.openRequests([decided.id])
        #expect(read.map(\.request) == [decided])
        try await fixture.save(decided.completed(), was: decided)
        let record = try await fixture.database.requestRecord(decided.id)
        #expect(record?.request.isWithoutIdentities == true)
        #expect(record?.request.unreadSources == ["spool", "queue app"])
    }
}

extension ChangeUpdate {
    fileprivate var identity: IdentityUpdate? {
        if case .identity(let update) = self { update } else { nil }
    }

    fileprivate var nextPage: RequestID? {
        if case .wakeGoesOn(_, let last) = self { last } else { nil }
    }
}

extension Request {
    /// As it is on disk: nothing is under way after a restart.
    fileprivate func withoutBusy() -> Request {
        var stored = self
        stored.lookup?.isBusy = false
        for index in stored.revocations.indices {
            stored.revocations[index].isBusy = false
            stored.revocations[index].isKeyMissing = false
        }
        for index in stored.purges.indices {
            stored.purges[index].isBusy = false
            stored.purges[index].workedPlaces = []
        }
        return stored
    }
}
