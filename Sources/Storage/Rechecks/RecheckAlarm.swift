import Lifecycle
import Synchronization

/// Signals a recheck that becomes due before the time that is known.
///
/// Every deletion opens a record, and the next one to be due is nearly always an older one: then
/// there is no signal.
final class RecheckAlarm: Sendable {
    private let expected = Mutex<WallTime?>(nil)
    private let signal: AsyncStream<Void>.Continuation
    /// Yields once at the start, too: rechecks may have become due while nothing ran.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
    }

    /// Sets when the next recheck is due; with `nil` every new one signals.
    func expect(_ time: WallTime?) { expected.withLock { $0 = time } }

    func opened(dueAt time: WallTime) {
        if expected.withLock({ $0.map { time < $0 } ?? true }) { signal.yield() }
    }

    func wake() { signal.yield() }

    func finish() { signal.finish() }
}
