import Engine
import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateEndTests {
    private static let canaryUser = "canary-user-7f3a9c51d2e8"
    private static let canaryToken = "canary-token-b61e0f94a7"

    @Test(.onlySQLite)
    func `a clean stop leaves the database alone, without a log beside it`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "token"))
        // A reader that is open at the end must not be the last one.
        _ = try await fixture.database.userKey(StateFixture.hash("u"))
        var status = stat()
        #expect(unsafe stat(fixture.directory + "/state.db-wal", &status) == 0)
        try await fixture.database.close()
        for suffix in ["-wal", "-shm"] {
            #expect(unsafe stat(fixture.directory + "/state.db" + suffix, &status) != 0)
        }
    }

    @Test(.onlySQLite)
    func `nothing of a deleted user is left in our files after the scrub`() async throws {
        let fixture = try StateFixture()
        let stored = try await fixture.keep(
            StateFixture.credential(
                Self.canaryUser,
                Self.canaryToken,
                subject: "canary-subject-88a1"
            )
        )
        _ = try await fixture.keep(StateFixture.credential("bystander", "bystander-token-01"))
        let open = try await fixture.open(Self.canaryUser)
        _ = try await fixture.database.scrub()
        #expect(fixture.filesHolding(Self.canaryUser) == ["state.db"])
        let before = try await fixture.database.requestRecord(open.request.id)
        #expect(before?.user != nil)

        try await fixture.save(open.request.completed(), was: open.request)
        let ended = try #require(try await fixture.database.requestRecord(open.request.id))
        #expect(ended.user == nil)
        #expect(ended.scrubbedAt == nil)
        #expect(try await fixture.database.userKey(StateFixture.hash(Self.canaryUser)) == nil)
        #expect(try await fixture.int("SELECT count(*) FROM credentials") == 1)

        _ = try await fixture.database.scrub()
        for canary in [Self.canaryUser, Self.canaryToken, "canary-subject-88a1"] {
            #expect(fixture.filesHolding(canary).isEmpty, "\(canary)")
        }
        let key = String(decoding: StateFixture.hash("key of \(Self.canaryUser)"), as: UTF8.self)
        #expect(fixture.filesHolding(key).isEmpty)
        #expect(fixture.filesHolding("bystander-token-01") == ["state.db"])
        #expect(
            try await fixture.database.requestRecord(open.request.id)?.scrubbedAt
                == StateFixture.start
        )
        #expect(ended.request.revocations[0].identity == stored.identity)
    }

    @Test func `an ending is scrubbed by the running service`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("u")
        try await fixture.save(open.request.completed(), was: open.request)
        fixture.database.scrubSignal.finish()
        try await fixture.database.runScrubs(delay: .zero)
        #expect(
            try await fixture.database.requestRecord(open.request.id)?.scrubbedAt
                == StateFixture.start
        )
    }

    @Test func `a reader in the way delays the scrub and nothing else`() async throws {
        let mustStay = StateKind.current == .postgresql
        // The scrub is to wait in vain, which takes two seconds by this clock.
        let fixture =
            try mustStay
            ? StateFixture(StateFixture.makeState(uptime: StateServer.uptime(slowedBy: 4)))
            : StateFixture()
        let open = try await fixture.open("u")
        let (entered, enter) = AsyncStream<Void>.makeStream()
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        async let reader: Void = fixture.database.read { database in
            // The server is not to end it, however long the scrub waits.
            if mustStay { try database.run("SET LOCAL idle_in_transaction_session_timeout = 0") }
            _ = try database.int("SELECT count(*) FROM requests")
            enter.finish()
            var byte: UInt8 = 0
            _ = unsafe read(readEnd, &byte, 1)
        }
        for await _ in entered {}
        try await fixture.save(open.request.completed(), was: open.request)
        let error = await #expect(throws: StorageError.self) {
            _ = try await fixture.database.scrub()
        }
        #expect(error?.kind == .busy)
        close(writeEnd)
        try await reader
        close(readEnd)
        _ = try await fixture.database.scrub()
        #expect(try await fixture.database.requestRecord(open.request.id)?.scrubbedAt != nil)
    }

    @Test func `a revocation deletes what has a verdict and nothing else`() async throws {
        let fixture = try StateFixture()
        let kept = try await fixture.keep(StateFixture.credential("u", "a", provider: "google"))
        let gone = try await fixture.keep(StateFixture.credential("u", "b", provider: "apple"))
        let open = try await fixture.open("u", .revokeTokens)
        var cancelled = open.request
        let index = try #require(
            cancelled.revocations.firstIndex { $0.identity == gone.identity }
        )
        cancelled.revocations[index].verdict = .proven
        cancelled.phase = .cancelled
        cancelled.endedAt = StateFixture.start
        try await fixture.save(cancelled, was: open.request)
        let left = try await fixture.database.identities(StateFixture.hash("u"))
        #expect(left.map(\.id) == [kept.identity])
        #expect(try await fixture.database.erasedAt(StateFixture.hash("u")) == nil)
        #expect(try await fixture.database.userKey(StateFixture.hash("u")) != nil)
        #expect(try await fixture.database.requestCounts().byState[.cancelled] == 1)
    }
}
