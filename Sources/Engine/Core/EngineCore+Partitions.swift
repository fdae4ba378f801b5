package import Lifecycle

/// Partitions that are gained and lost at any step; a single host has all of them for ever.
///
/// ```
/// gained ──▶ due work, exchanges, wakes and operations are read again from the state
/// leave  ──▶ nothing begins; what is under way is answered and committed ──▶ left
/// lost   ──▶ everything of the partition is dropped at once; answers that come later are ignored
/// ```
///
/// A slot of a provider, a store or a plan stays taken until its call is answered, whoever owns
/// the partition by then.
extension EngineCore {
    // MARK: Gaining

    mutating func gain(_ start: PartitionStart, at now: WallTime) {
        guard !ownership.isAll else { return }
        ownership.gain(start.claim, at: reads.mark())
        shareRates()
        suspects.append(contentsOf: start.suspects)
        for loaded in start.exchanges {
            adopt(loaded, event: loaded.exchange.phase == .exchanging ? .restarted : nil, at: now)
        }
        for (reason, id) in start.unfinishedWakes.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        {
            if let id { continueWake(reason, after: id, at: now) } else { wake(reason, at: now) }
        }
        renewals.searchAt = now
        renewals.tendAt = renewals.tendAt.map { _ in .distantPast }
        noteDue(now)
    }

    /// The rate of a provider is that of all owners together.
    mutating func shareRates() {
        guard !ownership.isAll else { return }
        for (name, limits) in configuration.lanes {
            let part = shared(limits)
            lanes[name]?.adopt(part)
        }
    }

    func shared(_ limits: LaneLimits) -> LaneLimits {
        let part = Double(max(1, ownership.owned.count)) / Double(Partition.count)
        return LaneLimits(
            concurrency: limits.concurrency,
            ratePerSecond: limits.ratePerSecond.map { $0 * part }
        )
    }

    // MARK: Losing

    mutating func lose(_ partitions: PartitionSet, at now: WallTime) {
        let lost = partitions.intersection(ownership.owned)
        guard !ownership.isAll, !lost.isEmpty else { return }
        dropChanges(of: lost)
        drop(requests(of: lost))
        dropExchanges(of: lost, at: now)
        dropOperations(of: lost)
        dropRenewals(of: lost, at: now)
        // Which of them are of these partitions is not known.
        for name in storeOrder { stores[name]?.stuck.forgetAll() }
        ownership.lose(lost)
        shareRates()
    }

    private func requests(of partitions: PartitionSet) -> Set<RequestID> {
        Set(window.lazy.filter { partitions.contains($0.value.partition) }.map(\.key))
    }

    /// Takes requests out of the window, and out of every queue, as if they had never been read.
    mutating func drop(_ ids: Set<RequestID>) {
        guard !ids.isEmpty else { return }
        for id in ids.sorted() {
            stopPurges(of: id)
            guard let run = window.removeValue(forKey: id) else { continue }
            spoolGate.leave(id, isParked: false)
            if let lane = run.lane { lanes[lane]?.requestCount -= 1 }
            waitingUpdates.removeValue(forKey: id)
            reads.noteDropped(id)
        }
        dirty.removeAll { ids.contains($0) }
        suspects.removeAll { ids.contains($0) }
        dropCalls(of: ids)
        for (identity, owner) in identities.owners {
            guard case .request(let id) = owner, ids.contains(id) else { continue }
            identities.owners[identity] = identities.called.contains(identity) ? .former : nil
        }
        batchUnderWay?.requests.removeAll { ids.contains($0.id) }
    }

    private mutating func dropCalls(of ids: Set<RequestID>) {
        for name in laneOrder { lanes[name]?.remove { ids.contains($0.request) } }
        for name in storeOrder { stores[name]?.remove(ids) }
        plans.remove(ids)
        for (identity, calls) in identities.callsBehind {
            let others = calls.filter { !ids.contains($0.request) }
            identities.callsBehind[identity] = others.isEmpty ? nil : others
        }
    }

