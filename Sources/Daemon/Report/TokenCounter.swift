import Engine
import Lifecycle

/// Counts since the start what happened to stored tokens besides revocation.
struct TokenCounter: Sendable {
    struct Renewal: Hashable, Sendable {
        let provider: ProviderName
        let result: RenewalResult
    }

    let renewals = Counter<Renewal>()
    let rotations = Counter<ProviderName>()
}
