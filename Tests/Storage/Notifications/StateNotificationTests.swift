import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateNotificationTests {
    private static let start = StateFixture.start
    private static let subject = "sub-1"

    private static func notification(
        _ meaning: NotificationMeaning = .linkCut,
        key: String = "k1",
        subject: String? = subject,
        clientIDs: Set<String>? = nil,
        at time: WallTime = start + .seconds(10)
    ) -> NotificationRecord {
        NotificationRecord(
            keyHash: StateFixture.hash(key),
            provider: ProviderName("apple"),
            meaning: meaning,
            event: "e",
            subjectHash: subject.map { StateFixture.hash($0) },
            clientIDs: clientIDs,
            occurredAt: time,
            receivedAt: start,
            uid: 1000,
            role: "submit",
            code: "code-\(key)"
        )
    }

    private func weigh(
        _ fixture: StateFixture,
        _ notification: NotificationRecord,
        mayUpdateLink: Bool = true
    ) async throws -> NotificationFinding {
        _ = try await fixture.database.recordNotifications([notification])
        return try await fixture.database.weigh(
            notification,
            mayUpdateLink: mayUpdateLink,
            at: Self.start
        )
    }

    private func keep(_ fixture: StateFixture, _ user: String = "u") async throws {
        let credential = StateFixture.credential(user, "token of \(user)", subject: Self.subject)
        _ = try await fixture.keep(credential)
    }

    @Test func `a notification is recorded once, and its subject is forgotten when it is settled`()
        async throws
    {
        let fixture = try StateFixture()
        let first = try await fixture.database.recordNotifications([Self.notification()])
        #expect(first[0].effect == nil)
        #expect(try await fixture.database.pendingNotifications(limit: 10) == [Self.notification()])
        let id = RequestID(StateFixture.newID())
        try await fixture.database.settleNotification(
            first[0].keyHash,
            .deletionRequested,
            request: id
        )
        let again = try await fixture.database.recordNotifications([Self.notification()])[0]
        #expect(again.effect == .deletionRequested && again.requestID == id)
        #expect(again.subjectHash == nil)
        #expect(try await fixture.database.pendingNotifications(limit: 10).isEmpty)
        let asked = try await fixture.database.notification(
            code: "code-k1",
            of: ProviderName("apple")
        )
        #expect(asked == again)
        let elsewhere = try await fixture.database.notification(
            code: "code-k1",
            of: ProviderName("meta")
        )
        #expect(elsewhere == nil)
    }

    /// Verdicts while the request still revokes, and whether the provider's word adds to them.
    static let verdicts: [(Verdict?, Bool)] = [
        (nil, true), (.accepted, true), (.unconfirmed, true), (.proven, false), (.manual, false),
    ]

    @Test(
        "a restart tells a request of a reported cut, where its verdict may rise",
        arguments: verdicts
    )
    func unseenCut(_ verdict: Verdict?, _ isTold: Bool) async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        let was = try await fixture.open("u").request
        var request = was
        request.revocations[0].verdict = verdict
        try await fixture.save(request, was: was)
        _ = try await weigh(fixture, Self.notification(.accountGone))
        let loaded = try await fixture.database.openRequests([request.id])
        #expect(loaded[0].unseen.map(\.isCut) == (isTold ? [true] : []))
    }

    @Test func `the user of a subject is found with the sealed id and the open deletion`()
        async throws
    {
        let fixture = try StateFixture()
        try await keep(fixture)
        let open = try await fixture.open("u")
        guard case .user(let user) = try await weigh(fixture, Self.notification(.accountGone))
        else {
            Issue.record("no user found")
            return
        }
        #expect(user.userHash == StateFixture.hash("u"))
        #expect(user.userID == SealedUserID(rowNonce: [1], sealed: [2, 3]))
        #expect(user.openDeletion == open.request.id)
        #expect(user.update.map(\.snapshot.isCut) == [true])
        #expect(user.update.map(\.openRequests) == [[open.request.id]])
        // A restart tells the request again what it has not seen.
        let loaded = try await fixture.database.openRequests([open.request.id])
        #expect(loaded[0].unseen.map(\.isCut) == [true])
        // And a later request knows it from the start.
        let second = try await fixture.database.identities(user.userHash)
        #expect(second.count == 1)
    }

    @Test(
        "a notification without a time of its own is no evidence: the identity stays to be revoked",
        arguments: [NotificationMeaning.linkCutUndated, .accountGoneUndated]
    )
    func undated(_ meaning: NotificationMeaning) async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        let open = try await fixture.open("u")
        guard case .user(let user) = try await weigh(fixture, Self.notification(meaning)) else {
            Issue.record("no user found")
            return
        }
        #expect(user.openDeletion == open.request.id)
        #expect(user.update.isEmpty && user.raised == 0)
        #expect(try await fixture.int("SELECT count(link_cut_at) FROM identities") == 0)
        #expect(try await fixture.database.openRequests([open.request.id])[0].unseen.isEmpty)
    }

    @Test func `nothing is marked when the policy is to report`() async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        guard
            case .user(let user) = try await weigh(
                fixture,
                Self.notification(),
                mayUpdateLink: false
            )
        else {
            Issue.record("no user found")
            return
        }
        #expect(user.update.isEmpty)
        #expect(try await fixture.int("SELECT count(link_cut_at) FROM identities") == 0)
    }

    @Test func `strangers, other clients and shared subjects are not acted on`() async throws {
        let fixture = try StateFixture()
        #expect(try await weigh(fixture, Self.notification()) == .unknown)
        #expect(try await weigh(fixture, Self.notification(key: "k2", subject: nil)) == .unknown)
        try await keep(fixture)
        let other = Self.notification(key: "k3", clientIDs: ["com.example.web"])
        #expect(try await weigh(fixture, other) == .unknown)
        try await keep(fixture, "v")
        #expect(try await weigh(fixture, Self.notification(key: "k4")) == .shared)
        #expect(try await fixture.int("SELECT count(link_cut_at) FROM identities") == 0)
    }

    @Test func `what is stored after the event outweighs it`() async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        let before = Self.start - .seconds(1)
        #expect(try await weigh(fixture, Self.notification(at: before)) == .stale)
        // An account that was made a minute later is not the one that was deleted.
        let long = Self.start - .seconds(61)
        #expect(
            try await weigh(fixture, Self.notification(.accountGone, key: "k2", at: long)) == .stale
        )
        // Within the minute the user is meant, though the token may be newer than the cut.
        guard
            case .user(let user) = try await weigh(
                fixture,
                Self.notification(.accountGone, key: "k3", at: before)
            )
        else {
            Issue.record("no user found")
            return
        }
        #expect(user.update.isEmpty)
    }

    @Test func `a code that was lost after the cut keeps the link open`() async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        try await fixture.execute("UPDATE credentials SET last_live_at = 1")
        let code = StateFixture.credential("u", "code", kind: .authorizationCode)
        let stored = try await fixture.keep(code)
        var exchange = try #require(stored.exchange).exchange
        var random = SeededGenerator(seed: 1)
        _ = exchange.handle(.begin, now: Self.start, random: &random)
        _ = exchange.handle(.failure(.lost), now: Self.start, random: &random)
        _ = try await fixture.database.commit([.saveExchange(exchange, at: Self.start)])
        try await fixture.execute(
            "UPDATE credentials SET created_at = 2 WHERE code_phase IS NULL"
        )
        let before = Self.start - .seconds(1)
        #expect(try await weigh(fixture, Self.notification(at: before)) == .stale)
        let open = try await fixture.open("u")
        #expect(open.request.revocations.map(\.isCut) == [false])
        let works = open.request.revocations[0].credentials
        // The token was live before the cut only, and the code may have opened another grant.
        #expect(works.filter { $0.step == .stored }.map(\.lastLiveAt) == [nil])
        #expect(works.filter { $0.step == .lost }.map(\.rotation.isInDoubt) == [true])
    }

    @Test func `a new sign-in mends the link`() async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        _ = try await weigh(fixture, Self.notification(at: Self.start))
        let later = try await fixture.open("u", .revokeTokens)
        #expect(later.request.revocations.map(\.isCut) == [true])
        try await fixture.execute(
            "UPDATE credentials SET last_live_at = \(Self.start.unixMilliseconds + 1)"
        )
        let loaded = try await fixture.database.openRequests([later.request.id])
        #expect(loaded[0].unseen.isEmpty)
    }

    @Test func `an echo after the end is an addendum, and the receipt stays as it was`()
        async throws
    {
        let fixture = try StateFixture()
        try await keep(fixture)
        let open = try await fixture.open("u")
        var done = open.request.completed()
        done.revocations[0].verdict = .accepted
        done.revocations[0].startedAt = Self.start
        try await fixture.save(done, was: open.request)
        let early = Self.notification(key: "k0", at: Self.start - .seconds(1))
        #expect(try await weigh(fixture, early) == .echo(open.request.id, raised: 0))
        let finding = try await weigh(fixture, Self.notification())
        #expect(finding == .echo(open.request.id, raised: 1))
        let record = try await fixture.database.requestRecord(open.request.id)
        #expect(record?.request.revocations.map(\.verdict) == [.accepted])
        #expect(record?.addenda.map(\.verdict) == [.proven])
        #expect(record?.addenda.map(\.identity) == done.revocations.map(\.identity))
        let again = try await weigh(fixture, Self.notification(key: "k2"))
        #expect(again == .echo(open.request.id, raised: 0))
    }

    @Test func `an echo while purging is an addendum, and the receipt stays as it will be`()
        async throws
    {
        let fixture = try StateFixture()
        try await keep(fixture)
        let open = try await fixture.open("u")
        var purging = open.request
        purging.phase = .open(.purging)
        purging.purgeStartedAt = Self.start
        purging.revocations[0].verdict = .accepted
        purging.revocations[0].startedAt = Self.start
        purging.revocations[0].endedAt = Self.start
        try await fixture.save(purging, was: open.request)
        guard case .user(let user) = try await weigh(fixture, Self.notification()) else {
            Issue.record("no user found")
            return
        }
        #expect(user.raised == 1)
        #expect(user.update.flatMap(\.openRequests).isEmpty)
        // The engine's own later save, which knows nothing of it, leaves it.
        var done = purging
        done.purges[0].step = .verified
        done.phase = .completed
        done.endedAt = Self.start
        try await fixture.save(done, was: purging)
        let record = try await fixture.database.requestRecord(open.request.id)
        #expect(record?.request.revocations.map(\.verdict) == [.accepted])
        #expect(record?.addenda.map(\.verdict) == [.proven])
    }

    @Test func `old notifications and links are forgotten`() async throws {
        let fixture = try StateFixture()
        try await keep(fixture)
        let open = try await fixture.open("u")
        try await fixture.save(open.request.completed(), was: open.request)
        _ = try await fixture.database.recordNotifications([Self.notification(key: "old")])
        let old = (Self.start - StateDatabase.notificationRetention).unixMilliseconds - 1
        try await fixture.execute("UPDATE notifications SET received_at = \(old)")
        try await fixture.execute("UPDATE erased_links SET ended_at = \(old)")
        _ = try await fixture.database.recordNotifications([Self.notification()])
        #expect(try await fixture.int("SELECT count(*) FROM notifications") == 1)
        #expect(try await fixture.int("SELECT count(*) FROM erased_links") == 0)
    }
}
