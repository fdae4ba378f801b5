import Lifecycle
import Synchronization

/// Signals a recheck that becomes due before the time that is known; most new ones do not.
final class RecheckAlarm: Sendable {
    private let expected = Mutex<WallTime?>(nil)
    private let signal: AsyncStream<Void>.Continuation
    /// Yields once at the start: rechecks may have become due while nothing ran.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
    }

    /// With `nil` every new recheck signals.
    func expect(_ time: WallTime?) { expected.withLock { $0 = time } }

    func opened(dueAt time: WallTime) {
        if expected.withLock({ $0.map { time < $0 } ?? true }) { signal.yield() }
    }

    func wake() { signal.yield() }

    func finish() { signal.finish() }
}
