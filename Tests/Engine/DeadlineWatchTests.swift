import Lifecycle
import Synchronization
import Testing

@testable import Engine

/// The statutory clock, hour by hour on a clock that jumps.
struct DeadlineWatchTests {
    private static let week = Sample.day * 7

    @Test func `a warning comes a week before the deadline and an alarm after it, once each`()
        async
    {
        let scene = Scene(hours: 24 * 12)
        scene.open(1, deadlineAt: Sample.start + Sample.day * 10)
        await scene.run()
        let heard = scene.heard
        #expect(heard.map(\.warning) == [.near, .passed])
        #expect(heard.map(\.request) == [Sample.request(1), Sample.request(1)])
        #expect(heard[0].at == Sample.start + Sample.day * 3)
        #expect(heard[1].at == Sample.start + Sample.day * 10)
    }

    @Test func `a request that ends in time is not alarmed about`() async {
        let scene = Scene(hours: 24 * 12)
        scene.open(1, deadlineAt: Sample.start + Sample.day * 10, until: Sample.day * 9)
        await scene.run()
        #expect(scene.heard.map(\.warning) == [.near])
    }

    @Test func `a deadline that passed while nobody ran is an alarm at once`() async {
        let scene = Scene(hours: 3)
        scene.open(1, deadlineAt: Sample.start - Sample.day)
        await scene.run()
        #expect(scene.heard.map(\.warning) == [.passed])
        #expect(scene.heard.first?.at == Sample.start)
    }

    @Test func `many deadlines are told in portions, and none is forgotten`() async {
        let scene = Scene(hours: 4)
        let count = DeadlineWatch.rowsMax * 2 + 1
        for number in 0..<count {
            scene.open(number, deadlineAt: Sample.start - .seconds(number))
        }
        await scene.run()
        let heard = scene.heard
        #expect(heard.count == count)
        #expect(Set(heard.map(\.request)).count == count)
        for hour in 0..<3 {
            let at = Sample.start + DeadlineWatch.period * hour
            #expect(heard.count { $0.at == at } <= DeadlineWatch.rowsMax)
        }
    }
}

/// Open requests, a clock that jumps to the end of every sleep, and what was heard.
private final class Scene: EngineClock {
    struct Heard: Sendable {
        let warning: DeadlineWatch.Warning
        let request: RequestID
        let at: WallTime
    }

    private struct State {
        var now = Sample.start
        var rows: [(row: DeadlineRow, endsAt: WallTime)] = []
        var heard: [Heard] = []
    }

    private let state = Mutex(State())
    private let end: WallTime

    init(hours: Int) { end = Sample.start + .seconds(3600) * hours }

    var heard: [Heard] { state.withLock { $0.heard } }

    func open(_ number: Int, deadlineAt: WallTime, until life: Duration = Sample.day * 400) {
        let row = DeadlineRow(request: Sample.request(number), deadlineAt: deadlineAt)
        state.withLock { $0.rows.append((row, Sample.start + life)) }
    }

    func now() -> WallTime { state.withLock { $0.now } }

    func sleep(until time: WallTime) async throws {
        guard time < end else { throw CancellationError() }
        state.withLock { $0.now = time }
    }

    func run() async {
        let watch = DeadlineWatch(
            clock: self,
            deadlines: { [self] in look(before: $0, limit: $1) },
            report: { [self] in note($0, $1.request) }
        )
        await #expect(throws: CancellationError.self) { try await watch.run() }
    }

    private func look(before time: WallTime, limit: Int) -> [DeadlineRow] {
        state.withLock { state in
            let open = state.rows.filter { $0.endsAt > state.now }.map(\.row)
            let due = open.filter { $0.deadlineAt <= time }
            return Array(due.sorted { $0.deadlineAt < $1.deadlineAt }.prefix(limit))
        }
    }

    private func note(_ warning: DeadlineWatch.Warning, _ request: RequestID) {
        state.withLock { state in
            state.heard.append(Heard(warning: warning, request: request, at: state.now))
        }
    }
}
