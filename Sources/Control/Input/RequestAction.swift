package import Lifecycle

/// What an operator can do to one request.
package enum RequestAction: Sendable, Hashable {
    /// Stop it, as long as nothing irreversible was decided.
    case cancel
    /// Try whatever waits for a timer, a pause or an operator again, now, and recheck data that
    /// returned.
    case retry
    /// Stop before the next step until `release`; `reason` is the operator's own short note.
    case hold(reason: String?)
    case release
    /// Let the plan with this hash be carried out.
    case approve(plan: String)
    /// Give up on revoking: every identity without a verdict (of `provider`, if named) becomes
    /// `abandoned`, with the reason on the receipt.
    case abandon(reason: String, provider: ProviderName?)

    package var verb: String {
        switch self {
        case .cancel: "cancel"
        case .retry: "retry"
        case .hold: "hold"
        case .release: "release"
        case .approve: "approve"
        case .abandon: "abandon"
        }
    }
}
