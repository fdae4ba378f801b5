import Engine
import GRDBSQLite
import Lifecycle
import Testing

@testable import Storage

/// What status, metrics and the watchdog ask again and again.
@Suite(.onEachDatabase)
struct StateCountTests {
    @Test func `open requests are counted by state and reason, and the oldest is known`()
        async throws
    {
        let fixture = try StateFixture()
        #expect(try await fixture.database.requestCounts().byState[.accepted] == nil)
        var opened: [RequestID] = []
        for user in ["a", "b", "c", "d"] {
            opened.append(try await fixture.open(user).request.id)
        }
        let parked = try #require(try await fixture.database.openRequests([opened[1]]).first)
        for (index, reason) in [(1, ParkReason.providerPaused), (2, .storePaused)] {
            let loaded = try #require(
                try await fixture.database.openRequests([opened[index]]).first
            )
            var request = loaded.request
            request.phase = .parked(.revoking, reason, until: nil)
            request.dueAt = nil
            try await fixture.save(request, was: loaded.request)
        }
        let counts = try await fixture.database.requestCounts()
        #expect(counts.byParkReason == [.providerPaused: 1, .storePaused: 1])
        #expect(counts.byState[.parked] == 2)
        #expect(counts.byState[parked.request.phase.state] == 2)
        #expect(counts.oldestAcceptedAt == StateFixture.start)
    }

    @Test func `requests that wait at a provider are counted by client id, parked ones are not`()
        async throws
    {
        let fixture = try StateFixture()
        for user in ["a", "b", "c"] {
            _ = try await fixture.keep(StateFixture.credential(user, user))
            let was = try await fixture.open(user).request
            guard user == "b" else { continue }
            var parked = was
            parked.phase = .parked(.revoking, .providerPaused, until: nil)
            parked.dueAt = nil
            try await fixture.save(parked, was: was)
        }
        let counts = try await fixture.database.waitingCounts(at: ProviderName("apple"))
        #expect(counts == ["com.example.app": 2])
        #expect(try await fixture.database.waitingCounts(at: ProviderName("google")) == [:])
    }

    @Test func `open requests that a store blocks are counted by store, ended ones are not`()
        async throws
    {
        let fixture = try StateFixture()
        for (user, obstacle) in [("a", "trigger 'keep' of 'posts'"), ("b", nil)] {
            let id = try await fixture.open(user).request.id
            let loaded = try #require(try await fixture.database.openRequests([id]).first)
            var request = loaded.request
            request.purges = request.purges.map { work in
                var blocked = work
                blocked.obstacle = obstacle
                return blocked
            }
            try await fixture.save(request, was: loaded.request)
        }
        let blocked = try await fixture.database.requestCounts().blocked
        #expect(!blocked.isEmpty)
        #expect(blocked.values.allSatisfy { $0 == ["trigger 'keep' of 'posts'": 1] })
    }

    @Test(.onlySQLite)
    func `counting open requests takes no memory for each of them`() async throws {
        let fixture = try StateFixture()
        for batch in 0..<8 {
            let submissions = (0..<1000).map { StateFixture.submission("user-\(batch)-\($0)") }
            _ = try await fixture.database.accept(
                submissions,
                policy: StateFixture.policy,
                now: StateFixture.start,
                newID: { RequestID(StateFixture.newID()) }
            )
        }
        // The pages that are read stay in the cache of the connection.
        for _ in 0..<SQLiteState.readerCountMax * 2 {
            _ = try await fixture.database.requestCounts()
        }
        let before = sqlite3_memory_used()
        _ = sqlite3_memory_highwater(1)
        let counts = try await fixture.database.requestCounts()
        let taken = sqlite3_memory_highwater(0) - before
        #expect(counts.byState.values.reduce(0, +) == 8000)
        // A sorted copy of all rows would be 80 bytes for each, 640 KB.
        #expect(taken < 100_000, "\(taken) bytes")
    }
}
