import Engine
import Lifecycle
import Synchronization

/// A clock that jumps to the end of every sleep, and tells about each.
final class JumpingClock: EngineClock {
    private let time: Mutex<WallTime>
    private let onSleep: @Sendable () -> Void

    init(at start: WallTime = Bench.start, onSleep: @escaping @Sendable () -> Void = {}) {
        time = Mutex(start)
        self.onSleep = onSleep
    }

    func now() -> WallTime { time.withLock { $0 } }

    func sleep(until end: WallTime) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, end) }
        onSleep()
    }
}
