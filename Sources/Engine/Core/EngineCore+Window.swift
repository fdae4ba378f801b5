import Lifecycle

extension EngineCore {
    /// Each lane gets no more than it can use: else one that hangs would fill the window.
    mutating func admitNew(_ requests: [LoadedRequest], by read: ReadNumber, at now: WallTime) {
        guard !isBeforeStep(read) else {
            // The state has taken over the jump, or is about to.
            return noteDue(now)
        }
        var shares: WindowShares?
        for loaded in requests
        where !reads.isStale(loaded.request.id, read) && accepts(loaded, read) {
            // One whose provider is paused is parked with that reason, and leaves at once.
            let isFull =
                loaded.request.lane.map {
                    isClosed($0, at: now) && !environment.pausedProviders.contains($0)
                } ?? false
            if !isFull, window.count < Limits.windowMax {
                admit([loaded], at: now)
            } else if hasShare(loaded, &shares) {
                admit([loaded], most: Limits.windowMax + Limits.windowReserve, at: now)
            } else {
                noteDue(loaded.request.dueAt ?? now)
            }
        }
    }

    mutating func admit(
        _ requests: [LoadedRequest],
        most: Int = Limits.windowMax,
        at now: WallTime
    ) {
        for loaded in requests {
            let id = loaded.request.id
            guard window[id] == nil, !suspects.contains(id) else { continue }
            guard mayFetch, window.count < most else {
                noteDue(loaded.request.dueAt ?? now)
                continue
            }
            insert(loaded, at: now)
            catchUp(loaded, at: now)
            apply(.due, to: id, at: now)
        }
    }

    mutating func adoptLoaded(
        _ requests: [LoadedRequest],
        asked: [RequestID],
        by read: ReadNumber,
        at now: WallTime
    ) {
        for loaded in requests where window[loaded.request.id] == nil {
            guard !reads.isStale(loaded.request.id, read), accepts(loaded, read) else { continue }
            insert(loaded, at: now)
            catchUp(loaded, at: now)
        }
        for id in asked {
            guard window[id] != nil else {
                retryLoad(id, by: read)
                continue
            }
            for update in waitingUpdates.removeValue(forKey: id) ?? [] {
                learn(update, for: id, mayLeave: false, at: now)
            }
            for (event, ticket) in waitingOperations.removeValue(forKey: id) ?? [] {
                apply(event, to: id, ticket: ticket, mayLeave: false, at: now)
            }
            apply(.due, to: id, at: now)
        }
    }

    /// A request that just left the window is read again; one that is not open has no operations.
    private mutating func retryLoad(_ id: RequestID, by read: ReadNumber) {
        if reads.isStale(id, read) || read < ownership.lastGain {
            load([id])
            return
        }
        waitingUpdates.removeValue(forKey: id)
        spoolGate.forget(id)
        suspects.removeAll { $0 == id }
        for (_, ticket) in waitingOperations.removeValue(forKey: id) ?? [] {
            reply(ticket, .notOpen)
        }
    }

    /// `mayLeave` is false while more events of the same group wait for the request.
    mutating func apply(
        _ event: RequestEvent,
        to id: RequestID,
        ticket: Ticket? = nil,
        lastAnswer: VendorAnswer? = nil,
        mayLeave: Bool = true,
        at now: WallTime
    ) {
        guard let index = window.index(forKey: id) else { return }
        let submitter = window.values[index].loaded.submitter
        environment.isGuardClosed = massDeletionGuard.isClosed(to: submitter, at: now)
        environment.spool = spoolGate.knowledge(
            of: id,
            window.values[index].loaded.userHash,
            at: now
        )
        var context = StepContext(now: now, random: random, lastAnswer: lastAnswer)
        let step = window.values[index].step(event, ticket, &context, environment)
        random = context.random
        let reason = window.values[index].loaded.request.phase.parkReason
        if reason != .massDeletionGuard { massDeletionGuard.left(id) }
        if let ticket, let refusal = step.refusal { reply(ticket, .refused(refusal)) }
        if step.beginsPurge, massDeletionGuard.purgeBegan(by: submitter, at: now) {
            overridesUsed += 1
        }
        if let store = step.verification { enqueue(id, .verify, to: store) }
        if case .hold = event { stopPurges(of: id) }
        if step.isNewlyDirty { dirty.append(id) }
        if let old = step.leftLane { lanes[old]?.requestCount -= 1 }
        if let new = step.enteredLane { lanes[new]?.requestCount += 1 }
        forgetStuck(id)
        if mayLeave { evictIfIdle(id, at: now) }
    }

