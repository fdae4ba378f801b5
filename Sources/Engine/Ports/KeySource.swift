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
package protocol KeySource: PurgeTarget {
    /// Reads which ids the rows of users name; changes nothing.
    ///
    /// Rows behind the cutoff count as for a purge; a hold on rows does not hide them.
    ///
    /// - Parameters:
    ///   - key: The configured name of the ids.
    ///   - orders: Whose rows.
    /// - Returns: One answer for each order.
    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer]

    /// Tells which ids rows of the table still name, whoever's they are.
    ///
    /// - Parameters:
    ///   - ids: The ids in question.
    ///   - key: The configured name of the ids.
    ///   - orders: Whose rows are as good as gone, but for those behind the cutoff.
    /// - Returns: The ids that other rows name.
    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer
}

/// The ids that were found for one request under one name.
package struct FoundKeys: Hashable, Sendable {
    package let request: RequestID
    package let name: KeyName
    package let ids: [UserID]
    /// Nobody else's: with the request's end they are erased for good.
    ///
    /// Others may own a shared id, too, until it is stored once more as one that fell to the
    /// request.
    package let isOwn: Bool

    package init(request: RequestID, name: KeyName, ids: [UserID], isOwn: Bool = true) {
        self.request = request
        self.name = name
        self.ids = ids
        self.isOwn = isOwn
    }
}

/// Keeps the ids that were found, sealed, until nobody needs them any more.
package protocol FoundKeyStore: Sendable {
    /// Adds to what is stored, durably, and never takes anything away.
    ///
    /// Storing no id also counts: it says that somebody looked.
    ///
    /// - Returns: Why nothing was stored; `nil` when all is durable.
    func add(_ found: [FoundKeys]) async -> EffectFailure?

    /// Opens what is stored.
    ///
    /// - Returns: By request; those for which nobody has looked are missing.
    func keys(of requests: [RequestID], as name: KeyName) async -> [RequestID: KeysAnswer]

    /// The same store as a replay sees it: only what was found after the end of a request.
    ///
    /// What was found before may be somebody else's by now.
    var late: any FoundKeyStore { get }
}