    /// A call under way keeps its slot; one whose intent is not durable yet is never made.
    private mutating func dropExchanges(of lost: PartitionSet, at now: WallTime) {
        for (id, loaded) in exchanges.sorted(by: { $0.key < $1.key })
        where lost.contains(loaded.partition) {
            exchanges[id] = nil
            waitingExchanges.remove(id)
            let provider = loaded.exchange.provider
            if isIntended(id) {
                lanes[provider]?.gaveUp(isCode: true, at: now)
            } else if loaded.exchange.phase == .exchanging {
                lateCodes[id] = provider
            }
            nextBatch.exchanges.removeAll { $0.id == id }
            batchUnderWay?.exchanges.removeAll { $0.id == id }
        }
        for name in laneOrder {
            lanes[name]?.removeCodes { [exchanges] in exchanges[$0] == nil }
        }
    }

    private func isIntended(_ id: CredentialID) -> Bool {
        let entries = nextBatch.exchanges + (batchUnderWay?.exchanges ?? [])
        return entries.contains { $0.id == id && $0.effects.contains(.exchange) }
    }

    private mutating func dropOperations(of lost: PartitionSet) {
        operations = operations.filter { !lost.contains($0.value) }
        for (id, waiting) in waitingOperations {
            let others = waiting.filter { _, ticket in
                ticket.operation.map { operations[$0] != nil } ?? true
            }
            waitingOperations[id] = others.isEmpty ? nil : others
        }
    }

    /// What is queued is searched for again; what is under way ends without a record.
    private mutating func dropRenewals(of lost: PartitionSet, at now: WallTime) {
        renewals.queued = [:]
        renewals.searchAt = now
        for (id, open) in renewals.open where open.partition.map(lost.contains) ?? false {
            renewals.open[id]?.isLost = true
        }
    }

    private mutating func dropChanges(of lost: PartitionSet) {
        looseChanges.removeAll { $0.partition.map(lost.contains) ?? false }
        batchUnderWay?.keepChanges { _, partition in
            !(partition.map(lost.contains) ?? false)
        }
    }

    // MARK: Leaving

    mutating func leave(_ partitions: PartitionSet, at now: WallTime) {
        guard !ownership.isAll else { return }
        ownership.leave(partitions)
        let ids = requests(of: ownership.leaving)
        dropCalls(of: ids)
        for id in ids.sorted() { stopPurges(of: id) }
        (renewals.queued, renewals.searchAt) = ([:], now)
        for name in laneOrder {
            lanes[name]?.removeCodes { [exchanges, ownership] id in
                exchanges[id].map { ownership.leaving.contains($0.partition) } ?? true
            }
        }
    }

    /// Drops what has nothing under way any more, and says which partitions are clear.
    mutating func sweepLeaving(at now: WallTime) {
        let leaving = ownership.leaving
        guard !leaving.isEmpty else { return }
        let idle = requests(of: leaving).filter { id in
            window[id].map { $0.callCount == 0 && !$0.isDirty && !$0.isCommitting } ?? true
        }
        drop(idle)
        var busy = PartitionSet(requests(of: leaving).compactMap { window[$0]?.partition })
        for (id, loaded) in exchanges where leaving.contains(loaded.partition) {
            guard loaded.exchange.phase == .exchanging || isCommitting(id) else { continue }
            busy.insert(loaded.partition)
        }
        for open in renewals.open.values where !open.isLost {
            // Whose it is shows when the intent is durable.
            if let partition = open.partition { busy.insert(partition) } else { busy = leaving }
        }
        for case .some(let partition) in looseChanges.map(\.partition) { busy.insert(partition) }
        for case .some(let partition) in batchUnderWay?.parts ?? [] { busy.insert(partition) }
        let clear = leaving.subtracting(busy)
        guard !clear.isEmpty else { return }
        let claims = ownership.claims(of: clear) ?? []
        lose(clear, at: now)
        actions.append(.left(claims))
    }

    private func isCommitting(_ id: CredentialID) -> Bool {
        nextBatch.exchanges.contains { $0.id == id }
            || batchUnderWay?.exchanges.contains { $0.id == id } ?? false
    }

    // MARK: Commits

