import Synchronization

/// A call that is wired up after its caller exists.
final class Nudge: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
    }

    func fire() {
        body.withLock { $0 }?()
    }
}
