import Lifecycle
import Synchronization

/// The first failure that every further call of a store would meet: the rest is not asked.
final class Halt: Sendable {
    private let state = Mutex<EffectFailure?>(nil)

    var failure: EffectFailure? { state.withLock { $0 } }

    func note(_ failure: EffectFailure) {
        guard failure.isOfAll else { return }
        state.withLock { $0 = $0 ?? failure }
    }
}
