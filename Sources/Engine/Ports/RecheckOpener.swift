package import Lifecycle

/// Makes the recheck records of deletions that complete, for the commit that completes them.
package protocol RecheckOpener: Sendable {
    /// Seals what the rechecks of a deletion will need.
    ///
    /// - Parameters:
    ///   - request: Completed, with its end.
    ///   - user: Whom it erased.
    /// - Returns: `nil` when there will be no recheck.
    func open(_ request: Request, of user: UserID) -> OpenedRecheck?
}
