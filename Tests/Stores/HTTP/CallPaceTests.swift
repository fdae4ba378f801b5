import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("The pace of calls")
struct CallPaceTests {
    @Test("calls are as far apart as the configured rate has it, and none waits without one")
    func spreads() async throws {
        let rests = Mutex<[Duration]>([])
        let clock = StoreClock(
            wall: { HTTPServer.now },
            uptime: { .seconds(100) },
            rest: { duration in rests.withLock { $0.append(duration) } },
            entropy: { 0 }
        )
        let pace = CallPace(perMinute: 120, clock)
        for _ in 0..<3 { try await pace.wait() }
        #expect(rests.withLock { $0 } == [.milliseconds(500), .seconds(1)])
        for _ in 0..<3 { try await CallPace(perMinute: nil, clock).wait() }
        #expect(rests.withLock { $0.count } == 2)
    }
}
