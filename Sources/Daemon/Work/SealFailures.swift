import Engine
import Lifecycle
import Logging
import Synchronization

/// Remembers why credentials could not be sealed, so that each reason is reported once.
final class SealFailures: Sendable {
    private let kinds = Mutex(Set<VaultError.Kind>())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    var isAny: Bool { kinds.withLock { !$0.isEmpty } }

    /// Every credential of the spool is sealed.
    func clear() { kinds.withLock { $0.removeAll() } }

    func note(_ kind: VaultError.Kind) {
        guard kinds.withLock({ $0.insert(kind).inserted }) else { return }
        logger.note(.credentialNotSealed, ["error": "\(kind.rawValue)"])
    }
}
