import Engine
import Lifecycle

/// A clock that stands still: a sleep ends only by cancellation, and says until when it would last.
final class SleepingClock: EngineClock {
    private let time: WallTime
    private let sleeps = AsyncStream<WallTime>.makeStream()

    init(at time: WallTime) { self.time = time }

    func now() -> WallTime { time }

    func sleep(until time: WallTime) async throws {
        sleeps.continuation.yield(time)
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        defer { continuation.finish() }
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// Until when the next sleep lasts; waits for one to begin.
    func nextSleep() async -> WallTime? {
        for await time in sleeps.stream { return time }
        return nil
    }
}
