package import Lifecycle

/// What the re-checks of a completed deletion still need: the user id, under a key of its own.
package struct SealedRecheck: Hashable, Sendable {
    /// The deletion.
    package let request: RequestID
    /// The vault key without which ``recheckKey`` opens nothing.
    package let keyID: String
    /// Random bytes of this case alone; once they are destroyed nobody can open ``sealedUser``.
    package let recheckKey: [UInt8]
    package let sealedUser: [UInt8]

    package init(request: RequestID, keyID: String, recheckKey: [UInt8], sealedUser: [UInt8]) {
        self.request = request
        self.keyID = keyID
        self.recheckKey = recheckKey
        self.sealedUser = sealedUser
    }
}

/// A case at its beginning.
package struct OpenedRecheck: Hashable, Sendable {
    package let sealed: SealedRecheck
    /// When the deletion completed.
    package let openedAt: WallTime
    /// When its stores are looked at again.
    package let dueAt: WallTime

    package init(sealed: SealedRecheck, openedAt: WallTime, dueAt: WallTime) {
        self.sealed = sealed
        self.openedAt = openedAt
        self.dueAt = dueAt
    }
}

/// Opens the cases of deletions that complete, for the commit that completes them.
package protocol RecheckOpener: Sendable {
    /// Seals what the re-checks of a deletion will need.
    ///
    /// - Parameters:
    ///   - request: Completed, with its end.
    ///   - user: Whom it erased.
    /// - Returns: `nil` when nobody will look again.
    func open(_ request: Request, of user: UserID) -> OpenedRecheck?
}
