import Control
import Lifecycle
import Testing

@testable import Daemon

@Suite("The steps of a purge as they are shown") struct PurgeStepsTests {
    private static func states(_ phase: Phase, _ works: [PurgeWork]) throws -> [String] {
        var request = try Bench.request()
        request.phase = phase
        return works.flatMap { WireStep.steps(of: $0, in: request) }.map(\.state.description)
    }

    private static func work(_ name: String, _ step: PurgeWork.Step) -> PurgeWork {
        var work = PurgeWork(store: StoreName(name))
        work.step = step
        work.startedAt = Bench.start
        return work
    }

    @Test("a store that is purged before the others waits for its verification")
    func waiting() throws {
        let works = [Self.work("a", .purged), Self.work("b", .waiting)]
        #expect(
            try Self.states(.open(.purging), works) == ["done", "pending", "running", "pending"]
        )
    }

    @Test("verification runs once everything is purged, and a count that is not zero stops it")
    func running() throws {
        let both = [Self.work("a", .purged), Self.work("b", .purged)]
        #expect(
            try Self.states(.open(.verifying), both) == ["done", "running", "done", "running"]
        )
        // One has rows again: the whole request is purging, and asks the others afterwards.
        var again = Self.work("a", .waiting)
        again.retryAt = Bench.start + .seconds(1)
        #expect(
            try Self.states(.open(.purging), [again, Self.work("b", .purged)])
                == ["retrying", "pending", "done", "pending"]
        )
    }

    @Test("a verification that failed is tried again")
    func retrying() throws {
        var failed = Self.work("a", .purged)
        failed.retryAt = Bench.start + .seconds(1)
        #expect(try Self.states(.open(.verifying), [failed]) == ["done", "retrying"])
        let paused = Self.work("a", .purged)
        #expect(
            try Self.states(.parked(.verifying, .storePaused, until: nil), [paused])
                == ["done", "parked"]
        )
    }

    @Test("what was left as newer than the request is shown beside what was erased")
    func newer() throws {
        let request = try Bench.request()
        var work = Self.work("a", .purged)
        work.counts.entries = [
            .init(name: "posts", action: .rule(.delete), rowCount: 2, newerCount: 1)
        ]
        let steps = WireStep.steps(of: work, in: request)
        #expect(steps.first?.verdict == "2 rows, 1 left as newer")
    }

    @Test("a verification names the tables to whose rows nothing led")
    func unreached() throws {
        let request = try Bench.request()
        var work = Self.work("a", .verified)
        let action = PurgeCounts.Action.unreached("email", via: "users.email")
        work.counts.entries = [
            .init(name: "users", action: .rule(.delete), rowCount: 0),
            .init(name: "letters", action: action, rowCount: 0),
        ]
        let steps = WireStep.steps(of: work, in: request)
        #expect(steps.map(\.state.description) == ["done", "done"])
        #expect(
            steps.map(\.verdict) == ["0 rows", "clean, but not looked for in 'letters'"]
        )
    }
}