    mutating func spread(_ update: IdentityUpdate, at now: WallTime) {
        if update.isSubjectMismatch {
            actions.append(.report(.subjectMismatch(update.snapshot.provider)))
        }
        var missing: [RequestID] = []
        for id in update.openRequests {
            if window[id] != nil {
                learn(update, for: id, at: now)
            } else {
                waitingUpdates[id, default: []].append(update)
                missing.append(id)
            }
        }
        load(missing)
    }

    private mutating func learn(
        _ update: IdentityUpdate,
        for id: RequestID,
        mayLeave: Bool = true,
        at now: WallTime
    ) {
        let updates = update.otherAccounts + [update]
        for update in updates {
            window[id]?.loaded.credentials.merge(update.credentials) { _, new in new }
        }
        apply(.identityChanged(updates.map(\.snapshot)), to: id, mayLeave: mayLeave, at: now)
    }

    mutating func operate(
        _ id: RequestID,
        _ event: RequestEvent,
        _ ticket: Ticket,
        at now: WallTime
    ) {
        if window[id] != nil {
            apply(event, to: id, ticket: ticket, at: now)
        } else {
            waitingOperations[id, default: []].append((event, ticket))
            load([id])
        }
    }

    mutating func load(_ ids: [RequestID]) {
        guard !ids.isEmpty else { return }
        actions.append(.load(reads.begin(), ids))
    }

    /// Lends a request of the window in place: reading one through the dictionary copies all of it.
    @discardableResult
    mutating func withRun<R>(_ id: RequestID, _ body: (inout Run) -> R) -> R? {
        guard let index = window.index(forKey: id) else { return nil }
        return body(&window.values[index])
    }

    mutating func evictIfIdle(_ id: RequestID, at now: WallTime) {
        let isIdle = withRun(id) { run in
            !run.isDirty && !run.isCommitting && run.effects.isEmpty && !run.loaded.request.isBusy
        }
        guard isIdle == true, !isAwaitingSpool(id, at: now),
            let run = window.removeValue(forKey: id)
        else { return }
        let isParked = run.loaded.request.phase.parkReason == .awaitingSpool
        spoolGate.leave(id, isParked: isParked)
        if let lane = run.lane { lanes[lane]?.requestCount -= 1 }
        reads.noteLeft(id)
        if suspects.first == id { suspects.removeFirst() }
        if let dueAt = run.loaded.request.dueAt { noteDue(dueAt) }
    }

    private mutating func insert(_ loaded: LoadedRequest, at now: WallTime) {
        window[loaded.request.id] = Run(loaded: loaded, saved: loaded.request)
        let unreadSources = spoolGate.enter(loaded, at: now)
        withRun(loaded.request.id) { run in
            run.loaded.request.clampTimes(at: now)
            run.loaded.request.unreadSources = unreadSources
        }
    }

    /// What the vault learned while no process could inform the request.
    private mutating func catchUp(_ loaded: LoadedRequest, at now: WallTime) {
        guard !loaded.unseen.isEmpty,
            loaded.request.phase.stage.map({ $0 <= .revoking }) ?? false
        else { return }
        apply(.identityChanged(loaded.unseen), to: loaded.request.id, mayLeave: false, at: now)
    }

    mutating func noteDue(_ time: WallTime) {
        fetch.nextDueAt = min(fetch.nextDueAt ?? time, time)
        if fetch.isUnderWay { fetch.notedMeanwhile = min(fetch.notedMeanwhile ?? time, time) }
    }

    mutating func reply(_ ticket: Ticket, _ outcome: OperationOutcome) {
        if let operation = ticket.operation { return answer(operation, outcome) }
        guard ticket.number != 0 else { return }
        actions.append(.reply(ticket, outcome))
    }

    var mayFetch: Bool { suspects.isEmpty && !ownership.open.isEmpty }
}

/// What a step of one request means for the others.
private struct RequestStep {
    var refusal: OperationRefusal?
    var beginsPurge = false
    var verification: StoreName?
    var isNewlyDirty = false
    var leftLane: ProviderName?
    var enteredLane: ProviderName?
}

extension EngineCore.Run {
    /// Steps the request's machine where it lies in the window: taking it out copies all of it.
    fileprivate mutating func step(
        _ event: RequestEvent,
        _ ticket: Ticket?,
        _ context: inout StepContext,
        _ environment: Environment
    ) -> RequestStep {
        var step = RequestStep()
        let hadBegunPurge = loaded.request.purgeStartedAt != nil
        do {
            effects += try loaded.request.handle(event, &context, in: environment)
            if let ticket { orders.append(EngineCore.Order(event: event, ticket: ticket)) }
        } catch {
            step.refusal = error
        }
        step.beginsPurge = !hadBegunPurge && loaded.request.purgeStartedAt != nil
        step.verification = takeVerification(after: event)
        if step.verification == nil, !isDirty,
            loaded.request != saved || !effects.isEmpty || !orders.isEmpty
        {
            isDirty = true
            step.isNewlyDirty = true
        }
        let now = loaded.request.lane
        if now != lane {
            (step.leftLane, step.enteredLane) = (lane, now)
            lane = now
        }
        return step
    }

