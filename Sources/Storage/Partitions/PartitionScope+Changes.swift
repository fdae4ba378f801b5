import Engine
import Lifecycle

/// What must hold for a commit, and the partitions that it concerns.
struct CommitTerms: Sendable {
    static let singleHost = CommitTerms(claims: [], scope: .all, purgesPerHourMax: nil, now: nil)

    let claims: [PartitionClaim]
    let scope: PartitionScope
    /// `nil` where the only engine counts.
    let purgesPerHourMax: Int?
    let now: (@Sendable () -> WallTime)?

    /// - Throws: ``StorageError`` of kind `guardClosed`.
    func admit(_ changes: [StateChange], _ database: any StateConnection) throws {
        guard let purgesPerHourMax, let now else { return }
        try PurgeLog(database: database).admit(changes, max: purgesPerHourMax, at: now())
    }
}

extension PartitionScope {
    /// Makes a change that names no request: it concerns these partitions.
    ///
    /// A renewal of another partition does nothing.
    func apply(
        _ change: StateChange,
        _ database: any StateConnection
    ) throws -> ChangeUpdate? {
        switch change {
        case .tendRenewals(let policies, let time):
            let renewals = RenewalWriter(database: database, scope: self)
            let (expiring, goesOn) = try renewals.tend(policies, at: time)
            return .renewalsTended(expiring: expiring, goesOn: goesOn)
        case .beginRenewal(let id, let policy, let time):
            guard try contains(id, database) else { return .renewalBegun(id, nil) }
            let token = try RenewalWriter(database: database).begin(id, policy, at: time)
            return .renewalBegun(id, token)
        case .endRenewal(let ended, let time):
            let id = ended.credential
            guard try contains(id, database) else { return .renewalEnded(id, nil) }
            let update = try RenewalWriter(database: database).end(ended, at: time)
            return .renewalEnded(id, update)
        case .wake(let reason, let previous, let time):
            let wakes = WakeWriter(database: database, scope: self)
            let last = try wakes.wake(reason, after: previous, at: time)
            return last.map { .wakeGoesOn(reason, after: $0) }
        case .reclock(let step, let time):
            try ClockWriter(database: database, scope: self).reclock(step, at: time)
        case .answer(let id, let outcome) where isShared:
            try OperationTable(database: database).answer(id, outcome)
        default:
            // A single host has no rows of operations; the rest names what it changes.
            break
        }
        return nil
    }

    private func contains(_ id: CredentialID, _ database: any StateConnection) throws -> Bool {
        guard isShared else { return true }
        let userHash = try database.first(
            """
            SELECT u.user_hash FROM credentials c JOIN identities i ON i.id = c.identity_id
              JOIN users u ON u.id = i.owner WHERE c.id = ?
            """,
            [.id(id)]
        ) { $0.blob() }
        return userHash.map { contains(Partition(userHash: $0)) } ?? false
    }
}
