import Engine
import Lifecycle

/// What several hosts share besides the requests: leases, rules, and rows of operations.
struct SharedTables {
    struct Lease {
        var owner: Int?
        var epoch: Int64 = 0
        /// By the clock of the database, which no host sees.
        var until = Duration.zero
    }

    struct Seen {
        var at: Duration
        var rules: Int64
    }

    struct Operation {
        let row: OperationRow
        /// What the caller waits with.
        let number: UInt64
        var answer: OperationOutcome?
    }

    /// A commit whose connection broke before it took effect.
    struct Flying {
        let host: Int
        let changes: [StateChange]
        let claims: [PartitionClaim]
    }

    var leases = Array(repeating: Lease(), count: Partition.count)
    var hosts: [Int: Seen] = [:]
    var rulesVersion: Int64 = 1
    var operations: [OperationID: Operation] = [:]
    var wakes: [Partition: [ParkReason: RequestID?]] = [:]
    var flying: [Int: Flying] = [:]
    /// How often something was left for owners.
    var mailCount = 0
    /// Who wrote each partition last.
    var writers: [Partition: (host: Int, epoch: Int64)] = [:]
    var takeovers = 0
    var refusals = 0
    var violations: [String] = []

    // MARK: Leases

    mutating func renew(
        _ claims: [PartitionClaim],
        by host: Int,
        rulesSeen: Int64,
        at time: Duration
    ) -> HostView {
        hosts[host] = Seen(at: time, rules: rulesSeen)
        var view = LeaseView()
        for claim in claims where isHeld(claim, by: host) && lease(claim.partition).until > time {
            leases[Int(claim.partition.number)].until = time + Limits.leaseLifetime
            view.renewed.append(claim)
        }
        let renewed = PartitionSet(view.renewed.map(\.partition))
        view.free = PartitionSet(
            Partition.all.filter { partition in
                let lease = lease(partition)
                return lease.owner == nil || lease.until <= time
                    || lease.owner == host && !renewed.contains(partition)
            }
        )
        let live = hosts.filter { $0.value.at > time - Limits.leaseLifetime }.keys.sorted()
        view.hostCount = live.count
        view.rank = live.firstIndex(of: host) ?? 0
        view.nextExpiry = leases.filter { $0.owner != nil && $0.owner != host }
            .map { $0.until - time }.filter { $0 > .zero }.min()
        return HostView(
            leases: view,
            rulesVersion: rulesVersion,
            rulesSeenByAll: rulesSeenByAll(at: time),
            purgesInLastHour: 0
        )
    }

    func lease(_ partition: Partition) -> Lease { leases[Int(partition.number)] }

    func isHeld(_ claim: PartitionClaim, by host: Int) -> Bool {
        lease(claim.partition).owner == host && lease(claim.partition).epoch == claim.epoch
    }

    func owns(_ partition: Partition, _ host: Int, at time: Duration) -> Bool {
        lease(partition).owner == host && lease(partition).until > time
    }

    func rulesSeenByAll(at time: Duration) -> Int64 {
        let owners = Set(leases.filter { $0.until > time }.compactMap(\.owner))
        return owners.compactMap { hosts[$0]?.rules }.min() ?? rulesVersion
    }

    func isFree(_ partition: Partition, for host: Int, at time: Duration) -> Bool {
        let lease = lease(partition)
        return lease.owner == nil || lease.until <= time || lease.owner == host
    }

    mutating func acquire(_ partition: Partition, by host: Int, at time: Duration) -> PartitionClaim
    {
        if let owner = lease(partition).owner, owner != host { takeovers += 1 }
        leases[Int(partition.number)].owner = host
        leases[Int(partition.number)].epoch += 1
        leases[Int(partition.number)].until = time + Limits.leaseLifetime
        return PartitionClaim(partition, epoch: lease(partition).epoch)
    }

    mutating func release(_ claims: [PartitionClaim], by host: Int) {
        for claim in claims where isHeld(claim, by: host) {
            leases[Int(claim.partition.number)].owner = nil
        }
    }

    // MARK: Rows

    mutating func submit(
        _ work: OperationRow.Work,
        to partition: Partition,
        number: UInt64
    ) {
        let id = OperationID(rowID: Int64(operations.count + 1))
        let row = OperationRow(id: id, partition: partition, work: work)
        operations[id] = Operation(row: row, number: number)
        mailCount += 1
    }

    func unanswered(in partitions: PartitionSet) -> [OperationRow] {
        operations.values.filter { $0.answer == nil && partitions.contains($0.row.partition) }
            .map(\.row).sorted { $0.id < $1.id }
    }
}

/// The database of several hosts.
extension SimulatedDisk {
    func partition(of id: RequestID) -> Partition? {
        requests[id].map { Partition(userHash: Simulator.hash(of: $0.user)) }
    }

    private func partition(of credential: CredentialID) -> Partition? {
        identity(of: credential).flatMap { identities[$0] }.map {
            Partition(userHash: Simulator.hash(of: $0.user))
        }
    }

    /// One transaction: it checks the epochs and the guard, and writes all or nothing.
    mutating func commit(
        _ changes: [StateChange],
        under claims: [PartitionClaim],
        by host: Int,
        guardMax: Int,
        at now: WallTime,
        bug: PlantedBug?
    ) -> CommitOutcome {
        let stale = claims.filter { !shared.isHeld($0, by: host) }
        if !stale.isEmpty, bug != .noEpochCheck {
            shared.refusals += 1
            return .refused(CommitRefusal(lost: stale))
        }
        let begun = changes.count { begins($0) }
        let allowed = changes.reduce(0) {
            if case .useGuardOverride(let count, _) = $1 { $0 + count } else { $0 }
        }
        let recent = purgeTimes.count { now.since($0) < .seconds(3600) }
        if begun > 0, recent + begun - allowed > guardMax {
            return .refused(CommitRefusal(purgesInLastHour: recent))
        }
        if let refusal = refusal(of: changes) { return .refused(refusal) }
        let scope = PartitionSet(claims.map(\.partition))
        for claim in claims { noteWriter(claim, host) }
        for change in changes {
            guard let partition = named(change), !scope.contains(partition) else { continue }
            shared.violations.append("H-1: a write without a claim: \(partition)")
        }
        return .committed(changes.map { apply($0, in: scope) })
    }

