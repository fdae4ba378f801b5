import Lifecycle

extension EngineCore {
    mutating func finishStep(at now: WallTime) {
        if !ownership.isAll { sweepLeaving(at: now) }
        readSpool(at: now)
        fillLanes(at: now)
        fillStores(at: now)
        fillRenewals(at: now)
        fillPlans(at: now)
        reportStuckStores(at: now)
        reportOutages(at: now)
        beginCommit(at: now)
        runNextSuspect()
        fetchIfUseful(at: now)
    }

    /// One commit at a time; what is decided meanwhile goes into the next one.
    private mutating func beginCommit(at now: WallTime) {
        guard batchUnderWay == nil, !dirty.isEmpty || !looseChanges.isEmpty else { return }
        var batch = nextBatch
        nextBatch = Batch()
        var changes = looseChanges.map(\.change)
        if !ownership.isAll { batch.parts = looseChanges.map(\.partition) }
        looseChanges.removeAll(keepingCapacity: true)
        let isShared = !ownership.isAll
        for id in dirty {
            withRun(id) { run in
                let isChange = run.loaded.request != run.saved
                if isChange {
                    changes.append(.save(now: run.loaded.request, was: run.saved, at: now))
                    run.saved = run.loaded.request
                }
                if isShared { batch.note(run, &changes) }
                batch.requests.append((id, run.effects, run.orders, isChange))
                run.effects = []
                run.orders = []
                run.isDirty = false
                run.isCommitting = true
            }
        }
        dirty.removeAll(keepingCapacity: true)
        if overridesUsed > 0 {
            changes.append(.useGuardOverride(purges: overridesUsed, at: now))
            overridesUsed = 0
        }
        if !ownership.isAll {
            batch.parts += Array(repeating: nil, count: changes.count - batch.parts.count)
        }
        batch.changes = changes
        batchUnderWay = batch
        actions.append(.commit(changes, under: claims(of: batch)))
    }

    /// The batch is on disk: now, and only now, its effects may happen.
    mutating func commitEnded(_ update: [ChangeUpdate?], at now: WallTime) {
        guard let batch = batchUnderWay else { return }
        batchUnderWay = nil
        actions += batch.reports.map(EngineAction.report)
        if batch.changes.contains(where: \.isRule) { reads.noteRule() }
        for ticket in batch.tickets { reply(ticket, .done) }
        if batch.hasWake { noteDue(now) }
        if batch.reclockCount > 0 {
            clock.stepsUnderWay -= batch.reclockCount
            reads.noteStep()
            if clock.stepsUnderWay == 0 {
                for ticket in clock.tickets { reply(ticket, .done) }
                clock.tickets = []
            }
        }
        for (id, effects) in batch.exchanges { perform(effects, of: id, at: now) }
        for entry in batch.requests {
            let saved = withRun(entry.id) { run in
                run.isCommitting = false
                return run.saved
            }
            if entry.isChange, let saved { actions.append(.changed(saved)) }
            for order in entry.orders where order.ticket.operation == nil {
                reply(order.ticket, .done)
            }
            for effect in entry.effects { perform(effect, of: entry.id, at: now) }
            evictIfIdle(entry.id, at: now)
        }
        for case .some(let known) in update { learn(known, at: now) }
    }

    private mutating func learn(_ update: ChangeUpdate, at now: WallTime) {
        switch update {
        case .identity(let identityUpdate):
            spread(identityUpdate, at: now)
        case .wakeGoesOn(let reason, let id):
            continueWake(reason, after: id, at: now)
        case .renewalsTended, .renewalBegun, .renewalEnded:
            learnOfRenewal(update, at: now)
        }
    }

    private mutating func perform(_ effect: RequestEffect, of id: RequestID, at now: WallTime) {
        switch effect {
        case .lookUp(let directory):
            let call = ProviderLane.Call(request: id, effect: effect)
            enqueueCall(call, to: directory, at: now)
        case .call:
            let call = ProviderLane.Call(request: id, effect: effect)
            guard let provider = provider(of: call) else { return }
            enqueueCall(call, to: provider, at: now)
        case .plan:
            if mayBegin(id) { plans.enqueue(id) }
        case .purge(let store):
            enqueue(id, .purge, to: store)
        case .verify(let store):
            enqueue(id, .verify, to: store)
        case .pauseProvider(let name):
            pause(name, reason: EffectFailure.misconfigured.code, at: now)
        case .pauseStore(let name):
            pauseStore(name, reason: EffectFailure.misconfigured.code, at: now)
        case .announce(let announcement):
            actions.append(.announce(id, announcement))
            if announcement == .parked(.massDeletionGuard),
                window[id]?.loaded.request.phase.parkReason == .massDeletionGuard,
                massDeletionGuard.noteStopped(id, at: now)
            {
                actions.append(.report(.guardTripped))
            }
        }
    }

