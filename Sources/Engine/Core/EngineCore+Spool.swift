package import Lifecycle

extension EngineCore {
    /// Lets no request go on before the spool was read once more; before the start.
    package mutating func awaitSpool() {
        spoolGate.isOn = true
        spoolGate.hasParked = true
    }

    /// Begins a read for the requests that wait, and parks those that have waited for too long.
    mutating func readSpool(at now: WallTime) {
        if spoolGate.begin() { actions.append(.readSpool) }
        for id in spoolGate.overdue(at: now) {
            spoolGate.hasParked = true
            guard let run = window[id], !run.isDirty, !run.isCommitting else { continue }
            apply(.due, to: id, at: now)
        }
    }

    mutating func spoolRead(_ outcomes: [String: SpoolReadOutcome], at now: WallTime) {
        guard !outcomes.isEmpty, !outcomes.values.contains(.stopped), spoolGate.isReading else {
            return
        }
        let unread = outcomes.filter { $0.value != .read }.keys.sorted()
        let (passed, parkedCount, returned) = spoolGate.end(outcomes)
        let count = passed.count + parkedCount
        if !unread.isEmpty, count > 0 {
            actions.append(.report(.unreadSources(unread, count: count)))
        }
        for id in passed { note(unread, of: id, at: now) }
        if !returned.isEmpty {
            let marked = window.filter {
                !$0.value.loaded.request.unreadSources.isDisjoint(with: returned)
            }
            for id in marked.keys.sorted() { note([], of: id, at: now) }
        }
        guard spoolGate.hasParked else { return }
        spoolGate.hasParked = false
        wake(.awaitingSpool, at: now)
        wake(.awaitingCredentials, at: now)
    }

    /// Notes what was not read for a request, and no longer what was read since.
    private mutating func note(_ unread: [String], of id: RequestID, at now: WallTime) {
        guard let request = window[id]?.loaded.request, !request.phase.isEnded else { return }
        let sources = spoolGate.stillUnread(request.unreadSources).union(unread)
        withRun(id) { $0.loaded.request.unreadSources = sources }
        apply(.due, to: id, at: now)
    }

    mutating func learn(_ users: UnsealedUsers, at now: WallTime) {
        let before = spoolGate.unsealed
        spoolGate.unsealed = users
        for id in window.keys.sorted() {
            guard let hash = window[id]?.loaded.userHash,
                users.contains(hash) != before.contains(hash)
            else { continue }
            apply(.due, to: id, at: now)
        }
        if before.hasOthers(than: users) { wake(.awaitingCredentials, at: now) }
    }

    func isAwaitingSpool(_ id: RequestID, at now: WallTime) -> Bool {
        guard spoolGate.isOn, let run = window[id],
            spoolGate.knowledge(of: id, run.loaded.userHash, at: now) == .reading
        else { return false }
        switch run.loaded.request.phase.parkReason {
        case nil, .awaitingSpool, .awaitingCredentials: return true
        default: return false
        }
    }
}

// MARK: - The clock

extension EngineCore {
    package var isClockBehind: Bool { environment.isClockBehind }

    /// Sets what the clock must not be behind of: the newest time that the ledger has signed.
    package mutating func setClockFloor(_ floor: WallTime, at now: WallTime) {
        clock.floor = floor
        noteClock(at: now)
        // What was parked for it may be from before the last stop.
        if !environment.isClockBehind { wake(.clockBehind, at: now) }
    }

    mutating func noteClock(at now: WallTime) {
        let isBehind = now < clock.floor
        guard isBehind != environment.isClockBehind else { return }
        environment.isClockBehind = isBehind
        if isBehind {
            actions.append(.report(.clockBehind))
            touchWindow(at: now)
        } else {
            wake(.clockBehind, at: now)
        }
    }

    /// The clock jumped: whatever was dated by the wrong one is corrected, here and in the state.
    mutating func reclock(_ step: ClockStep, at now: WallTime) {
        if let floor = step.waitsUntil {
            clock.floor = max(clock.floor, floor)
        }
        record(.reclock(step, at: now))
        nextBatch.hasWake = true
        nextBatch.reclockCount += 1
        clock.stepsUnderWay += 1
        reads.noteStep()
        for id in window.keys.sorted() {
            withRun(id) { run in
                run.loaded.request.reclock(step, at: now)
                run.saved.reclock(step, at: now)
            }
        }
        spoolGate.restart(at: now)
        for name in laneOrder { lanes[name]?.reclock(by: step.by, at: now) }
        for name in storeOrder { stores[name]?.stuck.reclock(by: step.by, at: now) }
        massDeletionGuard.reclock(by: step.by)
        for id in exchanges.keys { exchanges[id]?.exchange.reclock(step, at: now) }
        renewals.searchAt = renewals.searchAt.map { _ in now }
        renewals.tendAt = renewals.tendAt.map { _ in now }
        fetch.nextDueAt = now
        noteClock(at: now)
        touchWindow(at: now)
    }
}
