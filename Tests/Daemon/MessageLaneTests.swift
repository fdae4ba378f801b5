import Lifecycle
import Messages
import Testing

@testable import Daemon

struct MessageLaneTests {
    private static let start = WallTime(unixMilliseconds: 1_800_000_000_000)
    private static let down = SendResult(failure: .unreachable)

    @Test func `a subscriber that fails is called less and less often, at most every 5 minutes`() {
        var lane = MessageLane()
        var now = Self.start
        var pauses: [Int64] = []
        for round in 0..<12 {
            #expect(lane.begin(Self.start, now) == .now)
            let change = lane.settle([Self.down], at: now)
            #expect(change == (round == 0 ? .failed(.unreachable) : .stillFailing))
            lane.isBusy = false
            guard case .later(let time) = lane.begin(Self.start, now) else {
                Issue.record("the lane does not pause")
                return
            }
            pauses.append(time.since(now).milliseconds / 1000)
            now = time
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(lane.settle([SendResult(status: 200)], at: now) == .recovered)
        #expect(lane.settle([SendResult(status: 200)], at: now) == .none)
    }

    @Test func `a message that is refused alone does not stop the others`() {
        var lane = MessageLane()
        let results = [SendResult(status: 400, failure: .refused), SendResult(status: 200)]
        #expect(lane.settle(results, at: Self.start) == .none)
        #expect(lane.begin(Self.start, Self.start) == .now)
    }

    @Test func `a pause that the receiver asks for is kept`() {
        var lane = MessageLane()
        let busy = SendResult(status: 429, failure: .refused, retryAfter: .seconds(90))
        _ = lane.settle([busy], at: Self.start)
        #expect(lane.begin(Self.start, Self.start) == .later(Self.start + .seconds(90)))
    }

    @Test func `a busy lane is not begun again`() {
        var lane = MessageLane()
        #expect(lane.begin(Self.start, Self.start) == .now)
        #expect(lane.begin(Self.start, Self.start) == .busy)
    }

    @Test func `dropped messages are told once`() {
        var lane = MessageLane()
        #expect([5, 5, 8, 8].map { lane.noteDropped($0) } == [0, 0, 3, 0])
    }
}
