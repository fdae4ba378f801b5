import Engine
import Lifecycle
import Testing

@testable import Storage

/// What the status page asks for.
@Suite(.onEachDatabase)
struct StateOverviewTests {
    private static let day = Duration.seconds(86_400)
    private static let ages: [Duration] = [.seconds(3600), day, day * 7, day * 30]

    private static func accept(
        _ user: String,
        at time: WallTime,
        in fixture: StateFixture
    )
        async throws -> RequestID
    {
        var random = SeededGenerator(seed: UInt64(time.unixMilliseconds))
        let id = RequestID(TimeOrderedID(at: time, entropy: &random))
        _ = try await fixture.database.accept(
            [StateFixture.submission(user)],
            policy: StateFixture.policy,
            now: time,
            newID: { id }
        )
        return id
    }

    private static func overview(
        _ fixture: StateFixture,
        at now: WallTime
    ) async throws
        -> OpenOverview
    {
        try await fixture.database.openOverview(at: now, ages: ages, near: day * 7, deadlinesMax: 3)
    }

    @Test func `open requests are counted by state and age, and those that are due come first`()
        async throws
    {
        let fixture = try StateFixture()
        let now = StateFixture.start
        #expect(try await Self.overview(fixture, at: now) == OpenOverview())
        var ids: [RequestID] = []
        for age in [Self.day * 40, Self.day * 25, Self.day * 6, .seconds(7200), .seconds(60)] {
            ids.append(try await Self.accept("user-\(ids.count)", at: now - age, in: fixture))
        }
        let loaded = try #require(try await fixture.database.openRequests([ids[1]]).first)
        var parked = loaded.request
        parked.phase = .parked(.revoking, .onHold, until: nil)
        parked.dueAt = nil
        try await fixture.save(parked, was: loaded.request)

        let found = try await Self.overview(fixture, at: now)
        let waiting = try #require(found.groups.first { $0.reason == .onHold })
        #expect(waiting.state == .parked)
        #expect(waiting.counts == [0, 0, 0, 1, 0])
        #expect(waiting.oldest == ids[1] && waiting.oldestAt == now - Self.day * 25)
        let others = found.groups.filter { $0.reason == nil }
        #expect(others.map(\.counts) == [[1, 1, 1, 0, 1]])
        #expect(others.first?.oldest == ids[0])
        #expect(found.overdue == 1 && found.near == 1)
        #expect(found.deadlines.map(\.request) == Array(ids.prefix(3)))
        #expect(found.deadlines.first?.at == now - Self.day * 10)
        #expect(found.deadlines[1].reason == .onHold)
    }
}
