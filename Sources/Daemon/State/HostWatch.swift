import Storage

/// Ends the process when another host works on the same state, or has found that commits are lost.
struct HostWatch: Sendable {
    let shared: SharedDatabase

    /// Runs until cancelled.
    ///
    /// - Throws: ``DaemonError``.
    func run() async throws {
        for await end in shared.ends {
            switch end {
            case .others(let others): try StateSetup.refuse(others)
            case .lostCommits:
                throw DaemonError(
                    .state,
                    "cannot go on (lost_commits): the database has lost commits that it had"
                        + " acknowledged; nothing is purged after the restart until 'expungectl"
                        + " ledger accept-rollback'"
                )
            }
        }
    }
}
