package import Lifecycle

/// What looking through a store's own user ids brought.
package enum UsersAnswer: Sendable {
    /// Each once.
    case found([UserID])
    /// This kind of store cannot list whose data it holds.
    case unknown
    case trouble(Trouble)
}
