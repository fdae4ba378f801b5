extension Request {
    /// Records what happened, then decides what to do once the new state is durable.
    ///
    /// - Throws: ``OperationRefusal`` for what this state does not allow; nothing changed then.
    package mutating func handle(
        _ event: RequestEvent,
        _ context: inout StepContext,
        in environment: Environment
    ) throws(OperationRefusal) -> [RequestEffect] {
        var effects = try record(event, &context, in: environment)
        effects += settle(context.now, in: environment.excludingPauses(of: effects))
        expireConfirmation(environment)
        // A vendor's words are for those who wait for it; a call may be answered after the end.
        for index in revocations.indices where phase.isEnded || revocations[index].verdict != nil {
            revocations[index].answer = revocations[index].answer?.withoutWords
        }
        return effects
    }

    private mutating func record(
        _ event: RequestEvent,
        _ context: inout StepContext,
        in environment: Environment
    ) throws(OperationRefusal) -> [RequestEffect] {
        switch event {
        case .due:
            return []
        case .lookedUp(let answer):
            return record(lookup: answer, &context)
        case .checked(let identity, let credential, let answer):
            guard let index = caller(identity, credential, answer.failure) else { return [] }
            return revocations[index].record(
                check: answer,
                for: credential,
                traits: traits(at: index, in: environment),
                &context
            )
        case .revoked(let identity, let credential, let answer):
            guard let index = caller(identity, credential, answer.failure) else { return [] }
            return revocations[index].record(
                revoke: answer,
                for: credential,
                traits: traits(at: index, in: environment),
                &context
            )
        case .confirmed(let identity, let credential, let answer):
            guard let index = caller(identity, credential, answer.failure) else { return [] }
            return revocations[index].record(confirm: answer, for: credential, &context)
        case .purged(let store, let answer):
            guard let index = purges.firstIndex(where: { $0.store == store }) else { return [] }
            let effects = purges[index].record(purge: answer, &context)
            // A store looks for other spellings before it erases, but for each key of its own.
            if purges[index].isSpelledOtherwise, environment.keySources[store] == nil {
                purges[index].counts.endPass()
            }
            return effects
        case .verified(let store, let answer):
            guard let index = purges.firstIndex(where: { $0.store == store }) else { return [] }
            let effects = purges[index].record(verify: answer, &context)
            if purges[index].step == .waiting { lookForKeys(in: store, environment) }
            return effects
        case .planned(let result):
            return record(plan: result, &context)
        case .postponed(let effect, let until):
            postpone(effect, until: until)
            return []
        case .identityChanged(let snapshots):
            return try learn(snapshots)
        case .hold, .release, .retry, .cancel, .approve, .absorbed, .abandon, .quarantine,
            .restored:
            return try operate(event, at: context.now, in: environment)
        }
    }

    private func traits(at index: Int, in environment: Environment) -> ProviderTraits? {
        environment.providers[revocations[index].provider]?.traits
    }

    private func index(of identity: IdentityID) -> Int? {
        revocations.firstIndex { $0.identity == identity }
    }

    /// The identity whose call about a token ends; the token may have moved since.
    private mutating func caller(
        _ identity: IdentityID,
        _ credential: CredentialID,
        _ failure: EffectFailure? = nil
    ) -> Int? {
        for other in revocations.indices where revocations[other].identity != identity {
            revocations[other].endRotation(of: credential, failure)
        }
        return index(of: identity)
    }

    private mutating func postpone(_ effect: RequestEffect, until: WallTime) {
        switch effect {
        case .lookUp:
            lookup?.postpone(until: until)
        case .call(let call):
            guard let index = caller(call.identity, call.credential) else { return }
            revocations[index].postpone(until: until)
        case .purge(let store), .verify(let store):
            guard let index = purges.firstIndex(where: { $0.store == store }) else { return }
            purges[index].postpone(until: until)
        case .plan:
            approval?.postpone(until: until)
        case .pauseProvider, .pauseStore, .announce:
            return
        }
    }

    /// Before purging a credential joins and is revoked; from purging on it is refused.
    private mutating func learn(
        _ snapshots: [IdentitySnapshot]
    ) throws(OperationRefusal) -> [RequestEffect] {
        guard let stage = phase.stage else { throw .alreadyEnded }
        guard stage <= .revoking else { throw .deletionInProgress }
        var effects: [RequestEffect] = []
        for var snapshot in snapshots where providerFilter?.contains(snapshot.provider) ?? true {
            let known = self.index(of: snapshot.identity)
            for other in revocations.indices {
                let isOpened = revocations[other].giveUp(to: &snapshot, isNew: known == nil)
                if isOpened { reopenLinks(to: other) }
            }
            guard let index = known else {
                revocations.append(Revocation(snapshot))
                reopenLinks(to: revocations.count - 1)
                effects += resetApproval()
                continue
            }
            let unnamedCount = revocations[index].unnamedCount
            let isNew = revocations[index].learn(snapshot)
            if isNew || revocations[index].unnamedCount < unnamedCount { reopenLinks(to: index) }
            noteOthers(than: index)
            guard revocations[index].raise() else { continue }
            effects.append(revocations[index].announcement(of: .proven))
        }
        return effects
    }

    /// Links end with the last of what others end with, also if only a name shows which those are.
    private mutating func reopenLinks(to other: Int) {
        for index in revocations.indices where isLink(index, of: other) == true {
            revocations[index].reopen()
            revocations[index].proof = nil
        }
    }

    private mutating func operate(
        _ event: RequestEvent,
        at now: WallTime,
        in environment: Environment
    ) throws(OperationRefusal) -> [RequestEffect] {
        guard !phase.isEnded else { throw .alreadyEnded }
        switch event {
        case .hold:
            isHeld = true
        case .release:
            guard isHeld else { throw .notOnHold }
            isHeld = false
        case .retry:
            crashCount = 0
            lookup?.retryNow()
            for index in revocations.indices { revocations[index].retryNow() }
            for index in purges.indices {
                purges[index].retryNow()
                purges[index].judgedAt = nil
            }
            lookForKeys(of: storesWaitingForKeys(environment), environment)
            approval?.retryNow()
        case .cancel:
            return try cancel(at: now)
        case .approve(let hash, let uid):
            return try approve(hash, by: uid, at: now)
        case .absorbed:
            guard kind == .revokeTokens else { throw .deletionInProgress }
            endDetail = Self.merged
            end(as: .cancelled, at: now)
            return [.announce(.cancelled)]
        case .abandon:
            return try abandon(at: now, in: environment)
        case .quarantine:
            crashCount = max(crashCount, Limits.crashesMax)
        case .restored(let stores, let time):
            for index in purges.indices where stores.contains(purges[index].store) {
                purges[index].purgeAgain(upTo: time)
            }
            let unknown = purges.filter { stores.contains($0.store) && $0.counts.isWithoutAnyKey }
            lookForKeys(of: unknown.map(\.store), environment)
            approval?.expire()
        case .due, .lookedUp, .checked, .revoked, .confirmed, .planned, .purged, .verified,
            .postponed,
            .identityChanged:
            break
        }
        return []
    }

    /// Cancelling ends at the first purge intent, or for `revoke_tokens` at the first revoke
    /// intent.
    private mutating func cancel(at now: WallTime) throws(OperationRefusal) -> [RequestEffect] {
        let isTooLate = kind == .deleteAccount ? purgeStartedAt != nil : hasRevokeIntent
        guard !isTooLate else { throw .tooLate }
        end(as: .cancelled, at: now)
        return [.announce(.cancelled)]
    }

    private mutating func abandon(
        at now: WallTime,
        in environment: Environment
    ) throws(OperationRefusal) -> [RequestEffect] {
        let unknown = purges.indices.filter { purges[$0].waitsForKeys(environment) }
        if !unknown.isEmpty {
            for index in unknown { purges[index].counts.goWithoutKeys() }
            return [.announce(.abandoned)]
        }
        let spelled = try spelledOtherwise()
        if !spelled.isEmpty {
            if purges.contains(where: \.mayHaveErased) {
                for index in spelled { purges[index].giveUp(at: now) }
            } else {
                endDetail = Verdict.abandoned.rawValue
                end(as: .cancelled, at: now)
            }
            return [.announce(.abandoned)]
        }
        let lacksIdentity = waitsForIdentity(environment)
        guard let stage = phase.stage, stage <= .revoking, openRevocationCount > 0 || lacksIdentity
        else { throw .nothingToAbandon }
        if lacksIdentity { isWithoutIdentities = true }
        abandonLookup(at: now)
        for index in revocations.indices { revocations[index].abandon(at: now) }
        return [.announce(.abandoned)]
    }

    /// The stores that values in another spelling stop, by their places.
    ///
    /// - Throws: ``OperationRefusal/tooLate`` while one of them is at work.
    func spelledOtherwise() throws(OperationRefusal) -> [Int] {
        let found = purges.indices.filter { purges[$0].isSpelledOtherwise }
        guard !found.contains(where: { purges[$0].isBusy }) else { throw .tooLate }
        return found
    }

    /// Whether only a first credential, or an operator, lets the purge begin.
    func waitsForIdentity(_ environment: Environment) -> Bool {
        kind == .deleteAccount && revocations.isEmpty && environment.withoutIdentities == .park
            && !isWithoutIdentities
    }

    mutating func end(as final: Phase, at now: WallTime) {
        for index in revocations.indices { revocations[index].subjectHash = nil }
        phase = final
        endedAt = now
        dueAt = nil
    }
}

extension Environment {
    /// A pause that this very decision asks for already counts for its own next step.
    fileprivate func excludingPauses(of effects: [RequestEffect]) -> Environment {
        var adjusted = self
        for effect in effects {
            if case .pauseProvider(let name) = effect { adjusted.pausedProviders.insert(name) }
            if case .pauseStore(let name) = effect { adjusted.pausedStores.insert(name) }
        }
        return adjusted
    }
}
