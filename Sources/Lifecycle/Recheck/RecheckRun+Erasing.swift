/// Listing what a store has of erased users, and erasing it again.
extension RecheckRun {
    /// Tombstones in memory at once, some 20 MB; more take several passes over the stores.
    package static let tombstonesMax = 200_000
    /// Of ten million tombstones, each comes up within four years of weekly samples; more would
    /// only take memory, since the stores are read as a whole either way.
    package static let sampleMax = 50_000
    /// Tries of a store that is busy or away.
    static let triesMax = 5
    static let restoredMax = 128

    /// The call that a phase needs; `nil` for a phase with nothing to do.
    func effect(of phase: RecheckPhase, _ context: RecheckContext) -> RecheckEffect? {
        switch phase {
        case .idle, .ended: return nil
        case .checkingLedger: return .state(.readAlarm)
        case .learning: return .state(.learnTombstones(since: terms.since))
        case .findingOpen(let names): return .state(.findOpen(names))
        case .restoring(let requests, let names):
            let some = Array(requests.prefix(Self.restoredMax))
            return some.isEmpty ? nil : .state(.restore(some, names, at: terms.restoredAt))
        case .openingCopy(let name, let place): return .openCopy(name, place)
        case .checkingCopy(let name): return .store(name, .copy, .check)
        case .loading(let position): return .state(load(after: position))
        case .findingLate(let known): return .state(.findLate(Set(known.keys)))
        case .listing(let name, _): return .store(name, view, .list(tombstones))
        case .findingBegun(let name, _): return .state(.findBegun(name))
        case .endingBegun(let name, let ended): return .state(.record(ended, name))
        case .checkingHolds(let batch):
            guard !batch.open.isEmpty else { return nil }
            let isKeyed = batch.view == .own && context.store(batch.store)?.keyName != nil
            // The id of a key says nothing of the user, on whom the hold is.
            let isOfKeys = isKeyed || batch.open.contains { $0.tombstone.isKey }
            return .state(.readHolds(withTombstones: isOfKeys))
        case .noting(let batch):
            return .state(.note(batch.open.map(batch.begun), batch.store))
        case .purging(let batch):
            guard !batch.open.isEmpty else { return nil }
            return .store(
                batch.store,
                batch.view,
                .purge(batch.orders, holds: batch.holds, attempt: batch.attempt)
            )
        case .verifying(let batch):
            return batch.open.isEmpty
                ? nil : .store(batch.store, batch.view, .verify(batch.orders))
        case .rechecking(let group): return group.effect
        case .waiting(let time, _): return .wait(until: time)
        case .recording(let batch, let ended): return .state(.record(ended, batch.store))
        case .forgetting(let erased): return erased.isEmpty ? nil : .state(.forgetLate(erased))
        case .closing(let ended): return .state(.close(ended))
        case .reopening(.returned):
            let dueAt = context.now + (context.environment.intervals.first ?? Self.againAfter)
            return findings.isEmpty ? nil : .state(.reopen(returned, dueAt: dueAt))
        case .reopening(.sampled(let store)): return .state(.recordSample(store))
        }
    }

    private func load(after position: Int) -> RecheckStateEffect {
        switch kind {
        case .rechecks: .loadDue(limit: Limits.purgeBatchMax)
        case .sample: .loadTombstones(since: nil, after: position, limit: Self.sampleMax)
        case .replay(let terms):
            .loadTombstones(since: terms.since, after: position, limit: Self.tombstonesMax)
        }
    }

    private var view: StoreView { terms.copy == nil ? .own : .copy }

    mutating func listed(
        _ answer: ListAnswer,
        in name: StoreName,
        _ retry: Retry,
        _ context: inout RecheckContext
    ) -> Step {
        switch answer {
        case .failure(let failure):
            // A store whose file was replaced under an open connection notices that now.
            var retry = retry
            let until = retry.fail(.replay, at: context.now)
            guard retry.failures >= Self.triesMax else {
                return .enter(.waiting(until: until, then: .listing(name, retry)))
            }
            report.change(name) { $0.error = failure.code }
            return .next
        case .unknown(let why):
            report.change(name) { ($0.error, $0.detail) = ("cannot_list", why) }
            return .next
        case .found(let users):
            let works = users.compactMap { work(for: $0.user, $0.hash, in: name) }
            agenda.insert(contentsOf: batches(works, in: name, &context), at: 0)
            guard !isDrill else { return .next }
            return .enter(.findingBegun(name, besides: Set(works.map(\.tombstone.hash))))
        }
    }

    private func work(
        for user: UserID,
        _ hash: [UInt8],
        in name: StoreName
    ) -> RecheckBatch.Work? {
        guard let tombstone = tombstones[hash] else { return nil }
        if case .sample = kind, tombstone.givenUp.contains(name) { return nil }
        let cutoff = max(tombstone.cutoff, terms.restoredAt ?? .distantPast)
        return RecheckBatch.Work(tombstone, user, cutoff: cutoff)
    }

