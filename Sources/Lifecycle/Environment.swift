/// What the state machine reads besides the request: policy and pauses, as they are right now.
package struct Environment: Sendable {
    package var providers: [ProviderName: ProviderPolicy]
    package var pausedProviders: Set<ProviderName> = []
    package var pausedStores: Set<StoreName> = []
    package var holds: [StoreHold] = []
    package var isVaultOpen = true
    package var isGuardClosed = false
    package var spool = SpoolKnowledge.read
    /// The clock is behind what the ledger has signed: nothing is revoked or purged.
    package var isClockBehind = false
    package var withoutIdentities = WithoutIdentities.proceed
    /// The state may be an old copy: nothing is revoked or purged until an operator says so.
    package var isRestrained = false
    package var directory: ProviderName?
    package var stores: [StoreName] = []
    /// The stores whose ids are found in the rows of another one, with that one; no circles.
    package var keySources: [StoreName: StoreName] = [:]
    /// The stores that let a request wait for an operator when no key leads into them.
    package var keyedStoresToPark: Set<StoreName> = []
    /// The stores that are purged after all others, whatever holds those up.
    package var lastStores: Set<StoreName> = []
    package var isApprovalRequired = false

    package init(providers: [ProviderName: ProviderPolicy]) { self.providers = providers }

    package func isHeld(_ store: StoreName) -> Bool {
        holds.contains { $0.rows == nil && $0.store == store }
    }

    package func rowHolds(on store: StoreName) -> [StoreHold] {
        holds.filter { $0.rows != nil && $0.store == store }
    }
}

/// What is known about the credentials of one user that an application has put into the spool.
package enum SpoolKnowledge: Sendable, CaseIterable {
    /// Everything that was committed before the request was accepted is in the vault.
    case read
    /// A read that began after the acceptance is under way.
    case reading
    /// Such a read does not end, for longer than ``Limits/spoolPatience``.
    case unread
    /// A credential of the user is in the spool and could not be sealed.
    case unsealed
}

/// The time of a decision and the random source for its jitter.
package struct StepContext: Sendable {
    package let now: WallTime
    package var random: SeededGenerator
    /// What a vendor answered last in the call that is recorded.
    package var lastAnswer: VendorAnswer?

    package init(now: WallTime, random: SeededGenerator, lastAnswer: VendorAnswer? = nil) {
        (self.now, self.random, self.lastAnswer) = (now, random, lastAnswer)
    }
}
