package import Lifecycle

/// What a run reads from the state, and records there; decides nothing.
package protocol RecheckState: Sendable {
    /// Returns the event that answers it; throws `CancellationError`, or the state's error.
    func perform(_ effect: RecheckStateEffect) async throws -> RecheckEvent
}

/// The holds that the orders of a turn know.
package struct KnownHolds: Hashable, Sendable {
    /// On rows of the store.
    package var rows: [StoreHold] = []
    /// What ``StoreLanes/userHoldsVersion`` was before those on users were read.
    package var userHoldsVersion = 0
}

/// The lanes of stores, which runs share with requests.
package protocol StoreLanes: Sendable {
    /// Waits for a turn and makes one call; no other purge or verification of the store runs then.
    ///
    /// A hold on the store stops the orders of `requests` by the gate. So does one on rows, or on
    /// any user, that is not among those that the orders know.
    /// - Throws: `CancellationError` when the engine has ended.
    func turn<Answer: Sendable>(
        at store: StoreName,
        for requests: [RequestID],
        knowing holds: KnownHolds,
        _ body: @Sendable (PurgeGate) async -> Answer
    ) async throws -> Answer

    /// `nil` while another host is the steward, which has its own runs.
    var stewardship: Stewardship? { get }

    /// Another number whenever a hold on a user may have been placed, which is durable by then.
    var userHoldsVersion: Int { get }

    /// The holds on stores, also those that are being placed.
    func holds() async throws -> [StoreHold]
}

/// A store on a copy of its data, for a drill.
package struct RecheckCopy: Sendable {
    package let refusal: CopyRefusal?
    package let store: (any PurgeStore)?
    package let close: @Sendable () async -> Void

    package init(
        refusal: CopyRefusal? = nil,
        store: (any PurgeStore)? = nil,
        close: @escaping @Sendable () async -> Void = {}
    ) {
        (self.refusal, self.store, self.close) = (refusal, store, close)
    }
}

/// Everything that a run needs from outside.
package struct RecheckPorts: Sendable {
    let state: any RecheckState
    let lanes: any StoreLanes
    let hasher: any KeyedHasher
    let clock: any EngineClock
    /// The stores and settings that are in force.
    let stores: @Sendable () -> ([StoreName: any PurgeStore], RecheckEnvironment)
    let openCopy: @Sendable (StoreName, String) async -> RecheckCopy
    let announce: @Sendable (RecheckAnnouncement) -> Void

    package init(
        state: any RecheckState,
        lanes: any StoreLanes,
        hasher: any KeyedHasher,
        clock: any EngineClock,
        stores: @escaping @Sendable () -> ([StoreName: any PurgeStore], RecheckEnvironment),
        openCopy: @escaping @Sendable (StoreName, String) async -> RecheckCopy,
        announce: @escaping @Sendable (RecheckAnnouncement) -> Void
    ) {
        (self.state, self.lanes, self.hasher, self.clock) = (state, lanes, hasher, clock)
        self.stores = stores
        self.openCopy = openCopy
        self.announce = announce
    }
}

/// Makes the recheck records of deletions that complete, for the commit that completes them.
package protocol RecheckOpener: Sendable {
    /// Seals what the rechecks of a completed deletion need; `nil` when there will be none.
    func open(_ request: Request, of user: UserID) -> OpenedRecheck?
}
