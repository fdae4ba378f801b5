import Lifecycle
import Testing

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
            lane.end()
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

    @Test func `an answer forgets the pause`() {
        var lane = MessageLane()
        _ = lane.settle([Self.down], at: Self.start)
        #expect(lane.failure == .unreachable)
        _ = lane.settle([SendResult(status: 200)], at: Self.start)
        #expect(lane.failure == nil)
        #expect(lane.begin(Self.start, Self.start) == .now)
    }

    @Test("a subscriber that fails gets one message, and old ones are given up", arguments: [0, 3])
    func probes(_ failures: Int) {
        var lane = MessageLane()
        for _ in 0..<failures { _ = lane.settle([Self.down], at: Self.start) }
        let batch = lane.nextBatch(upTo: 8, retryFor: .seconds(60), at: Self.start)
        #expect(batch.limit == (failures > 0 ? 1 : 8))
        #expect(batch.expiresBefore == (failures > 0 ? Self.start - .seconds(60) : nil))
    }

    @Test func `refused recipients are reported once, until others are refused`() {
        var lane = MessageLane()
        let results = [[], [1], [1], [0, 1], [], [1]].map { positions in
            var result = SendResult.delivered
            result.refusedRecipients = positions
            return result
        }
        #expect(lane.noteRefused(results) == [[1], [0, 1], [1]])
        #expect(lane.noteRefused([SendResult(failure: .unreachable)]).isEmpty)
        #expect(lane.noteRefused([results[1]]).isEmpty)
    }

    @Test func `dropped messages are told once`() {
        var lane = MessageLane()
        #expect([5, 5, 8, 8].map { lane.noteDropped($0) } == [0, 0, 3, 0])
    }
}
