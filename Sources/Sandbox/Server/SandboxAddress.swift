import Synchronization

/// Where the sandbox is reached, once it listens: discovery documents and issuers name it.
final class SandboxAddress: Sendable {
    private let text = Mutex("")

    /// `https://localhost:PORT`.
    var baseURL: String { text.withLock { $0 } }

    func set(_ baseURL: String) {
        text.withLock { $0 = baseURL }
    }
}
