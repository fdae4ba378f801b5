import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateOpenDeletionTests {
    @Test func `a store that joins an open deletion is stored with it`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("alice")
        var joined = loaded.request
        joined.purges.append(PurgeWork(store: StoreName("crm")))
        joined.dueAt = StateFixture.start + .seconds(1)
        try await fixture.save(joined, was: loaded.request)
        var worked = joined
        worked.purges[1].attempts = 2
        worked.purges[1].restoredAt = StateFixture.start + .seconds(7)
        try await fixture.save(worked, was: joined)
        let read = try await fixture.database.openRequests([joined.id])
        #expect(read.first?.request.purges == worked.purges)
    }

    private static let store = StoreName("app-db")

    @Test("those that have begun are found, with what the last commit says of the store")
    func begun() async throws {
        let fixture = try StateFixture()
        var ids: [PurgeWork.Step: RequestID] = [:]
        for step in PurgeWork.Step.allCases {
            let loaded = try await fixture.open(step.rawValue)
            var begun = loaded.request
            begun.phase = .open(.purging)
            begun.purgeStartedAt = StateFixture.start
            begun.purges[0].attempts = 1
            begun.purges[0].step = step
            try await fixture.save(begun, was: loaded.request)
            ids[step] = begun.id
        }
        let untouched = try await fixture.open("nobody has begun")
        let ended = try await fixture.open("ended")
        var completed = ended.request
        completed.phase = .completed
        completed.purgeStartedAt = StateFixture.start
        completed.purges[0].attempts = 1
        completed.purges[0].step = .verified
        completed.endedAt = StateFixture.start
        completed.dueAt = nil
        try await fixture.save(completed, was: ended.request)

        let found = try await fixture.database.openDeletions(begunIn: [Self.store])
        #expect(found[untouched.request.id] == nil)
        #expect(found.count == 3)
        for (step, id) in ids { #expect(found[id] == (step != .waiting), "\(step)") }
        let others = try await fixture.database.openDeletions(begunIn: [StoreName("crm")])
        #expect(others.isEmpty)
    }
}
