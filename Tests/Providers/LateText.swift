import Synchronization

/// A text that a reaction needs and that exists only once its server runs.
final class LateText: Sendable {
    private let state = Mutex("")

    var text: String { state.withLock { $0 } }

    func set(_ text: String) { state.withLock { $0 = text } }
}
