package import Lifecycle

/// What looking for the ids in one user's rows brought.
package enum KeysAnswer: Hashable, Sendable {
    /// Each once.
    case found([UserID])
    case failure(EffectFailure)
}

/// What asking for the owners of ids brought.
package enum OwnersAnswer: Hashable, Sendable {
    /// Those that some row names.
    case named(Set<UserID>)
    case failure(EffectFailure)
}

/// A store whose rows hold ids by which other stores know the user, or what the user shares.
///
/// An id is written as ``Lifecycle/UserID`` for what it is to the other store, and just as
/// personal.
package protocol KeySource: PurgeStore {
    /// Reads which ids the rows of users name, one answer for each order; changes nothing.
    ///
    /// Rows behind the cutoff count as for a purge; a hold on rows does not hide them.
    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer]

    /// Which ids rows still name, whoever's they are; the rows of `orders` are as good as gone.
    func named(_ ids: [UserID], as key: String, besides orders: [PurgeOrder]) async -> OwnersAnswer
}

/// The ids that were found for one request under one name.
package struct FoundKeys: Hashable, Sendable {
    package let request: RequestID
    package let name: KeyName
    package let ids: [UserID]
    /// Nobody else's, unlike a shared id: with the request's end they are erased.
    package let isOwn: Bool

    package init(request: RequestID, name: KeyName, ids: [UserID], isOwn: Bool = true) {
        (self.request, self.name, self.ids, self.isOwn) = (request, name, ids, isOwn)
    }
}

/// Keeps the ids that were found, sealed, until nobody needs them any more.
package protocol FoundKeyStore: Sendable {
    /// Adds to what is stored, durably. Storing no id says that somebody looked.
    func add(_ found: [FoundKeys]) async -> EffectFailure?

    /// By request; those for which nobody has looked are missing.
    func keys(of requests: [RequestID], as name: KeyName) async -> [RequestID: KeysAnswer]

    /// As a replay sees it: only what was found after the end of a request.
    var late: any FoundKeyStore { get }
}
