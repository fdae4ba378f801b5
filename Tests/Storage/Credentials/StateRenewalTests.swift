import Lifecycle
import Testing

@testable import Engine
@testable import Storage

@Suite(.onEachDatabase)
struct StateRenewalTests {
    private static let apple = ProviderName("apple")
    private static let day = Duration.seconds(86_400)

    private static func time(day count: Double) -> WallTime {
        StateFixture.start + .milliseconds(Int64(count * 86_400_000))
    }

    /// A token that lives a hundred days: renewed on day 60 to 80, warned about on day 86.
    private static func policy(
        isWanted: Bool = true,
        mayRotate: Bool = true,
        kind: CredentialKind = .refreshToken,
        isMoot: Bool = false
    ) throws -> KeepAlivePolicy {
        let traits = ProviderTraits(
            canCheckRefreshToken: true,
            refreshInterval: day,
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            rotatesRefreshTokens: mayRotate,
            tokenClock: TokenClock(
                day * 100,
                kind: kind,
                isRenewable: kind == .refreshToken,
                isMootWithSubject: isMoot
            ),
            userActionURL: "",
            userActionText: ""
        )
        return try #require(
            KeepAlivePolicy(traits: traits, isWanted: isWanted, warnBefore: day * 14)
        )
    }

    private static func tend(
        _ fixture: StateFixture,
        _ policy: KeepAlivePolicy,
        day: Double = 0
    ) async throws -> (expiring: Int, goesOn: Bool) {
        let change = StateChange.tendRenewals([apple: policy], at: time(day: day))
        let update = try await fixture.database.commit([change])
        guard case .renewalsTended(let expiring, let goesOn)?? = update.first else {
            throw StorageError(.sqlite, "tend", at: "test")
        }
        return (expiring[apple] ?? 0, goesOn)
    }

    private static func due(_ fixture: StateFixture, day: Double) async throws -> DueRenewals {
        try await fixture.database.dueRenewals(of: [apple], at: time(day: day), limit: 1000)
    }

    private static func begin(
        _ fixture: StateFixture,
        _ id: CredentialID,
        _ policy: KeepAlivePolicy,
        day: Double
    ) async throws -> SealedCredential? {
        let change = StateChange.beginRenewal(id, policy, at: time(day: day))
        guard
            case .renewalBegun(_, let sealed)?? = try await fixture.database.commit([change]).first
        else { throw StorageError(.sqlite, "begin", at: "test") }
        return sealed
    }

    private static func end(
        _ fixture: StateFixture,
        _ id: CredentialID,
        _ outcome: EndedRenewal.Outcome,
        begunOn begun: Double,
        day: Double
    ) async throws -> IdentityUpdate? {
        let ended = EndedRenewal(credential: id, begunAt: time(day: begun), outcome: outcome)
        let change = StateChange.endRenewal(ended, at: time(day: day))
        guard
            case .renewalEnded(_, let update)?? = try await fixture.database.commit([change]).first
        else { throw StorageError(.sqlite, "end", at: "test") }
        return update
    }

    private static func isInDoubt(_ fixture: StateFixture, _ user: String) async throws -> Bool {
        let open = try await fixture.open(user)
        let works = open.request.revocations.flatMap(\.credentials)
        return works.contains(where: \.rotation.isInDoubt)
    }

    @Test func `credentials are enrolled page by page, and only those whose clock runs`()
        async throws
    {
        let fixture = try StateFixture()
        for index in 0..<1100 {
            let kind: CredentialKind = index % 11 == 0 ? .accessToken : .refreshToken
            let provider = index % 5 == 0 ? "google" : "apple"
            _ = try await fixture.store(
                StateFixture.credential("u\(index)", "t\(index)", kind: kind, provider: provider)
            )
        }
        let policy = try Self.policy()
        #expect(try await Self.tend(fixture, policy).goesOn)
        #expect(try await Self.tend(fixture, policy).goesOn)
        #expect(try await !Self.tend(fixture, policy).goesOn)
        #expect(try await Self.due(fixture, day: 59.9).renewals.isEmpty)
        #expect(try await Self.due(fixture, day: 80.1).renewals.count == 800)
        // Each at its own moment, over twenty days.
        let half = try await Self.due(fixture, day: 70).renewals.count
        #expect((300...500).contains(half))
    }

    @Test func `a token is renewed with what is stored at that context, and not again for long`()
        async throws
    {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let policy = try Self.policy()
        _ = try await Self.tend(fixture, policy)
        #expect(try await Self.begin(fixture, stored.credential, policy, day: 50) == nil)
        let sealed = try await Self.begin(fixture, stored.credential, policy, day: 81)
        #expect(sealed?.sealedSecret == Array("sealed:t".utf8))
        let next = Self.time(day: 150)
        let update = try await Self.end(
            fixture,
            stored.credential,
            .kept(dueAt: next, warnAt: Self.time(day: 170)),
            begunOn: 81,
            day: 81.1
        )
        #expect(update == nil)
        let later = try await Self.due(fixture, day: 100)
        #expect(later.renewals.isEmpty && later.nextDueAt == next)
        #expect(try await Self.tend(fixture, policy, day: 100).expiring == 0)
        #expect(try await !Self.isInDoubt(fixture, "u"))
    }

    @Test func `a token that something else used is put off`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let policy = try Self.policy()
        _ = try await Self.tend(fixture, policy)
        let rotated = SealedToken(
            kind: .refreshToken,
            rowNonce: [1],
            sealedSecret: [2],
            fingerprint: [3],
            expiresAt: nil
        )
        _ = try await fixture.database.commit([
            .rotate(stored.credential, rotated, at: Self.time(day: 40))
        ])
        #expect(try await Self.begin(fixture, stored.credential, policy, day: 81) == nil)
        #expect(try await Self.due(fixture, day: 99).renewals.isEmpty)
        let sealed = try await Self.begin(fixture, stored.credential, policy, day: 121)
        #expect(sealed?.sealedSecret == [2])
    }

    @Test func `a request that has begun on the identity keeps it to itself`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let policy = try Self.policy()
        _ = try await Self.tend(fixture, policy)
        let loaded = try await fixture.open("u")
        // Waiting alone, for however long, is no reason to let the token die.
        #expect(try await Self.begin(fixture, stored.credential, policy, day: 81) != nil)
        var begun = loaded.request
        begun.revocations[0].startedAt = Self.time(day: 82)
        _ = try await fixture.database.commit([
            .save(now: begun, was: loaded.request, at: Self.time(day: 82))
        ])
        #expect(try await Self.begin(fixture, stored.credential, policy, day: 83) == nil)
    }

    @Test func `an unheard answer leaves a token in doubt until a live one`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let id = stored.credential
        let policy = try Self.policy()
        _ = try await Self.tend(fixture, policy)
        let request = try await fixture.open("u").request.id
        func doubts() async throws -> [Bool] {
            let loaded = try await fixture.database.openRequests([request])
            return loaded[0].unseen.flatMap(\.credentials).map(\.rotation.isInDoubt)
        }
        #expect(try await doubts().isEmpty)
        _ = try await Self.begin(fixture, id, policy, day: 81)
        // The process may die here; a request that was there before hears of it.
        #expect(try await doubts() == [true])
        let update = try await Self.end(
            fixture,
            id,
            .failed(retryAt: Self.time(day: 82), isInDoubt: true),
            begunOn: 81,
            day: 81.1
        )
        #expect(update?.snapshot.credentials.first?.rotation.isInDoubt == true)
        #expect(update?.openRequests == [request])
        _ = try await Self.begin(fixture, id, policy, day: 83)
        // The refusal is of a token that may be used up: it clears nothing.
        #expect(try await Self.end(fixture, id, .refused, begunOn: 83, day: 83) == nil)
        #expect(try await doubts() == [true])
        #expect(try await Self.due(fixture, day: 400).renewals.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a refusal that was heard leaves no doubt`(mayRotate: Bool) async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let policy = try Self.policy(mayRotate: mayRotate)
        _ = try await Self.tend(fixture, policy)
        _ = try await Self.begin(fixture, stored.credential, policy, day: 81)
        _ = try await Self.end(fixture, stored.credential, .refused, begunOn: 81, day: 81)
        #expect(try await !Self.isInDoubt(fixture, "u"))
        #expect(try await Self.tend(fixture, policy, day: 400).expiring == 0)
    }

    @Test func `a dying token is told about once, and counted until it is renewed or gone`()
        async throws
    {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(StateFixture.credential("u", "t"))
        let other = try await fixture.keep(StateFixture.credential("v", "w"))
        let policy = try Self.policy()
        #expect(try await Self.tend(fixture, policy, day: 85.9).expiring == 0)
        #expect(try await Self.tend(fixture, policy, day: 86.1).expiring == 2)
        #expect(try await Self.tend(fixture, policy, day: 86.2).expiring == 0)
        #expect(try await fixture.database.expiringTokens() == [Self.apple: 2])
        _ = try await Self.begin(fixture, stored.credential, policy, day: 90)
        _ = try await Self.end(
            fixture,
            stored.credential,
            .kept(dueAt: Self.time(day: 160), warnAt: Self.time(day: 176)),
            begunOn: 90,
            day: 90
        )
        #expect(try await fixture.database.expiringTokens() == [Self.apple: 1])
        let hash = StateFixture.hash("v")
        #expect(
            try await fixture.database.forgetIdentity(other.identity, of: hash, by: 0) == .forgotten
        )
        #expect(try await fixture.database.expiringTokens().isEmpty)
    }

    @Test func `another configuration enrols everything anew`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "t"))
        _ = try await Self.tend(fixture, try Self.policy())
        _ = try await Self.tend(fixture, try Self.policy(isWanted: false))
        #expect(try await Self.due(fixture, day: 400).renewals.isEmpty)
        #expect(
            try await Self.tend(fixture, try Self.policy(isWanted: false), day: 87).expiring == 1
        )
        _ = try await Self.tend(fixture, try Self.policy())
        #expect(try await Self.due(fixture, day: 81).renewals.count == 1)
    }

    @Test func `an access token that cannot be renewed is warned about unless it is not missed`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "t", kind: .accessToken))
        _ = try await fixture.keep(
            StateFixture.credential("v", "w", kind: .accessToken, subject: "s")
        )
        let policy = try Self.policy(kind: .accessToken, isMoot: true)
        #expect(try await Self.tend(fixture, policy, day: 87).expiring == 1)
        #expect(try await Self.due(fixture, day: 400).renewals.isEmpty)
    }
}