    /// All ids of a request are in one batch: none leads on while another one stays.
    private func batches(
        _ works: [RecheckBatch.Work],
        in name: StoreName,
        _ context: inout RecheckContext
    ) -> [RecheckPhase] {
        var rest = works.sorted { $0.order.request < $1.order.request }[...]
        var phases: [RecheckPhase] = []
        while !rest.isEmpty {
            var some = rest.prefix(Limits.purgeBatchMax)
            let last = some.last?.order.request
            some += rest.dropFirst(some.count).prefix { $0.order.request == last }
            rest = rest.dropFirst(some.count)
            let sure = some.filter { isSure($0, in: name, context) }
            phases.append(begin(sure, in: name, &context))
            let unsure = some.filter { !isSure($0, in: name, context) }
            phases.append(.verifying(RecheckBatch(name, view, .leave, unsure)))
        }
        return phases
    }

    private func begin(
        _ works: [RecheckBatch.Work],
        in name: StoreName,
        _ context: inout RecheckContext
    ) -> RecheckPhase {
        guard !isDrill || terms.copy != nil else {
            return .verifying(RecheckBatch(name, view, .examine, works))
        }
        return erase(RecheckBatch(name, view, .erase, works), &context)
    }

    private func erase(_ batch: RecheckBatch, _ context: inout RecheckContext) -> RecheckPhase {
        var batch = batch
        batch.attempt = String(UInt64.random(in: .min ... .max, using: &context.random), radix: 36)
        // A copy may go, whatever is on hold.
        return batch.view == .copy ? .purging(batch) : .checkingHolds(batch)
    }

    /// What is found can only be what was erased; without timestamps, the operator says so.
    private func isSure(
        _ work: RecheckBatch.Work,
        in name: StoreName,
        _ context: RecheckContext
    ) -> Bool {
        guard case .replay(let terms) = kind, context.store(name)?.withoutTimestamps != nil
        else { return true }
        return terms.restoredAt.map { work.tombstone.erasedAt <= $0 } ?? false
    }

    mutating func foundBegun(
        _ begun: [BegunErasure],
        in name: StoreName,
        besides listed: Set<[UInt8]>,
        _ context: RecheckContext
    ) -> Step {
        let isKeyed = context.store(name)?.keyName != nil
        var gone = begun.filter {
            tombstones[$0.hash]?.isKey == isKeyed && !listed.contains($0.hash)
        }[...]
        var phases: [RecheckPhase] = []
        while !gone.isEmpty {
            let some = gone.prefix(Limits.purgeBatchMax)
            gone = gone.dropFirst(some.count)
            let ended = some.map { EndedErasure($0, rows: 0, isResumed: true) }
            phases.append(.endingBegun(name, ended))
        }
        agenda.insert(contentsOf: phases, at: 0)
        return .next
    }

    /// Ends what an earlier replay left: its rows are gone, what they named is not.
    mutating func foundLate(_ tombstones: [Tombstone], _ context: inout RecheckContext) -> Step {
        let sources = Set(context.environment.stores.filter(\.hasKeys).map(\.name))
        // What is kept is all that is used; the id itself is gone with the rows.
        let works = tombstones.map { RecheckBatch.Work($0, .nobody(), cutoff: $0.cutoff) }
        let stores = context.environment.dependents(of: sources)
        guard !stores.isEmpty else { return .next }
        let led = RecheckBatch.Led(rest: stores, isLate: true)
        return goOn(works, led, &context)
    }

    /// What was found is kept until all stores are done with it, for a replay after a crash.
    private func goOn(
        _ works: [RecheckBatch.Work],
        _ led: RecheckBatch.Led,
        _ context: inout RecheckContext
    ) -> Step {
        var led = led
        guard !works.isEmpty, !led.rest.isEmpty else {
            return .enter(.forgetting(works.map(\.tombstone)))
        }
        let name = led.rest.removeFirst()
        var open = works.map { $0.begun(cutoff: $0.order.cutoff) }
        if led.isLate {
            // What the operator says of one store says nothing of the others.
            let named = Set([terms.store].compactMap(\.self))
            let restored = context.environment.dependents(of: named)
            let isRestored = terms.store == nil || restored.contains(name)
            let restoredAt = isRestored ? terms.restoredAt ?? .distantPast : .distantPast
            open = open.map { $0.begun(cutoff: max($0.tombstone.cutoff, restoredAt)) }
        }
        var batch = RecheckBatch(name, .led, .erase, open)
        batch.led = led
        return .enter(erase(batch, &context))
    }

    func follow(_ batch: RecheckBatch, _ context: inout RecheckContext) -> Step {
        guard batch.view != .copy else { return .next }
        let left = Set(batch.open.map(\.order.request))
        let done = batch.done.filter { !left.contains($0.order.request) }
        if let led = batch.led { return goOn(done, led, &context) }
        let stores = context.environment.dependents(of: [batch.store])
        guard !done.isEmpty, !stores.isEmpty else { return .next }
        // Several ids of one request lead to the same.
        var requests: Set<RequestID> = []
        let first = done.filter { requests.insert($0.order.request).inserted }
        let led = RecheckBatch.Led(rest: stores, isLate: false)
        return goOn(first, led, &context)
    }
}
