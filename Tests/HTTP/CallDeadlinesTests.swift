import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import HTTP

@Suite("The deadlines of calls") struct CallDeadlinesTests {
    private let eventLoop: any EventLoop
    private let deadlines: CallDeadlines

    init() {
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        deadlines = CallDeadlines(limit: .milliseconds(40), eventLoop: eventLoop)
    }

    /// Begins a call and waits until it is ended from outside.
    private func untilEnded() async -> Duration {
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            // The token is dropped: this call never ends by itself.
            _ = deadlines.begin { continuation.resume() }
        }
        return start.duration(to: .now)
    }

    @Test("a call that takes too long is ended, not before its time and only once")
    func ends() async {
        #expect(await untilEnded() >= .milliseconds(40))
        // Without calls there was no timer; the next one sets it again.
        #expect(await untilEnded() >= .milliseconds(40))
    }

    @Test("a call that comes on has more time, and that is not without end")
    func renews() async {
        // On the loop that looks for late calls, so that none is found between the two steps.
        let last = Renewal()
        let rest: Duration = await withCheckedContinuation { continuation in
            let token = deadlines.begin { continuation.resume(returning: last.age) }
            for count in 1...10 as ClosedRange<Int64> {
                eventLoop.scheduleTask(in: .milliseconds(10 * count)) {
                    last.note()
                    deadlines.renew(token)
                }
            }
        }
        #expect(rest >= .milliseconds(40))
    }

    @Test("a call that has ended is left alone, beside one that has not")
    func leavesEnded() async throws {
        let wasFailed = Mutex(false)
        // On the loop that looks for late calls, so that none is found between the two steps.
        try await eventLoop.submit {
            deadlines.end(deadlines.begin { wasFailed.withLock { $0 = true } })
        }.get()
        _ = await untilEnded()
        #expect(!wasFailed.withLock { $0 })
    }
}

/// When a call came on for the last time.
private final class Renewal: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var age: Duration { time.withLock { $0.duration(to: .now) } }

    func note() { time.withLock { $0 = .now } }
}
