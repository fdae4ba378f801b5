/// What the state reports when a host renews its leases.
package struct LeaseView: Hashable, Sendable {
    /// The leases that were renewed.
    package var renewed: [PartitionClaim] = []
    /// Partitions that the host may take: without owner, expired, or its own from before.
    package var free = PartitionSet.none
    /// Hosts that have renewed lately, this one included, and its place among them, from 0.
    package var hostCount = 1
    package var rank = 0
    /// How long until the next lease of another host ends; `nil` when there is none.
    package var nextExpiry: Duration?

    package init() {}

    /// How many partitions the host should own; the shares of all hosts add up to all partitions.
    package var share: Int {
        let hosts = max(1, hostCount)
        return Partition.count / hosts + (rank < Partition.count % hosts ? 1 : 0)
    }
}

/// What happens to the leases of a host.
package enum LeaseEvent: Hashable, Sendable {
    /// The time that ``HostLeases/wakeTime`` names has come.
    case due
    case renewed(LeaseView)
    case acquired([PartitionClaim])
    case released
    /// A call to the state failed; whether it took effect is unknown.
    case failed
    /// The engine has ended its work on partitions that it had to leave, under these epochs.
    case left([PartitionClaim])
    /// Another host has given partitions back, or rules have changed: renewing soon is worth it.
    case signaled
    /// A commit under these claims was refused, or whether it took effect is unknown. The host then
    /// takes a new epoch, which waits for the commit by its lock: what is read after is the truth.
    case refused([PartitionClaim])
    case stop
}

/// What is to be done about the leases of a host.
package enum LeaseEffect: Hashable, Sendable {
    /// Calls to the state; at most one is under way.
    case renew([PartitionClaim])
    case acquire(PartitionSet)
    case release([PartitionClaim])
    /// Orders to the engine, which come before the call of the same step.
    case gained([PartitionClaim])
    case lost(PartitionSet)
    /// End the work under way, begin nothing more, and answer with ``LeaseEvent/left(_:)``.
    case leave(PartitionSet)
    case stopped
}