    private func begins(_ change: StateChange) -> Bool {
        guard case .save(let now, _, _) = change, now.purgeStartedAt != nil else { return false }
        return requests[now.id]?.request.purgeStartedAt == nil
    }

    private mutating func noteWriter(_ claim: PartitionClaim, _ host: Int) {
        let last = shared.writers[claim.partition]
        if let last, last.epoch > claim.epoch || last.epoch == claim.epoch && last.host != host {
            shared.violations.append("H-1: commits of two owners interleave in \(claim.partition)")
        }
        shared.writers[claim.partition] = (host, claim.epoch)
    }

    private func named(_ change: StateChange) -> Partition? {
        switch change {
        case .save(let now, _, _): partition(of: now.id)
        case .saveExchange(let exchange, _), .storeTokens(let exchange, _, _, _):
            identities[exchange.identity].map { Partition(userHash: Simulator.hash(of: $0.user)) }
        case .rotate(let credential, _, _): partition(of: credential)
        case .answer(let id, _): shared.operations[id]?.row.partition
        default: nil
        }
    }

    private mutating func apply(_ change: StateChange, in scope: PartitionSet) -> ChangeUpdate? {
        switch change {
        case .wake(let reason, let previous, let time):
            return wake(reason, after: previous, in: scope, at: time)
        case .beginRenewal(let id, _, _):
            let isClaimed = partition(of: id).map(scope.contains) ?? false
            return isClaimed ? apply(change) : .renewalBegun(id, nil)
        case .endRenewal(let ended, _):
            let isClaimed = partition(of: ended.credential).map(scope.contains) ?? false
            return isClaimed ? apply(change) : .renewalEnded(ended.credential, nil)
        case .answer(let id, let outcome):
            shared.operations[id]?.answer = outcome
            return nil
        case .placeHold(let hold) where pauses.holds.contains { $0.name == hold.name }:
            return nil
        default:
            noteRule(change)
            return apply(change)
        }
    }

    private mutating func noteRule(_ change: StateChange) {
        let reasons: [ParkReason]
        switch change {
        case .resumeProvider: reasons = ParkReason.ofRevocations
        case .resumeStore: reasons = [.storePaused]
        case .liftHold: reasons = [.onHold]
        case .pauseProvider, .pauseStore, .placeHold: reasons = []
        default: return
        }
        shared.rulesVersion += 1
        shared.mailCount += 1
        for partition in Partition.all {
            for reason in reasons {
                shared.wakes[partition, default: [:]][reason] = .some(nil)
            }
        }
    }

    private mutating func wake(
        _ reason: ParkReason,
        after previous: RequestID?,
        in scope: PartitionSet,
        at time: WallTime
    ) -> ChangeUpdate? {
        let waiting = requests.filter { id, row in
            row.request.phase.parkReason == reason && (previous.map { id > $0 } ?? true)
                && scope.contains(Partition(userHash: Simulator.hash(of: row.user)))
        }
        let page = waiting.keys.sorted().prefix(Self.wakePageMax)
        for id in page {
            let dueAt = requests[id]?.request.dueAt ?? time
            requests[id]?.request.dueAt = min(dueAt, time)
        }
        let last = page.count < Self.wakePageMax ? nil : page.last
        for partition in scope.members {
            shared.wakes[partition, default: [:]][reason] = last.map { .some($0) }
        }
        return last.map { .wakeGoesOn(reason, after: $0) }
    }

    /// What waited for the last owner of a partition becomes due for the new one.
    mutating func start(
        of claim: PartitionClaim,
        isOwnCrash: Bool,
        at now: WallTime
    )
        -> PartitionStart
    {
        var suspects: [RequestID] = []
        for (id, row) in requests where partition(of: id) == claim.partition {
            requests[id]?.isActive = false
            guard let stage = row.request.phase.stage else { continue }
            if isOwnCrash, row.isActive { requests[id]?.request.crashCount += 1 }
            let crashes = requests[id]?.request.crashCount ?? 0
            if (1..<Limits.crashesMax).contains(crashes) { suspects.append(id) }
            let reason = row.request.phase.parkReason
            guard reason?.isOfHost ?? (stage <= .revoking) else { continue }
            if row.request.dueAt == nil || reason != nil { requests[id]?.request.dueAt = now }
        }
        let codes = exchanges.values.filter { partition(of: $0.credential) == claim.partition }
        return PartitionStart(
            claim,
            exchanges: codes.sorted { $0.credential < $1.credential }.map {
                LoadedExchange(exchange: $0, credential: sealed($0.credential))
            },
            suspects: suspects.sorted(),
            unfinishedWakes: shared.wakes[claim.partition] ?? [:]
        )
    }

    func inbox(of partitions: PartitionSet) -> PartitionInbox {
        let codes = exchanges.values.filter { exchange in
            exchange.phase == .pending
                && partition(of: exchange.credential).map(partitions.contains) ?? false
        }
        return PartitionInbox(
            operations: shared.unanswered(in: partitions),
            exchanges: codes.sorted { $0.credential < $1.credential }.map {
                LoadedExchange(exchange: $0, credential: sealed($0.credential))
            }
        )
    }
}
