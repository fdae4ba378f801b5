import Lifecycle

@testable import Engine

/// Several hosts on one store: their leases, their pauses, and the shell of each.
extension Simulator {
    var isShared: Bool { hosts.count > 1 }

    /// Begins with several hosts, none of which owns anything yet.
    mutating func share(among count: Int, skewMax: Int64 = 30) {
        hosts = (0..<count).map { _ in SimulatedHost(core: core) }
        for index in hosts.indices {
            hosts[index].skew = .seconds(Int64.random(in: -skewMax...skewMax, using: &random))
            hosts[index].drift = Int64.random(in: -90...90, using: &random)
            current = index
            boot()
        }
    }

    /// The lease time of the database: it stands still while nothing can happen to a lease.
    var leaseTime: Duration { now.since(Simulator.start) - skipped }

    /// A monotonic clock, a little fast or slow.
    private var uptime: Duration {
        let time = leaseTime
        return time + .milliseconds(time.milliseconds * hosts[current].drift / 10_000)
    }

    private func wakeTime(of host: Int) -> WallTime? {
        guard let wake = hosts[host].leases.wakeTime else { return nil }
        let time = wake.milliseconds * 10_000 / (10_000 + hosts[host].drift)
        return Simulator.start + skipped + .milliseconds(time + 1)
    }

    /// The earliest timer of any host.
    func nextWake() -> (at: WallTime, host: Int, isLease: Bool)? {
        var first: (at: WallTime, host: Int, isLease: Bool)?
        for (index, host) in hosts.enumerated() where !host.isDown {
            let clock = now + clockError + host.skew
            let wake = host.core.wakeTime(after: clock).map { $0 - clockError - host.skew }
            let lease = isShared ? wakeTime(of: index) : nil
            for (time, isLease) in [(wake, false), (lease, true)] {
                guard var time else { continue }
                time = max(time, host.pausedUntil ?? .distantPast)
                if first.map({ time < $0.at }) ?? true { first = (time, index, isLease) }
            }
        }
        return first
    }

    /// Something outside happens by way of any host that runs.
    mutating func choose(_ host: Int?) {
        guard isShared else { return }
        if let host {
            current = host
        } else {
            let running = hosts.indices.filter { isRunning($0) }
            current = running.randomElement(using: &random) ?? 0
        }
        if let until = hosts[current].pausedUntil, until <= now { hosts[current].pausedUntil = nil }
    }

    private func isRunning(_ host: Int) -> Bool {
        !hosts[host].isDown && (hosts[host].pausedUntil ?? .distantPast) <= now
    }

    /// Renewals that change nothing are left out: whole days pass between two events.
    mutating func skipQuietTime(until next: WallTime?, _ end: WallTime) -> Bool {
        let wakes = hosts.map { host in
            host.core.wakeTime(after: now + host.skew).map { $0 - host.skew }
        }
        let time = (wakes + [next, end]).compactMap(\.self).min() ?? end
        let gap = time.since(now) - .seconds(1)
        guard gap > .zero, isQuiet else { return false }
        now = now + gap
        skipped += gap
        return true
    }

    private var isQuiet: Bool {
        let running = hosts.filter { !$0.isDown }
        return running.allSatisfy { host in
            host.pausedUntil == nil && !host.isStopped && host.leases.phase == .idle
                && host.mailSeen == disk.shared.mailCount
                && host.core.rulesVersion == disk.shared.rulesVersion
        } && running.reduce(0) { $0 + $1.leases.owned.count } == Partition.count
            && disk.shared.operations.values.allSatisfy { $0.answer != nil }
            && Partition.all.allSatisfy { disk.shared.lease($0).until > leaseTime }
    }

    // MARK: Lives of processes

    private mutating func boot() {
        hosts[current].isDown = false
        hosts[current].leases = HostLeases(seed: random.next())
        var pauses = disk.pauses
        pauses.unfinishedWakes = [:]
        core = EngineCore(
            configuration: configuration,
            pauses: pauses,
            isVaultOpen: isVaultOpen,
            seed: random.next(),
            ownership: .none,
            rulesVersion: disk.shared.rulesVersion
        )
        core.start(suspects: [], purgesInLastHour: purgesInLastHour, exchanges: [], at: clock)
        turn([])
        lease(.due)
    }

