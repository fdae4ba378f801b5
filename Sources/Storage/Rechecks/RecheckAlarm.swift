import Lifecycle
import Synchronization

/// Tells whoever looks again when a case becomes due before the time that is known.
///
/// Every deletion opens a case, and the next one to be due is nearly always an older one: then
/// nobody is woken.
final class RecheckAlarm: Sendable {
    private let expected = Mutex<WallTime?>(nil)
    private let signal: AsyncStream<Void>.Continuation
    /// Yields once at the start, too: cases may have become due while nothing ran.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
    }

    /// Sets when the next case is due; with `nil` every new one is told.
    func expect(_ time: WallTime?) { expected.withLock { $0 = time } }

    /// A case was opened.
    func opened(dueAt time: WallTime) {
        if expected.withLock({ $0.map { time < $0 } ?? true }) { signal.yield() }
    }

    func wake() { signal.yield() }

    /// Ends ``signals``.
    func finish() { signal.finish() }
}
