import Engine
import GRDB
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateMessageTests {
    private static let app = SubscriberName("app")
    private static let wishes = [
        SubscriberWish(app, requests: true, alarms: false),
        SubscriberWish(.mail, requests: false, alarms: true),
    ]

    private func fixture() async throws -> StateFixture {
        let fixture = try StateFixture()
        try await fixture.database.keepSubscribers(Self.wishes)
        return fixture
    }

    private func due(
        _ fixture: StateFixture,
        for name: SubscriberName = app
    ) async throws -> [MessageRecord] {
        try await fixture.database.dueMessages(for: name, at: StateFixture.start, limit: 100)
    }

    private static func address() -> SealedAddress {
        SealedAddress(
            keys: SealedKeys(
                request: RequestID(StateFixture.newID()),
                name: AddressTable.name,
                keyID: "k1",
                ownKey: StateFixture.hash("own"),
                sealedIDs: Array("sealed-canary-5a91".utf8)
            ),
            language: .german
        )
    }

    private func open(_ user: String, _ fixture: StateFixture) async throws -> LoadedRequest {
        var submission = StateFixture.submission(user)
        submission.address = Self.address()
        guard case .accepted(let loaded, _) = try await fixture.accept(submission)[0] else {
            throw StorageError(.sqlite, "accept", at: "test")
        }
        return loaded
    }

    @Test func `each change of a request queues a message in its own commit`() async throws {
        let fixture = try await fixture()
        let open = try await fixture.open("u")
        var purging = open.request
        purging.phase = .open(.purging)
        try await fixture.save(purging, was: open.request)
        var parked = purging
        parked.phase = .parked(.purging, .onHold, until: nil)
        try await fixture.save(parked, was: purging)
        try await fixture.save(parked, was: purging)
        try await fixture.save(purging.completed(), was: parked)
        let due = try await due(fixture)
        #expect(due.map(\.message.subject) == ["accepted", "purging", "parked", "completed"])
        #expect(due.map(\.message.detail) == [nil, nil, "on_hold", nil])
        #expect(due.allSatisfy { $0.message.request == open.request.id })
        #expect(due.allSatisfy { $0.message.kind == "delete_account" })
        #expect(Set(due.map(\.message.id)).count == 4)
        #expect(try await fixture.int("SELECT waiting FROM subscribers WHERE name = 'app'") == 4)
    }

    @Test func `a commit that fails queues nothing`() async throws {
        let fails = Mutex(false)
        let fixture = try StateFixture {
            if fails.withLock({ $0 }) { throw DatabaseError(resultCode: .SQLITE_FULL) }
        }
        try await fixture.database.keepSubscribers(Self.wishes)
        let open = try await fixture.open("u")
        fails.withLock { $0 = true }
        var next = open.request
        next.phase = .open(.purging)
        let saved = next
        await #expect(throws: StorageError.self) {
            try await fixture.save(saved, was: open.request)
        }
        await #expect(throws: StorageError.self) { _ = try await fixture.open("v") }
        fails.withLock { $0 = false }
        #expect(try await due(fixture).map(\.message.subject) == ["accepted"])
    }

    @Test func `without a subscriber nothing is queued, and a message goes with its own`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.open("u")
        #expect(try await fixture.int("SELECT count(*) FROM messages") == 0)
        try await fixture.database.keepSubscribers(Self.wishes)
        _ = try await fixture.open("v")
        #expect(try await due(fixture).count == 1)
        try await fixture.database.keepSubscribers([])
        #expect(try await fixture.int("SELECT count(*) FROM messages") == 0)
    }

    @Test func `a full queue drops and counts, and others still get theirs`() async throws {
        let fixture = try await fixture()
        let other = SubscriberName("crm")
        try await fixture.database.keepSubscribers(
            Self.wishes + [SubscriberWish(other, requests: true, alarms: true)]
        )
        let most = StateSchema.waitingMessagesMax
        try await fixture.execute("UPDATE subscribers SET waiting = \(most) WHERE name = 'app'")
        _ = try await fixture.open("u")
        #expect(try await due(fixture).isEmpty)
        #expect(try await due(fixture, for: other).count == 1)
        let queues = try await fixture.database.messageQueues()
        #expect(queues.map(\.dropped) == [1, 0, 0])
        #expect(queues.map(\.nextAt) == [nil, StateFixture.start, nil])
    }

    @Test func `attempts are recorded, and what has ended waits no more`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.open("u")
        let id = try #require(try await due(fixture).first?.message.id)
        let later = StateFixture.start + .seconds(5)
        func record(_ attempt: MessageAttempt) async throws {
            try await fixture.database.record([attempt], of: Self.app, now: later)
        }
        try await record(
            MessageAttempt(
                id,
                at: StateFixture.start,
                status: 503,
                failure: "refused",
                nextAt: later
            )
        )
        #expect(try await due(fixture).isEmpty)
        #expect(try await fixture.database.messageQueues().first?.nextAt == later)
        try await record(MessageAttempt(id, at: later, status: 200))
        // An attempt that ends after the message did changes nothing.
        try await record(MessageAttempt(id, at: later, failure: "lost", nextAt: later))
        let all = try await fixture.database.messages(before: nil, isWaiting: nil, limit: 10)
        #expect(all.map(\.attempts) == [2])
        #expect(all.map(\.isDelivered) == [true])
        #expect(all.map(\.status) == [200])
        #expect(try await fixture.int("SELECT waiting FROM subscribers WHERE name = 'app'") == 0)
    }

    @Test func `an operator can have a message delivered again`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.open("u")
        let id = try #require(try await due(fixture).first?.message.id)
        try await fixture.database.record(
            [MessageAttempt(id, at: StateFixture.start, status: 200)],
            of: Self.app,
            now: StateFixture.start
        )
        let again = try await fixture.database.redeliver(id, at: StateFixture.start)
        #expect(again?.dueAt == StateFixture.start)
        #expect(try await due(fixture).map(\.message.id) == [id])
        let other = MessageID(sequence: id.sequence, nonce: "0000000000000000")
        #expect(try await fixture.database.redeliver(other, at: StateFixture.start) == nil)
    }

    @Test(.onlySQLite)
    func `an address lives until its confirmation is delivered, and no byte of it longer`()
        async throws
    {
        let fixture = try await fixture()
        let open = try await open("u", fixture)
        try await fixture.save(open.request.completed(), was: open.request)
        let message = try #require(try await due(fixture, for: .mail).first).message
        #expect(message.topic == .confirmation)
        #expect(try await fixture.database.address(of: open.request.id)?.language == .german)
        try await fixture.database.scrub()
        #expect(fixture.filesHolding("sealed-canary-5a91") == ["state.db"])
        try await fixture.database.record(
            [MessageAttempt(message.id, at: StateFixture.start)],
            of: .mail,
            now: StateFixture.start
        )
        #expect(try await fixture.database.address(of: open.request.id) == nil)
        try await fixture.database.scrub()
        #expect(fixture.filesHolding("sealed-canary-5a91").isEmpty)
        // Without the address there is nothing to deliver again.
        let again = try await fixture.database.redeliver(message.id, at: StateFixture.start)
        #expect(again?.dueAt == nil)
    }

    @Test(arguments: ["cancelled", "given up", "too late", "mail turned off"])
    func `an address ends with the message that needs it`(_ end: String) async throws {
        let fixture = try await fixture()
        let open = try await open("u", fixture)
        var ended = open.request
        ended.phase = .cancelled
        ended.endedAt = StateFixture.start
        ended.dueAt = nil
        try await fixture.save(end == "cancelled" ? ended : ended.completed(), was: open.request)
        switch end {
        case "given up":
            let message = try #require(try await due(fixture, for: .mail).first).message
            try await fixture.database.record(
                [MessageAttempt(message.id, at: StateFixture.start, failure: "rejected")],
                of: .mail,
                now: StateFixture.start
            )
        case "too late":
            let after = StateFixture.start + .seconds(1)
            let count = try await fixture.database.expireMessages(of: .mail, begunBefore: after)
            #expect(count == 1)
        case "mail turned off": try await fixture.database.keepSubscribers([Self.wishes[0]])
        default: #expect(try await due(fixture, for: .mail).isEmpty)
        }
        #expect(try await fixture.database.address(of: open.request.id) == nil)
        #expect(try await fixture.int("SELECT count(*) FROM addresses") == 0)
    }

    @Test func `a vault key is in use while an address needs it, and rotation replaces it`()
        async throws
    {
        let fixture = try await fixture()
        let open = try await open("u", fixture)
        #expect(try await fixture.database.vaultKeyIDs() == ["k1"])
        let page = try await fixture.database.addresses(under: "k1", after: nil, limit: 10)
        #expect(page.map(\.request) == [open.request.id])
        let old = try #require(page.first)
        let new = SealedKeys(
            request: old.address.keys.request,
            name: old.address.keys.name,
            keyID: "k2",
            ownKey: StateFixture.hash("new"),
            sealedIDs: [1, 2]
        )
        #expect(try await fixture.database.replaceAddresses([(old: old, new: new)]) == 1)
        #expect(try await fixture.database.replaceAddresses([(old: old, new: new)]) == 0)
        #expect(try await fixture.database.vaultKeyIDs() == ["k2"])
    }

    @Test func `the list of ended messages is bounded`() async throws {
        let fixture = try await fixture()
        try await fixture.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 21000)
            INSERT INTO messages (subscriber, topic, kind, subject, occurred_at, begun_at)
            SELECT 'app', 'request', 'delete_account', 'completed', 0, \
            \(StateFixture.start.unixMilliseconds) FROM n
            """
        )
        _ = try await fixture.open("u")
        let id = try #require(try await due(fixture).first?.message.id)
        let attempt = MessageAttempt(id, at: StateFixture.start, failure: "lost", nextAt: .distant)
        for _ in 0..<6 {
            try await fixture.database.record([attempt], of: Self.app, now: StateFixture.start)
        }
        let count = try await fixture.int("SELECT count(*) FROM messages WHERE due_at IS NULL")
        #expect(count == Int(StateDatabase.endedMessagesMax) - 1)
    }

    @Test func `an alarm goes to those who want alarms`() async throws {
        let fixture = try await fixture()
        try await fixture.database.queue([
            AlarmMessage(
                event: "store_paused",
                severity: "error",
                text: "store app-db paused",
                request: nil,
                at: StateFixture.start
            )
        ])
        #expect(try await due(fixture).isEmpty)
        let alarm = try #require(try await due(fixture, for: .mail).first)
        #expect(alarm.message.topic == .alarm)
        #expect(alarm.message.detail == "store app-db paused")
    }

    @Test func `an alarm about mail does not go to mail`() async throws {
        let fixture = try await fixture()
        try await fixture.execute("UPDATE subscribers SET wants_alarms = 1")
        var alarm = AlarmMessage(
            event: "messages_failing",
            severity: "warning",
            text: "messages to subscriber mail fail",
            request: nil,
            at: StateFixture.start
        )
        alarm.exempt = .mail
        try await fixture.database.queue([alarm])
        #expect(try await due(fixture, for: .mail).isEmpty)
        #expect(try await due(fixture).map(\.message.subject) == ["messages_failing"])
    }
}

extension WallTime {
    fileprivate static let distant = StateFixture.start + .seconds(86_400)
}