    /// Nothing of it was written: it is made again, without what may not be.
    mutating func commitRefused(_ refusal: CommitRefusal, at now: WallTime) {
        guard batchUnderWay != nil else { return }
        // A claim of before is no word against a newer one.
        lose(PartitionSet(refusal.lost.filter(ownership.holds).map(\.partition)), at: now)
        if let count = refusal.purgesInLastHour { stopPurges(at: count, now) }
        takeBack(Set(refusal.unseenBy), at: now)
        guard let batch = batchUnderWay else { return }
        actions.append(.commit(batch.changes, under: claims(of: batch)))
    }

    /// The guard of all hosts is closed: who was about to begin is read again, and parked then.
    private mutating func stopPurges(at count: Int, _ now: WallTime) {
        massDeletionGuard.restore(count: count, at: now)
        massDeletionGuard.override(purges: 0, until: .distantPast)
        batchUnderWay?.keepChanges { change, _ in !change.isGuardOverride }
        takeBack(Set(batchUnderWay?.changes.compactMap(\.begunPurge) ?? []), at: now)
    }

    /// Reads requests again whose changes were not written, and then makes their operations again.
    private mutating func takeBack(_ ids: Set<RequestID>, at now: WallTime) {
        guard !ids.isEmpty, let batch = batchUnderWay else { return }
        var orders: [(RequestID, Order)] = []
        for entry in batch.requests where ids.contains(entry.id) {
            orders += entry.orders.map { (entry.id, $0) }
        }
        let answered = Set(orders.compactMap(\.1.ticket.operation))
        batchUnderWay?.keepChanges { change, _ in
            switch change {
            case .save(let now, _, _): !ids.contains(now.id)
            case .answer(let operation, _): !answered.contains(operation)
            default: true
            }
        }
        for id in ids.sorted() { orders += window[id]?.orders.map { (id, $0) } ?? [] }
        drop(ids)
        for (id, order) in orders { operate(id, order.event, order.ticket, at: now) }
        load(ids.subtracting(orders.map(\.0)).sorted())
    }

    func claims(of batch: Batch) -> [PartitionClaim]? {
        guard !ownership.isAll else { return nil }
        let isWide = batch.changes.contains(where: \.isWide)
        let parts = PartitionSet(batch.parts.compactMap(\.self))
        let requests = PartitionSet(batch.requests.compactMap { window[$0.id]?.partition })
        return ownership.claims(of: isWide ? ownership.owned : parts.union(requests))
    }

    // MARK: Answers

    /// The partition of each order or call of an action that begins an effect; else none.
    package func partitions(of action: EngineAction) -> [Partition] {
        guard !ownership.isAll else { return [] }
        return action.requests.compactMap { window[$0]?.partition }
            + action.userHashes.map(Partition.init(userHash:))
    }

    mutating func consume(_ input: EngineInput, of read: ReadNumber, at now: WallTime) {
        switch input {
        case .answered(let id, let event, let provider, let failure, _):
            let identity = event.identity
            if let identity { identities.called.remove(identity) }
            if endCall(of: id, read) { return consume(input, at: now) }
            providerAnswered(provider, .request(id), failure: failure, at: now)
            guard let identity, identities.owners[identity] == .former else { return }
            release(identity, at: provider, now: now)
        case .planned(let id, _):
            guard endCall(of: id, read) else { return plans.finished() }
            consume(input, at: now)
        case .storeAnswered(let store, let answers, let reason):
            let current = answers.filter { endCall(of: $0.0, read) }
            consume(.storeAnswered(store, current, reason: reason), at: now)
        default:
            consume(input, at: now)
        }
    }

    /// Whether the call was made for the request as it is in the window.
    private mutating func endCall(of id: RequestID, _ read: ReadNumber) -> Bool {
        guard let partition = window[id]?.partition, ownership.isCurrent(partition, read) else {
            return false
        }
        withRun(id) { $0.callCount = max(0, $0.callCount - 1) }
        return true
    }

    mutating func beginCall(of id: RequestID, _ identity: IdentityID? = nil) {
        guard !ownership.isAll else { return }
        withRun(id) { $0.callCount += 1 }
        if let identity { identities.called.insert(identity) }
    }

