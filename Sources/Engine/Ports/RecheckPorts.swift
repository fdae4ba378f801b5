package import Lifecycle

/// What a run reads from the state, and records there; decides nothing.
package protocol RecheckState: Sendable {
    /// Performs one effect.
    ///
    /// - Returns: The event that answers it.
    /// - Throws: `CancellationError`, or the state's error.
    func perform(_ effect: RecheckStateEffect) async throws -> RecheckEvent
}

/// The lanes of stores, which runs share with requests.
package protocol StoreLanes: Sendable {
    /// Waits for a turn at a store and makes one call there; no other purge or verification of it
    /// is under way meanwhile.
    ///
    /// - Parameters:
    ///   - target: The store.
    ///   - requests: Whose orders a hold stops, with the gate.
    ///   - body: Makes the call.
    /// - Returns: What `body` answers.
    /// - Throws: `CancellationError` when the engine has ended.
    func turn<Answer: Sendable>(
        at target: TargetName,
        for requests: [RequestID],
        _ body: @Sendable (PurgeGate) async -> Answer
    ) async throws -> Answer

    /// The holds on targets, also those that are being placed.
    func holds() async throws -> [TargetHold]
}

/// A store on a copy of its data, for a drill.
package struct RecheckCopy: Sendable {
    /// Why there is none.
    package let refusal: CopyRefusal?
    package let store: (any PurgeTarget)?
    /// Lets go of what it holds.
    package let close: @Sendable () async -> Void

    package init(
        refusal: CopyRefusal? = nil,
        store: (any PurgeTarget)? = nil,
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
    let stores: @Sendable () -> ([TargetName: any PurgeTarget], RecheckEnvironment)
    let openCopy: @Sendable (TargetName, String) async -> RecheckCopy
    let announce: @Sendable (RecheckAnnouncement) -> Void

    package init(
        state: any RecheckState,
        lanes: any StoreLanes,
        hasher: any KeyedHasher,
        clock: any EngineClock,
        stores: @escaping @Sendable () -> ([TargetName: any PurgeTarget], RecheckEnvironment),
        openCopy: @escaping @Sendable (TargetName, String) async -> RecheckCopy,
        announce: @escaping @Sendable (RecheckAnnouncement) -> Void
    ) {
        self.state = state
        self.lanes = lanes
        self.hasher = hasher
        self.clock = clock
        self.stores = stores
        self.openCopy = openCopy
        self.announce = announce
    }
}