    private var purgesInLastHour: Int {
        disk.purgeTimes.count { clock.since($0) < .seconds(3600) }
    }

    /// Shorter or longer than a lease lasts.
    mutating func downtime() -> Duration {
        .milliseconds(Int64.random(in: 100...20_000, using: &random))
    }

    /// The process of the current host ends; what it had under way takes effect or not.
    mutating func goDown(during action: EngineAction? = nil, for time: Duration) {
        guard !hosts[current].isDown else { return }
        if let action, Bool.random(using: &random) { performInWorldOnly(action) }
        let mine = pending.filter { $0.host == current }
        pending.removeAll { item in
            guard item.host == current else { return false }
            if case .host(.land) = item.occurrence { return false }
            return true
        }
        for item in mine { abandon(item.occurrence) }
        hosts[current].isDown = true
        hosts[current].pausedUntil = nil
        hosts[current].isStopped = false
        schedule(.host(.boot), after: time)
    }

    private mutating func abandon(_ occurrence: Occurrence) {
        switch occurrence {
        case .perform(let action), .host(.perform(let action, _)):
            if Bool.random(using: &random) { performInWorldOnly(action) }
        case .keep(let kept): leave(kept)
        default: break
        }
    }

    /// The current host stands still, as under SIGSTOP: what it would do, it does afterwards.
    mutating func pause(for time: Duration) {
        guard isShared, isRunning(current) else { return }
        let end = now + time
        hosts[current].pausedUntil = end
        for index in pending.indices where pending[index].host == current {
            if case .host(.land) = pending[index].occurrence { continue }
            pending[index].at = max(pending[index].at, end)
        }
    }

    /// Gives everything back and ends; comes back after a while.
    mutating func stopCleanly(for time: Duration) {
        guard isShared, isRunning(current), !hosts[current].isStopped else { return }
        hosts[current].isStopped = true
        lease(.stop)
        let host = current
        at(time) { sim in
            sim.current = host
            if sim.hosts[host].isStopped { sim.goDown(for: .zero) }
        }
    }

    // MARK: Leases

    /// Steps the machine of the current host and does what it wants.
    mutating func lease(_ event: LeaseEvent) {
        let effects = hosts[current].leases.handle(event, at: uptime)
        if isTracing, !effects.isEmpty { print(now.rfc3339, "host \(current)", event, effects) }
        obey(effects)
    }

    private mutating func obey(_ effects: [LeaseEffect]) {
        for effect in effects {
            guard !hosts[current].isDown else { return }
            switch effect {
            case .lost(let partitions): turn([.lost(partitions)])
            case .leave(let partitions): turn([.leave(partitions)])
            case .renew, .acquire, .release, .gained:
                guard !dies(at: effect) else { return }
                schedule(.host(.call(effect)), after: latency(faults.commitLatencyMaxMs))
            case .stopped: break
            }
        }
    }

    /// A boundary like that of every action.
    private mutating func dies(at effect: LeaseEffect) -> Bool {
        actionCount += 1
        guard isFatal() else { return false }
        if !pausesInsteadOfCrash, Bool.random(using: &random) { call(effect) }
        fail(during: nil)
        return !pausesInsteadOfCrash
    }

    private mutating func isFatal() -> Bool {
        crashAtAction == actionCount || chance(faults.crashPerMille)
    }

    /// A crash, or a pause that a lease does not survive.
    private mutating func fail(during action: EngineAction?) {
        crashCount += 1
        if pausesInsteadOfCrash {
            pause(for: .seconds(Int64.random(in: 6...30, using: &random)))
        } else {
            goDown(during: action, for: downtime())
        }
    }

    private mutating func losesConnection() -> Bool { chance(faults.connectionPerMille) }

