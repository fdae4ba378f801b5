package import Lifecycle

/// Makes the recheck records of deletions that complete, for the commit that completes them.
package protocol RecheckOpener: Sendable {
    /// Seals what the rechecks of a completed deletion need; `nil` when there will be none.
    func open(_ request: Request, of user: UserID) -> OpenedRecheck?
}