/// The leases of one host: renewed in time, shared out by count, given back on stop.
///
/// Times are those of a monotonic clock of the host. A lease ends ``Limits/leaseLifetime`` after
/// the call that renewed it was sent, less a margin: the state, which counts from the arrival of
/// that call, ends it later.
package struct HostLeases: Sendable {
    /// What the host waits for.
    package enum Phase: Hashable, Sendable {
        case idle
        case renewing(sentAt: Duration)
        case acquiring(sentAt: Duration, count: Int)
        case releasing
        case stopped
    }

    /// One lease.
    struct Held: Hashable, Sendable {
        let epoch: Int64
        var deadline: Duration
    }

    package private(set) var phase = Phase.idle
    package private(set) var isStopping = false
    private var held: [Held?] = Array(repeating: nil, count: Partition.count)
    package private(set) var owned = PartitionSet.none
    private var leaving = PartitionSet.none
    private var left = PartitionSet.none
    private var leaveBy: Duration?
    private var nextAt = Duration.zero
    /// Signaled during a renewal, which may have read what was before.
    private var isSignaled = false
    private var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Whether an effect of the partition may begin: its lease lasts.
    package func mayBegin(_ partition: Partition, at uptime: Duration) -> Bool {
        held[Int(partition.number)].map { uptime < $0.deadline } ?? false
    }

    /// Whether the lease with this epoch lasts.
    package func holds(_ claim: PartitionClaim, at uptime: Duration) -> Bool {
        mayBegin(claim.partition, at: uptime)
            && held[Int(claim.partition.number)]?.epoch == claim.epoch
    }

    /// Those that the host is about to give back: the order to leave may have come before the
    /// engine had them.
    package func leaving(of claims: [PartitionClaim]) -> PartitionSet {
        PartitionSet(claims.map(\.partition)).intersection(leaving)
    }

    /// When ``LeaseEvent/due`` is wanted, at the latest.
    package var wakeTime: Duration? {
        if phase == .stopped { return nil }
        let next = phase == .idle ? nextAt : nil
        return [next, held.lazy.compactMap { $0?.deadline }.min(), leaveBy].compactMap(\.self).min()
    }

    package mutating func handle(_ event: LeaseEvent, at uptime: Duration) -> [LeaseEffect] {
        guard phase != .stopped else { return [] }
        var effects = expire(at: uptime)
        switch event {
        case .due: break
        case .renewed(let view): effects += renewed(view, at: uptime)
        case .acquired(let claims): effects += acquired(claims, at: uptime)
        case .released: if phase == .releasing { phase = .idle }
        case .failed: failed(at: uptime)
        case .left(let claims):
            let ended = claims.filter { held[Int($0.partition.number)]?.epoch == $0.epoch }
            left = left.union(PartitionSet(ended.map(\.partition)).intersection(leaving))
        case .signaled:
            if case .renewing = phase { isSignaled = true }
            renewSoon(at: uptime)
        case .refused(let claims):
            let lost = claims.filter { held[Int($0.partition.number)]?.epoch == $0.epoch }
            effects += drop(PartitionSet(lost.map(\.partition)))
            nextAt = uptime
        case .stop:
            if !isStopping { effects += leave(owned, at: uptime) }
            isStopping = true
        }
        return effects + next(at: uptime)
    }

    /// Ends what the clock has ended, whatever the state will answer later.
    package mutating func expire(at uptime: Duration) -> [LeaseEffect] {
        let ended = owned.members.filter { !mayBegin($0, at: uptime) }
        var effects = drop(PartitionSet(ended))
        if let leaveBy, leaveBy <= uptime { effects += cutShort() }
        return effects
    }

    /// Gives back without waiting what is still at work.
    private mutating func cutShort() -> [LeaseEffect] {
        let late = leaving.subtracting(left)
        (left, leaveBy) = (leaving, nil)
        return late.isEmpty ? [] : [.lost(late)]
    }

    private mutating func drop(_ partitions: PartitionSet) -> [LeaseEffect] {
        let lost = partitions.intersection(owned)
        for partition in lost.members { held[Int(partition.number)] = nil }
        owned = owned.subtracting(lost)
        let atWork = lost.subtracting(left)
        (leaving, left) = (leaving.subtracting(lost), left.subtracting(lost))
        if leaving.isEmpty { leaveBy = nil }
        return atWork.isEmpty ? [] : [.lost(atWork)]
    }

    private mutating func renewed(_ view: LeaseView, at uptime: Duration) -> [LeaseEffect] {
        guard case .renewing(let sentAt) = phase else { return [] }
        phase = .idle
        let ends = sentAt + Limits.leaseLifetime - Limits.leaseMargin
        var refused = owned
        for claim in view.renewed where held[Int(claim.partition.number)]?.epoch == claim.epoch {
            held[Int(claim.partition.number)]?.deadline = ends
            refused.remove(claim.partition)
        }
        nextAt = sentAt + Limits.leaseRenewal - jitter(Limits.leaseRenewal / 10)
        if let expiry = view.nextExpiry {
            nextAt = min(nextAt, sentAt + expiry + jitter(Limits.leaseMargin))
        }
        if isSignaled { renewSoon(at: uptime) }
        isSignaled = false
        return drop(refused) + balance(view, at: uptime)
    }

    private mutating func renewSoon(at uptime: Duration) {
        nextAt = min(nextAt, uptime + Limits.leaseMargin / 2 + jitter(Limits.leaseMargin / 2))
    }

    private mutating func balance(_ view: LeaseView, at uptime: Duration) -> [LeaseEffect] {
        guard !isStopping else { return [] }
        let kept = owned.subtracting(leaving)
        let missing = view.share - kept.count
        if missing < 0 { return leave(PartitionSet(kept.members.suffix(-missing)), at: uptime) }
        let wanted = inOrder(view.free.subtracting(owned), view).prefix(missing)
        guard !wanted.isEmpty else { return [] }
        phase = .acquiring(sentAt: uptime, count: wanted.count)
        return [.acquire(PartitionSet(wanted))]
    }

    /// Each host begins at another place, so that few want the same.
    private func inOrder(_ free: PartitionSet, _ view: LeaseView) -> [Partition] {
        let first = view.rank * Partition.count / max(1, view.hostCount)
        let members = free.members
        return members.filter { $0.number >= first } + members.filter { $0.number < first }
    }

    private mutating func acquired(
        _ claims: [PartitionClaim],
        at uptime: Duration
    ) -> [LeaseEffect] {
        guard case .acquiring(let sentAt, let count) = phase else { return [] }
        phase = .idle
        // Two hosts that take over at once pass over what the other one looks at.
        if claims.count < count { renewSoon(at: uptime) }
        let ends = sentAt + Limits.leaseLifetime - Limits.leaseMargin
        guard uptime < ends, !claims.isEmpty else { return [] }
        for claim in claims {
            held[Int(claim.partition.number)] = Held(epoch: claim.epoch, deadline: ends)
            owned.insert(claim.partition)
        }
        let gained = LeaseEffect.gained(claims)
        guard isStopping else { return [gained] }
        return [gained] + leave(PartitionSet(claims.map(\.partition)), at: uptime)
    }

    private mutating func failed(at uptime: Duration) {
        phase = .idle
        let delay = RetryPolicy.lease.first
        nextAt = uptime + delay + jitter(delay)
    }

    private mutating func leave(_ partitions: PartitionSet, at uptime: Duration) -> [LeaseEffect] {
        let more = partitions.subtracting(leaving)
        guard !more.isEmpty else { return [] }
        leaving = leaving.union(more)
        leaveBy = leaveBy ?? uptime + Limits.leaseLeaving
        return [.leave(more)]
    }

    /// The next call to the state, one at a time; what was left goes back first.
    private mutating func next(at uptime: Duration) -> [LeaseEffect] {
        guard phase == .idle else { return [] }
        if !left.isEmpty {
            let claims = claims(of: left)
            phase = .releasing
            _ = drop(left)
            return [.release(claims)]
        }
        if isStopping, owned.isEmpty {
            phase = .stopped
            return [.stopped]
        }
        guard nextAt <= uptime else { return [] }
        phase = .renewing(sentAt: uptime)
        return [.renew(claims(of: owned))]
    }

    private func claims(of partitions: PartitionSet) -> [PartitionClaim] {
        partitions.members.compactMap { partition in
            held[Int(partition.number)].map { PartitionClaim(partition, epoch: $0.epoch) }
        }
    }

    private mutating func jitter(_ most: Duration) -> Duration {
        .milliseconds(Int64.random(in: 0...max(0, most.milliseconds), using: &random))
    }
}