    /// Whether something new may begin for a request of the window.
    func mayBegin(_ id: RequestID) -> Bool {
        ownership.isAll || window[id].map { ownership.isOpen($0.partition) } ?? false
    }

    // MARK: Rows of other hosts

    mutating func readInbox() {
        isInboxAwaited = true
        guard !isReadingInbox, !ownership.open.isEmpty else { return }
        (isReadingInbox, isInboxAwaited) = (true, false)
        actions.append(.readInbox(reads.mark(), ownership.open))
    }

    mutating func take(_ inbox: PartitionInbox, by read: ReadNumber, at now: WallTime) {
        isReadingInbox = false
        defer { settledMeanwhile = [] }
        let unanswered = Set(inbox.operations.map(\.id))
        operations = operations.filter { unanswered.contains($0.key) }
        for row in inbox.operations where operations[row.id] == nil {
            guard accepts(row.partition, read) else { continue }
            operations[row.id] = row.partition
            execute(row, at: now)
        }
        for loaded in inbox.exchanges where accepts(loaded.partition, read) {
            let id = loaded.exchange.credential
            guard loaded.exchange.phase == .pending, !settledMeanwhile.contains(id) else {
                continue
            }
            adopt(loaded, event: nil, at: now)
        }
        noteDue(now)
        if isInboxAwaited { readInbox() }
    }

    func accepts(_ partition: Partition, _ read: ReadNumber) -> Bool {
        ownership.isCurrent(partition, read) && ownership.isOpen(partition)
    }

    private mutating func execute(_ row: OperationRow, at now: WallTime) {
        switch row.work {
        case .operate(let id, let event):
            operate(id, event, Ticket(row.id), at: now)
        case .learn(let identity, let userHash):
            record(.tell(identity, of: userHash, at: now), of: row.partition)
            answer(row.id, .done)
        }
    }

    /// Also a refusal is durable before the caller reads it.
    mutating func answer(_ operation: OperationID, _ outcome: OperationOutcome) {
        guard let partition = operations[operation], ownership.isOpen(partition) else { return }
        record(.answer(operation, outcome), of: partition)
    }

    mutating func record(_ change: StateChange, of partition: Partition? = nil) {
        looseChanges.append(LooseChange(change: change, partition: partition))
    }
}

extension EngineCore {
    /// A change that no request of the window carries.
    struct LooseChange: Sendable {
        let change: StateChange
        /// `nil` when it is a rule for all hosts, or concerns all partitions of this one.
        let partition: Partition?
    }
}

extension EngineCore.Batch {
    fileprivate mutating func keepChanges(where isKept: (StateChange, Partition?) -> Bool) {
        let kept = changes.indices.filter { index in
            isKept(changes[index], parts.isEmpty ? nil : parts[index])
        }
        if !parts.isEmpty { parts = kept.map { parts[$0] } }
        changes = kept.map { changes[$0] }
    }
}

extension EngineCore.Run {
    var partition: Partition { Partition(userHash: loaded.userHash) }
}

extension LoadedExchange {
    package var partition: Partition { Partition(userHash: credential.userHash) }
}

extension EngineAction {
    /// The requests that an effect is for.
    fileprivate var requests: [RequestID] {
        switch self {
        case .call(let id, _, _, _), .lookUp(let id, _, _, _): [id]
        case .plan(let order): [order.order.request]
        case .purge(_, let orders), .verify(_, let orders): orders.map(\.request)
        default: []
        }
    }

    fileprivate var userHashes: [[UInt8]] {
        switch self {
        case .exchange(let loaded): [loaded.credential.userHash]
        case .renew(let sealed): [sealed.userHash]
        default: []
        }
    }
}

extension StateChange {
    /// Whether it concerns every partition that its commit claims.
    fileprivate var isWide: Bool {
        switch self {
        case .wake, .reclock, .tendRenewals, .beginRenewal, .endRenewal: true
        default: false
        }
    }

    fileprivate var begunPurge: RequestID? {
        guard case .save(let now, let was, _) = self, was.purgeStartedAt == nil,
            now.purgeStartedAt != nil
        else { return nil }
        return now.id
    }

    fileprivate var isGuardOverride: Bool {
        if case .useGuardOverride = self { true } else { false }
    }
}