    /// It only reads, so no commit comes before it; after a crash both are done again.
    private mutating func takeVerification(after event: RequestEvent) -> StoreName? {
        guard event.isStoreAnswer, !isDirty, effects.count == 1,
            case .verify(let store) = effects[0]
        else { return nil }
        effects = []
        return store
    }
}

extension RequestEvent {
    fileprivate var isStoreAnswer: Bool {
        switch self {
        case .purged, .verified: true
        default: false
        }
    }
}

/// How much of the window each submitter has; counted once for a group of new requests.
///
/// All rows of the spool count as one submitter: they name nobody.
struct WindowShares {
    private struct Key: Hashable {
        let lane: ProviderName?
        let submitter: UInt32?
    }

    private var counts: [Key: Int] = [:]
    private var laneCounts: [ProviderName?: Int] = [:]

    init(_ runs: some Collection<EngineCore.Run>) {
        for run in runs { count(run.loaded, in: run.lane) }
    }

    private mutating func count(_ loaded: LoadedRequest, in lane: ProviderName?) {
        counts[Key(lane: lane, submitter: loaded.submitter), default: 0] += 1
        laneCounts[lane, default: 0] += 1
    }

    /// Whether a place was left for its submitter; `most` is the lane's bound, shares included.
    mutating func take(_ loaded: LoadedRequest, most: Int) -> Bool {
        let lane = loaded.request.lane
        let own = counts[Key(lane: lane, submitter: loaded.submitter)] ?? 0
        guard own < Limits.submitterShare, (laneCounts[lane] ?? 0) < most else { return false }
        count(loaded, in: lane)
        return true
    }
}

extension EngineCore {
    /// In a window or lane that others have filled it would wait behind all that is due.
    func hasShare(_ loaded: LoadedRequest, _ shares: inout WindowShares?) -> Bool {
        guard mayFetch, window.count < Limits.windowMax + Limits.windowReserve else { return false }
        var most = Limits.windowMax + Limits.windowReserve
        if let name = loaded.request.lane {
            guard let lane = lanes[name], lane.isTrusted,
                !environment.pausedProviders.contains(name)
            else { return false }
            // A page of due work may have come on top.
            most = lane.requestCountMax * 3 / 2 + Limits.fetchMax
        }
        var counted = shares ?? WindowShares(window.values)
        defer { shares = counted }
        return counted.take(loaded, most: most)
    }
}

/// Which reads of the state are under way, and what they may show that is older than the window.
struct ReadLog: Sendable {
    private(set) var last = ReadNumber(value: 0)
    private var underWay: Set<ReadNumber> = []
    private var admissions: Set<ReadNumber> = []
    /// The last read that began before a request left the window: it may show an older state.
    private(set) var left: [RequestID: ReadNumber] = [:]
    private var leftCountToPrune = Limits.windowMax
    /// The last read that may show times of before a jump of the clock.
    private(set) var lastBeforeStep = ReadNumber(value: 0)
    /// The last read that may not show a rule of this host's own.
    private(set) var lastBeforeRule = ReadNumber(value: 0)

    var isReading: Bool { !underWay.isEmpty }

    /// A number of its own: what began before is known by a smaller one.
    mutating func mark() -> ReadNumber {
        last = ReadNumber(value: last.value + 1)
        return last
    }

    mutating func begin() -> ReadNumber {
        underWay.insert(mark())
        return last
    }

    mutating func beginAdmission() -> ReadNumber {
        admissions.insert(mark())
        return last
    }

    mutating func end(_ read: ReadNumber) {
        underWay.remove(read)
        admissions.remove(read)
        guard let oldest = [underWay.min(), admissions.min()].compactMap(\.self).min() else {
            return left.removeAll(keepingCapacity: true)
        }
        // There is always a read under way while applications submit without a pause.
        guard left.count >= leftCountToPrune else { return }
        left = left.filter { $0.value >= oldest }
        leftCountToPrune = max(Limits.windowMax, 2 * left.count)
    }

    mutating func noteLeft(_ id: RequestID) {
        if isReading || !admissions.isEmpty { noteDropped(id) }
    }

    mutating func noteDropped(_ id: RequestID) { left[id] = last }

    mutating func noteStep() { lastBeforeStep = last }

    mutating func noteRule() { lastBeforeRule = last }

    func isStale(_ id: RequestID, _ read: ReadNumber) -> Bool {
        left[id].map { read <= $0 } ?? false
    }
}
