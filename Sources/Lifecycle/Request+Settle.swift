extension Request {
    mutating func settle(_ now: WallTime, in environment: Environment) -> [RequestEffect] {
        let before = phase
        var decision = Decision(now: now, environment: environment)
        while let more = settleOnce(&decision), more {}
        return decision.effects + changeOfParking(from: before)
    }

    /// `true` when a stage ended, `nil` after the end.
    private mutating func settleOnce(_ decision: inout Decision) -> Bool? {
        guard let stage = phase.stage else { return nil }
        if let reason = obstacle(in: stage, decision.environment) {
            park(stage, reason, now: decision.now)
            return false
        }
        if stage <= .revoking, decision.environment.spool == .reading {
            waitForRead(in: stage)
            return false
        }
        switch stage {
        case .accepted:
            phase = .open(.scheduled)
            return true
        case .scheduled:
            guard decision.now >= notBefore else {
                phase = .open(.scheduled)
                dueAt = notBefore
                return false
            }
            phase = .open(.revoking)
            return true
        case .revoking:
            return settleRevoking(&decision)
        case .purging:
            return settlePurging(&decision)
        case .verifying:
            return settleVerifying(&decision)
        }
    }

    /// What stops every stage alike, and what stops revoking; read again before every step.
    private func obstacle(in stage: Stage, _ environment: Environment) -> ParkReason? {
        if crashCount >= Limits.crashesMax { return .quarantined }
        if isHeld || environment.isRestrained { return .onHold }
        if environment.isClockBehind { return .clockBehind }
        if !environment.isVaultOpen { return .vaultSealed }
        guard stage <= .revoking else { return nil }
        switch environment.spool {
        case .read, .reading: return nil
        case .unread: return .awaitingSpool
        case .unsealed: return .awaitingCredentials
        }
    }

    /// Stays as it is while a credential may be on its way from the spool; the read ends soon.
    private mutating func waitForRead(in stage: Stage) {
        switch phase.parkReason {
        case .awaitingSpool, .awaitingCredentials: break
        default: phase = .open(stage)
        }
        dueAt = dueAt ?? notBefore
    }

    private mutating func settleRevoking(_ decision: inout Decision) -> Bool {
        let (now, environment) = (decision.now, decision.environment)
        adoptDirectory(environment)
        adoptStores(environment)
        if isLookupOpen {
            settleLookup(&decision)
            return false
        }
        if waitsForIdentity(environment) {
            park(.revoking, .needsReauthentication, now: now)
            return false
        }
        guard passesApproval(in: .revoking, &decision) else { return false }
        reopenUnbackedLinks()
        var outlook = Outlook()
        // A link may end with what the others end with.
        let order =
            revocations.indices.filter { !revocations[$0].isLinked }
            + revocations.indices.filter { revocations[$0].isLinked }
        for index in order where revocations[index].verdict == nil {
            let own = revocations[index]
            let others = noteOthers(than: index)
            revocations[index].isBehindCode = others.contains(where: \.hasPendingCode)
            // A call under way may be about a token that has moved here since.
            let isBehindCall =
                others.contains(where: \.isBusy)
                && own.credentials.contains(where: \.rotation.isUnderWay)
            let step: RevocationStep =
                isBehindCall
                ? .busy
                : own.isLinked
                    ? advanceLink(at: index, now: now, in: environment)
                    : revocations[index].advance(kind: kind, now: now, in: environment)
            outlook.note(step, into: &decision.effects)
            if case .final(let verdict) = step {
                decision.effects.append(revocations[index].announcement(of: verdict))
            }
        }
        guard openRevocationCount > 0 else {
            if kind == .deleteAccount {
                phase = .open(.purging)
                return true
            }
            complete(&decision)
            return false
        }
        adopt(outlook, stage: .revoking, now: now)
        return false
    }

    private mutating func settlePurging(_ decision: inout Decision) -> Bool {
        precondition(openRevocationCount == 0, "purging before every verdict is final")
        let environment = decision.environment
        adoptStores(environment)
        let next = purges.firstIndex {
            $0.step == .waiting && !$0.isOnHold(environment)
                && !isBehindSource($0, .purged, environment)
                && !isBehindOthers($0, environment)
        }
        if next == nil, purges.contains(where: { $0.step == .waiting }) {
            park(.purging, .onHold, now: decision.now)
            return false
        }
        guard purgeStartedAt != nil || !environment.isGuardClosed else {
            park(.purging, .massDeletionGuard, now: decision.now)
            return false
        }
        guard passesApproval(in: .purging, of: next, &decision) else { return false }
        if purgeStartedAt == nil {
            purgeStartedAt = decision.now
            decision.effects.append(.announce(.purgeStarted))
        }
        guard let index = next else {
            phase = .open(.verifying)
            return true
        }
        settleStore(at: index, stage: .purging, &decision)
        return false
    }

    private mutating func settleVerifying(_ decision: inout Decision) -> Bool {
        if purges.contains(where: { $0.step == .waiting }) {
            phase = .open(.purging)
            return true
        }
        let open = purges.indices.filter {
            purges[$0].step == .purged && !purges[$0].waitsForKeys(decision.environment)
        }
        let next = open.first { !isBehindSource(purges[$0], .verified, decision.environment) }
        guard let index = next ?? open.first else {
            if purges.contains(where: { $0.waitsForKeys(decision.environment) }) {
                park(.verifying, .withoutKeys, now: decision.now)
            } else {
                complete(&decision)
            }
            return false
        }
        settleStore(at: index, stage: .verifying, &decision)
        return false
    }

    /// Until the purge begins, so that an approved plan is compared with later stores, too.
    private mutating func adoptStores(_ environment: Environment) {
        guard kind == .deleteAccount, purgeStartedAt == nil else { return }
        // What moves the cutoff of every other store holds for this one, too.
        let restoredAt = purges.compactMap(\.restoredAt)
        let isMoved = !purges.isEmpty && restoredAt.count == purges.count
        for store in environment.stores where !purges.contains(where: { $0.store == store }) {
            var work = PurgeWork(store: store)
            work.restoredAt = isMoved ? restoredAt.min() : nil
            purges.append(work)
        }
    }

    /// A shared object goes once no row names it; its ids are final once the source is verified.
    private func isBehindSource(
        _ work: PurgeWork,
        _ step: PurgeWork.Step,
        _ environment: Environment
    ) -> Bool {
        // Nearly nobody has such stores; they cost the others nothing.
        guard !environment.keySources.isEmpty, let name = environment.keySources[work.store],
            let source = purges.first(where: { $0.store == name })
        else { return false }
        return source.step == .waiting || (step == .verified && source.step == .purged)
    }

    /// An account goes last: without it the user cannot sign in while data of theirs stays.
    private func isBehindOthers(_ work: PurgeWork, _ environment: Environment) -> Bool {
        guard !environment.lastStores.isEmpty, environment.lastStores.contains(work.store) else {
            return false
        }
        return purges.contains {
            $0.step == .waiting && !environment.lastStores.contains($0.store)
        }
    }

    private mutating func settleStore(at index: Int, stage: Stage, _ decision: inout Decision) {
        let store = purges[index].store
        var outlook = Outlook()
        if purges[index].isBusy {
            outlook.isBusy = true
        } else if decision.environment.pausedStores.contains(store) {
            outlook.notePark(.storePaused)
        } else if let retryAt = purges[index].retry.wait(at: decision.now) {
            outlook.noteWait(until: retryAt)
        } else {
            purges[index].begin(at: decision.now)
            outlook.isBusy = true
            decision.effects.append(stage == .purging ? .purge(store) : .verify(store))
        }
        adopt(outlook, stage: stage, now: decision.now)
    }

    private mutating func complete(_ decision: inout Decision) {
        end(as: .completed, at: decision.now)
        decision.effects.append(.announce(.completed))
        let counts = purges.map(\.counts)
        guard counts.contains(where: { $0.newerCount > 0 }),
            counts.allSatisfy({ $0.workedCount == 0 })
        else { return }
        decision.effects.append(.announce(.nothingErased))
    }

    /// Parked only when nothing is under way and no timer runs: a timed retry is not parked.
    mutating func adopt(_ outlook: Outlook, stage: Stage, now: WallTime) {
        if outlook.isBusy {
            phase = .open(stage)
            // It has been due since it was; a new time would be one more change to store.
            dueAt = min(dueAt ?? now, now)
        } else if outlook.waitUntil == nil, !outlook.isAwaitingLane, let reason = outlook.parkReason
        {
            park(stage, reason, until: outlook.parkUntil, now: now)
        } else {
            // Without any time here only the five-minute lane can move it, and its end is an event.
            phase = .open(stage)
            dueAt = [outlook.waitUntil, outlook.parkUntil].compactMap(\.self).min()
        }
    }

    private mutating func park(
        _ stage: Stage,
        _ reason: ParkReason,
        until: WallTime? = nil,
        now: WallTime
    ) {
        phase = .parked(stage, reason, until: until)
        dueAt = isBusy ? now : until
    }

    private func changeOfParking(from before: Phase) -> [RequestEffect] {
        guard before.parkReason != phase.parkReason else { return [] }
        guard let reason = phase.parkReason else {
            return phase.isEnded ? [] : [.announce(.resumed)]
        }
        if reason == .unknownProvider {
            let unknown = revocations.first { $0.verdict == nil && $0.isProviderUnknown }
            let name = isLookupOpen ? lookup?.directory : unknown?.provider
            return [.announce(.parked(reason, at: name))]
        }
        let refused = revocations.first {
            reason == .needsReauthentication && $0.waitingSince != nil && $0.answer != nil
        }
        return [.announce(.parked(reason, at: refused?.provider, refused?.answer?.refusal))]
    }
}