    private mutating func call(_ effect: LeaseEffect) {
        let isLost = losesConnection()
        if losesConnection() {
            // The shell reads the start of a partition again, however often that takes.
            if case .gained = effect { return schedule(.host(.call(effect)), after: latency(250)) }
            return answer(.failed)
        }
        switch effect {
        case .renew(let claims):
            var view = disk.shared.renew(
                claims,
                by: current,
                rulesSeen: core.rulesVersion,
                at: leaseTime
            )
            view.purgesInLastHour = purgesInLastHour
            if !isLost { schedule(.host(.view(view)), after: latency(20)) }
        case .acquire(let partitions):
            let claims = partitions.members.filter {
                disk.shared.isFree($0, for: current, at: leaseTime)
            }
            .map { take($0) }
            if !isLost { answer(.acquired(claims)) }
        case .release(let claims):
            checkRelease(claims)
            disk.shared.release(claims, by: current)
            signalAll()
            if !isLost { answer(.released) }
        case .gained(let claims):
            let isOwnCrash = hosts[current].isOwnCrash
            let starts = claims.filter { disk.shared.isHeld($0, by: current) }.map {
                disk.start(of: $0, isOwnCrash: isOwnCrash, at: clock)
            }
            return schedule(.host(.gained(starts)), after: latency(20))
        case .lost, .leave, .stopped:
            return
        }
        if isLost { answer(.failed) }
    }

    private mutating func answer(_ event: LeaseEvent) {
        schedule(.host(.answer(event)), after: latency(20))
    }

    /// A new epoch: commits that are still on their way end first, and calls have ended or not.
    private mutating func take(_ partition: Partition) -> PartitionClaim {
        for (number, flying) in disk.shared.flying.sorted(by: { $0.key < $1.key })
        where flying.claims.contains(where: { $0.partition == partition }) {
            land(number)
        }
        endCalls(in: partition)
        return disk.shared.acquire(partition, by: current, at: leaseTime)
    }

    /// Calls of an earlier owner have reached the provider by now, or never will.
    private mutating func endCalls(in partition: Partition) {
        let taker = current
        for index in pending.indices.reversed() {
            guard case .host(.perform(let action, let read)) = pending[index].occurrence,
                let host = pending[index].host, partitions(of: action) == [partition]
            else { continue }
            if case .purge = action { continue }
            let isSameHost = host == taker
            pending.remove(at: index)
            current = host
            if Bool.random(using: &random) { performInWorldOnly(action) }
            if let answer = lostAnswer(to: action) {
                let wait = isSameHost ? latency(400) : latency(faults.callLatencyMaxMs)
                schedule(.input(.under(read, answer)), after: wait)
            }
            current = taker
        }
    }

    private mutating func signalAll() {
        let host = current
        for other in hosts.indices where other != host && !hosts[other].isDown {
            current = other
            if !chance(200) { answer(.signaled) }
        }
        current = host
    }

    mutating func occur(_ occurrence: HostOccurrence) {
        switch occurrence {
        case .start(let action, let read): start(action, read)
        case .perform(let action, let read):
            hosts[current].tag = read
            perform(action)
            hosts[current].tag = nil
        case .call(let effect): call(effect)
        case .answer(let event): lease(event)
        case .gained(let starts):
            let held = starts.filter { hosts[current].leases.holds($0.claim, at: uptime) }
            turn([.gained(held)])
        case .view(let view):
            hosts[current].mailSeen = disk.shared.mailCount
            turn([
                .renewedLeases(
                    rulesVersion: view.rulesVersion,
                    purgesInLastHour: view.purgesInLastHour
                )
            ])
            if !hosts[current].isDown { lease(.renewed(view.leases)) }
        case .boot: boot()
        case .land(let number): land(number)
        }
    }

    // MARK: The shell of one host

    /// Begins what the core wants; `false` when the process ended over it.
    mutating func turnShared(_ action: EngineAction) -> Bool {
        if isTracing { print(now.rfc3339, "host \(current) action", action) }
        if action.isBoundary {
            actionCount += 1
            if isFatal() {
                fail(during: pausesInsteadOfCrash ? nil : action)
                guard pausesInsteadOfCrash else { return false }
            }
        }
        switch action {
        case .call, .lookUp, .plan, .exchange, .renew, .purge, .verify:
            checkApproval(of: action)
            checkHolds(of: action)
            schedule(.host(.start(action, core.lastRead)), after: latency(2))
        case .commit(let changes, _):
            signIn(during: changes)
            schedule(.perform(action), after: latency(faults.commitLatencyMaxMs))
        case .fetchDue, .load, .findRenewals, .readRules, .readInbox:
            schedule(.perform(action), after: latency(faults.commitLatencyMaxMs))
        case .left(let partitions):
            answer(.left(partitions))
        case .stop, .retire, .reply, .changed, .announce, .report, .readSpool:
            begin(action)
        }
        return true
    }

