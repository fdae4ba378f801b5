import Engine
import Lifecycle
import Testing

@testable import Storage

/// A token that an application stores in the moment before the purge of its user begins.
@Suite(.onEachDatabase)
struct UnseenCredentialTests {
    @Test func `a purge does not begin beside a credential that its request does not know`()
        async throws
    {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("alice")
        let other = try await fixture.open("bob")
        let stored = try await fixture.keep(StateFixture.credential("alice", "late"))
        #expect(stored.update.openRequests == [loaded.request.id], "it was acknowledged")
        let both = [Self.beginning(loaded.request), Self.beginning(other.request)]
        let refused = await #expect(throws: CommitRefusal.self) {
            try await fixture.database.commit(both)
        }
        #expect(refused == CommitRefusal(unseenBy: [loaded.request.id]))
        let read = try await fixture.database.openRequests([loaded.request.id, other.request.id])
        #expect(read.allSatisfy { $0.request.purgeStartedAt == nil }, "nothing was written")
        #expect(read.first?.unseen.map(\.identity) == [stored.identity])
        _ = try await fixture.database.commit([both[1]])

        var knowing = loaded.request
        knowing.revocations.append(Revocation(try #require(read.first?.unseen.first)))
        knowing.revocations[0].verdict = .accepted
        try await fixture.save(knowing, was: loaded.request)
        _ = try await fixture.database.commit([Self.beginning(knowing)])
        let late = try await fixture.store(StateFixture.credential("alice", "too late"))
        guard case .rejected(.deletionInProgress) = late[0] else {
            Issue.record("it was taken")
            return
        }
    }

    private static func beginning(_ request: Request) -> StateChange {
        var now = request
        now.phase = .open(.purging)
        now.purgeStartedAt = StateFixture.start
        return .save(now: now, was: request, at: StateFixture.start)
    }
}