    /// A store that a reload took away has a queue, too: its call answers `misconfigured`.
    mutating func enqueue(_ id: RequestID, _ work: StoreQueue.Work, to store: StoreName) {
        guard mayBegin(id) else { return }
        withQueue(store) { $0.enqueue(id, work) }
    }

    mutating func withQueue(_ store: StoreName, _ body: (inout StoreQueue) -> Void) {
        if stores[store] == nil {
            stores[store] = StoreQueue()
            storeOrder = stores.keys.sorted()
        }
        body(&stores[store, default: StoreQueue()])
    }

    private mutating func fetchIfUseful(at now: WallTime) {
        reopenSkippedLanes(at: now)
        guard mayBeginFetch, let nextDueAt = fetch.nextDueAt, nextDueAt <= now else { return }
        fetch.isUnderWay = true
        fetch.laneLimits = [:]
        for name in lanes.keys { fetch.laneLimits[name] = room(in: name, at: now) }
        fetch.skippedLanes = Set(fetch.laneLimits.filter { $0.value == 0 }.keys)
        actions.append(
            .fetchDue(
                reads.begin(),
                limit: Limits.fetchMax,
                excluding: Set(window.keys).union(suspects).union(formerProbes),
                laneLimits: fetch.laneLimits,
                in: ownership.open
            )
        )
    }

    /// Requests that failed at a provider since it last answered: the next probe is another one.
    private var formerProbes: [RequestID] {
        lanes.values.filter { !$0.isTrusted && !$0.mayRepeatProbe }.flatMap { lane in
            lane.failedCallers.compactMap {
                if case .request(let id) = $0 { id } else { nil }
            }
        }
    }

    /// A provider that nobody else is due for is probed by one that failed before.
    private mutating func allowRepeatedProbes(after due: [LoadedRequest], at now: WallTime) {
        for (name, limit) in fetch.laneLimits where limit > 0 {
            guard let lane = lanes[name], !lane.isTrusted, !lane.mayRepeatProbe,
                !lane.failedCallers.isEmpty, !due.contains(where: { $0.request.lane == name })
            else { continue }
            lanes[name]?.mayRepeatProbe = true
            noteDue(now)
        }
    }

    var mayBeginFetch: Bool {
        !fetch.isUnderWay && mayFetch && hasRoom && clock.stepsUnderWay == 0
    }

    /// A whole page fits into the window; waiting for that keeps reads few.
    var hasRoom: Bool { Limits.windowMax - window.count >= Limits.fetchMax }

    private func room(in name: ProviderName, at now: WallTime) -> Int? {
        guard let lane = lanes[name] else { return nil }
        if isClosed(name, at: now) { return 0 }
        return lane.isTrusted ? nil : lane.requestCountMax - lane.requestCount
    }

    /// A lane that brought as many as it might may have more.
    mutating func noteRest(of due: [LoadedRequest], at now: WallTime) {
        allowRepeatedProbes(after: due, at: now)
        for (name, limit) in fetch.laneLimits where limit > 0 {
            guard due.count(where: { $0.request.lane == name }) >= limit else { continue }
            fetch.skippedLanes.insert(name)
        }
    }

    func isClosed(_ name: ProviderName, at now: WallTime) -> Bool {
        guard let lane = lanes[name] else { return false }
        return environment.pausedProviders.contains(name)
            || lane.requestCount >= lane.requestCountMax
            || (lane.opensAt.map { $0 > now } ?? false)
    }

    /// Due work may wait in a lane that was left out last time and can take some now.
    private mutating func reopenSkippedLanes(at now: WallTime) {
        guard !fetch.isUnderWay else { return }
        let reopened = fetch.skippedLanes.filter { name in
            !isClosed(name, at: now)
                && (lanes[name].map { $0.requestCount <= $0.requestCountMax / 2 } ?? true)
        }
        guard !reopened.isEmpty else { return }
        fetch.skippedLanes.subtract(reopened)
        fetch.nextDueAt = now
    }

    /// One suspect at a time, and nothing beside it.
    private mutating func runNextSuspect() {
        guard let id = suspects.first, window.isEmpty, !reads.isReading else { return }
        load([id])
    }
}

extension EngineCore.Batch {
    /// An operation is answered by the commit that it is executed by.
    fileprivate mutating func note(_ run: EngineCore.Run, _ changes: inout [StateChange]) {
        for case .some(let operation) in run.orders.map(\.ticket.operation) {
            changes.append(.answer(operation, .done))
        }
        parts += Array(repeating: run.partition, count: changes.count - parts.count)
    }
}
