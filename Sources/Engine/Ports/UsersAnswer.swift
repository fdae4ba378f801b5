package import Lifecycle

/// What looking through a store's own user ids brought.
package enum UsersAnswer: Sendable {
    /// Each once.
    case found([UserID])
    /// The store cannot list whose data it holds; why, for an operator.
    case unknown(String)
    case failure(EffectFailure)
}

/// Which users a listing is asked for.
package typealias UserFilter = @Sendable (UserID) -> Bool

extension PurgeStore {
    /// What the store lists of wanted users, if it can list any.
    func listedUsers(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        guard let listing = self as? any UserListing ?? unwrapped as? any UserListing else {
            return .unknown("a store of this kind does not list its users")
        }
        return await listing.users(where: isWanted)
    }
}