    /// The answer to an effect tells which turn decided it.
    func tagged(_ input: EngineInput) -> EngineInput {
        guard let read = hosts[current].tag else { return input }
        switch input {
        case .answered, .storeAnswered, .planned, .exchanged, .renewed: return .under(read, input)
        default: return input
        }
    }

    func partitions(of action: EngineAction) -> [Partition] {
        switch action {
        case .call(let id, _, _, _), .lookUp(let id, _, _, _):
            [disk.partition(of: id)].compactMap(\.self)
        case .plan(let order): [disk.partition(of: order.order.request)].compactMap(\.self)
        case .purge(_, let orders), .verify(_, let orders):
            orders.compactMap { disk.partition(of: $0.request) }
        case .exchange(let loaded): [loaded.partition]
        case .renew(let sealed): [Partition(userHash: sealed.userHash)]
        default: []
        }
    }

    private mutating func mayBegin(_ partition: Partition) -> Bool {
        if hosts[current].leases.mayBegin(partition, at: uptime) || bug == .staleLease {
            if !disk.shared.owns(partition, current, at: leaseTime) {
                world.violations.append("H-2: an effect begins after its lease has ended")
            }
            return true
        }
        obey(hosts[current].leases.expire(at: uptime))
        return false
    }

    mutating func mayPurge(_ id: RequestID) -> Bool {
        guard isShared, hosts[current].tag != nil, let partition = disk.partition(of: id) else {
            return true
        }
        return mayBegin(partition)
    }

    private mutating func start(_ action: EngineAction, _ read: ReadNumber) {
        switch action {
        case .purge:
            // Each order begins by itself, when its turn in the call has come.
            break
        case .verify(_, let orders):
            let begun = orders.filter { order in
                disk.partition(of: order.request).map { mayBegin($0) } ?? false
            }
            guard !hosts[current].isDown else { return }
            if begun.count < orders.count {
                guard let answer = lostAnswer(to: action) else { return }
                turn([.under(read, answer)])
                return
            }
        default:
            let isAllowed = partitions(of: action).allSatisfy { mayBegin($0) }
            guard !hosts[current].isDown else { return }
            guard isAllowed else {
                if let answer = lostAnswer(to: action) { turn([.under(read, answer)]) }
                return
            }
        }
        schedule(.host(.perform(action, read)), after: latency(faults.callLatencyMaxMs))
    }

    /// What the shell answers about a call that it did not make, or of which it hears nothing.
    private func lostAnswer(to action: EngineAction) -> EngineInput? {
        switch action {
        case .call(let id, let call, let provider, _):
            .answered(id, .postponed(.call(call), until: clock), provider, .vaultSealed)
        case .lookUp(let id, let name, _, _):
            .answered(id, .lookedUp(.failure(.vaultSealed)), name, .vaultSealed)
        case .plan(let order): .planned(order.order.request, .failure(database, .vaultSealed))
        case .exchange(let loaded):
            .exchanged(
                loaded.exchange.credential,
                ExchangeResult(event: .failure(.vaultSealed))
            )
        case .renew(let sealed): .renewed(sealed.id, .failure(.vaultSealed))
        case .verify(let store, let orders):
            .storeAnswered(
                store,
                orders.map { ($0.request, .verified(store, .failure(.lost))) }
            )
        default: nil
        }
    }
}

extension EngineAction {
    /// Whether a crash at it is another one than at the action before.
    fileprivate var isBoundary: Bool {
        switch self {
        case .commit, .call, .lookUp, .plan, .exchange, .renew, .purge, .verify, .left, .reply:
            true
        case .fetchDue, .load, .findRenewals, .readRules, .readInbox, .readSpool, .stop, .retire,
            .changed, .announce, .report:
            false
        }
    }
}
