package import Lifecycle

/// What a host must know of a partition to go on where the last owner stopped.
package struct PartitionStart: Sendable {
    package let claim: PartitionClaim
    package var exchanges: [LoadedExchange]
    /// Requests that were being worked on when this host crashed by itself; empty in a takeover.
    package var suspects: [RequestID]
    /// Wakes that no owner has ended, and behind which request each goes on.
    package var unfinishedWakes: [ParkReason: RequestID?]

    package init(
        _ claim: PartitionClaim,
        exchanges: [LoadedExchange] = [],
        suspects: [RequestID] = [],
        unfinishedWakes: [ParkReason: RequestID?] = [:]
    ) {
        (self.claim, self.exchanges) = (claim, exchanges)
        (self.suspects, self.unfinishedWakes) = (suspects, unfinishedWakes)
    }
}

/// What all hosts obey; each change of it raises its version.
package struct SharedRules: Hashable, Sendable {
    package var version: Int64
    /// Holds, and what is paused with the reason; wakes are those of each partition.
    package var pauses: StoredPauses
    package var allowance: GuardAllowance?

    package init(version: Int64, pauses: StoredPauses, allowance: GuardAllowance? = nil) {
        (self.version, self.pauses, self.allowance) = (version, pauses, allowance)
    }
}

/// Names the row of an operation that another host may have accepted.
package struct OperationID: Hashable, Sendable, Comparable {
    package let rowID: Int64

    package init(rowID: Int64) { self.rowID = rowID }

    package static func < (left: OperationID, right: OperationID) -> Bool {
        left.rowID < right.rowID
    }
}

/// Work that a host hands to the owner of a partition, as a row; the owner's commit answers it.
package struct OperationRow: Sendable {
    /// What the owner is to do.
    package enum Work: Sendable {
        case operate(RequestID, RequestEvent)
        /// A credential of the user arrived or was forgotten.
        case learn(IdentityID, of: [UInt8])
    }

    package let id: OperationID
    package let partition: Partition
    package let work: Work

    package init(id: OperationID, partition: Partition, work: Work) {
        (self.id, self.partition, self.work) = (id, partition, work)
    }
}

/// What other hosts have left for the owner of partitions.
package struct PartitionInbox: Sendable {
    /// Without an answer, in the order of their ids.
    package var operations: [OperationRow]
    package var exchanges: [LoadedExchange]

    package init(operations: [OperationRow] = [], exchanges: [LoadedExchange] = []) {
        (self.operations, self.exchanges) = (operations, exchanges)
    }
}

/// Why a commit was not made; nothing of it was written.
package struct CommitRefusal: Error, Hashable, Sendable {
    /// Other epochs of these have begun, or may have.
    package var lost: [PartitionClaim]
    /// The commit would let more purges begin than the guard allows: begun in the last hour by all
    /// hosts.
    package var purgesInLastHour: Int?
    /// Deletions that would end revoking, while the vault has credentials that they do not know.
    package var unseenBy: [RequestID]

    package init(
        lost: [PartitionClaim] = [],
        purgesInLastHour: Int? = nil,
        unseenBy: [RequestID] = []
    ) {
        (self.lost, self.purgesInLastHour, self.unseenBy) = (lost, purgesInLastHour, unseenBy)
    }
}

/// How a commit under claims ended.
package enum CommitOutcome: Sendable {
    case committed([ChangeUpdate?])
    case refused(CommitRefusal)
    /// The connection broke and the outcome is unknown. What is read under a new epoch is the
    /// truth: to take it waits for the commit.
    case inDoubt
}

/// The state of several hosts, a partition of which has one writer at a time.
package protocol PartitionedStore: DueWork {
    /// Commits a batch, or nothing of it.
    ///
    /// In the same transaction it checks that the epoch of each claim is still the newest one, and
    /// that the purges that begin stay within the guard. A change that names no request or
    /// credential of its own (`wake`, `reclock`, `tendRenewals`) concerns the claimed partitions; a
    /// renewal outside of them does nothing. `resumeProvider`, `resumeStore` and `liftHold` leave
    /// an unfinished wake in every partition, and like each change of the rules raise their
    /// version.
    func commit(_ changes: [StateChange], under claims: [PartitionClaim]) async -> CommitOutcome

    /// What is needed to begin with partitions that were just acquired.
    ///
    /// It makes due what may have waited for the last owner: requests that a start of the service
    /// makes due, and those parked for a reason of that host (``Lifecycle/ParkReason/isOfHost``).
    func start(of claims: [PartitionClaim]) async throws -> [PartitionStart]

    func inbox(of partitions: PartitionSet) async throws -> PartitionInbox

    func rules() async throws -> SharedRules

    /// Hands an operation to the owner, as a durable row, and wakes the owner.
    func submit(_ work: OperationRow.Work) async throws -> OperationID

    /// The owner's answer; waits until there is one.
    func answer(to operation: OperationID) async throws -> OperationOutcome
}

/// The leases of the hosts; their time is that of the state's clock.
package protocol PartitionLeases: Sendable {
    /// Renews what this host owns with these epochs, and reports about all.
    ///
    /// `rulesSeen` is the version of the rules that this host obeys.
    func renew(_ claims: [PartitionClaim], rulesSeen: Int64) async throws -> HostView

    /// Takes those of the partitions that are free by now, each with a new epoch.
    func acquire(_ partitions: PartitionSet) async throws -> [PartitionClaim]

    /// Ends the leases with these epochs, and wakes the hosts that may take them.
    func release(_ claims: [PartitionClaim]) async throws

    /// Hints of other hosts; a renewal finds the same, later.
    var signals: AsyncStream<HostSignal> { get }

    /// Every host with its partitions, for those who ask.
    func hosts() async throws -> [HostStatus]
}

/// A hint of another host.
package enum HostSignal: Sendable {
    /// Rows or due requests wait for the owner.
    case mail
    /// Partitions became free, or rules have changed.
    case leases
}

/// What a renewal brings.
package struct HostView: Sendable {
    package var leases: LeaseView
    package var rulesVersion: Int64
    /// The version that every owner of a partition obeys.
    package var rulesSeenByAll: Int64
    package var purgesInLastHour: Int

    package init(
        leases: LeaseView,
        rulesVersion: Int64,
        rulesSeenByAll: Int64,
        purgesInLastHour: Int
    ) {
        (self.leases, self.rulesVersion) = (leases, rulesVersion)
        (self.rulesSeenByAll, self.purgesInLastHour) = (rulesSeenByAll, purgesInLastHour)
    }
}

/// One host, as others see it.
package struct HostStatus: Hashable, Sendable {
    package let name: String
    package let partitions: PartitionSet
    package let lastRenewal: WallTime

    package init(name: String, partitions: PartitionSet, lastRenewal: WallTime) {
        (self.name, self.partitions, self.lastRenewal) = (name, partitions, lastRenewal)
    }
}

/// One tenure of the steward: the host that does what is done once for all hosts.
///
/// It sends messages, runs rechecks, samples and replays, polls providers, and wraps keys anew.
/// Each of its commits is made under the claim, so a host that stood still records nothing.
package struct Stewardship: Hashable, Sendable {
    /// Its owner is the steward.
    package static let partition = Partition(number: 0)

    /// Empty for a single host.
    package let claims: [PartitionClaim]

    package init(claims: [PartitionClaim]) { self.claims = claims }
}