extension Request {
    /// What a decision reads, and the effects that it asks for.
    struct Decision {
        let now: WallTime
        let environment: Environment
        var effects: [RequestEffect] = []
    }
}

/// What the open parts of a stage wait for, taken together.
struct Outlook {
    var isBusy = false
    var isAwaitingLane = false
    var waitUntil: WallTime?
    var parkReason: ParkReason?
    var parkUntil: WallTime?

    mutating func note(_ step: RevocationStep, into effects: inout [RequestEffect]) {
        switch step {
        case .effect(let effect):
            isBusy = true
            effects.append(effect)
        case .busy:
            isBusy = true
        case .awaitingLane:
            isAwaitingLane = true
        case .final, .behind:
            break
        case .waiting(let until):
            noteWait(until: until)
        case .parked(let reason, let until):
            notePark(reason, until: until)
        }
    }

    mutating func noteWait(until: WallTime) {
        waitUntil = min(waitUntil ?? until, until)
    }

    /// The first reason is shown, or that which raises an alarm; the earliest end counts.
    mutating func notePark(_ reason: ParkReason, until: WallTime? = nil) {
        if parkReason == nil || reason == .unknownProvider { parkReason = reason }
        guard let until else { return }
        parkUntil = min(parkUntil ?? until, until)
    }
}
