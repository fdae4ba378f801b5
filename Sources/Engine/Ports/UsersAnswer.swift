package import Lifecycle

/// What looking through a store's own user ids brought.
package enum UsersAnswer: Sendable {
    /// Each once.
    case found([UserID])
    /// The store cannot list whose data it holds; why, for an operator.
    case unknown(String)
    case failure(EffectFailure)
}
