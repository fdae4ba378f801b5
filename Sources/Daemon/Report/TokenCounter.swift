import Engine
import Lifecycle
import Synchronization

/// Counts since the start what happened to stored tokens besides revocation.
final class TokenCounter: Sendable {
    struct Renewal: Hashable, Sendable {
        let provider: ProviderName
        let result: RenewalResult
    }

    private struct State {
        var renewals: [Renewal: Int] = [:]
        var rotations: [ProviderName: Int] = [:]
    }

    private let state = Mutex(State())

    var renewals: [Renewal: Int] { state.withLock(\.renewals) }

    var rotations: [ProviderName: Int] { state.withLock(\.rotations) }

    func countRenewal(at provider: ProviderName, _ result: RenewalResult) {
        state.withLock {
            $0.renewals[Renewal(provider: provider, result: result), default: 0] += 1
        }
    }

    func countRotation(at provider: ProviderName) {
        state.withLock { $0.rotations[provider, default: 0] += 1 }
    }
}
