import Synchronization

/// A call that is wired up after its caller exists.
final class Signal: Sendable {
    /// A closure by itself inside a lock is wrapped again by every read; inside a struct it is not.
    private struct Wire: Sendable {
        var body: (@Sendable () -> Void)?
    }

    private let wire = Mutex(Wire())

    func set(_ body: @escaping @Sendable () -> Void) {
        wire.withLock { $0.body = body }
    }

    func fire() {
        wire.withLock { $0 }.body?()
    }
}
