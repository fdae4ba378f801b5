package import Lifecycle

extension EngineCore {
    /// Queues a call, or takes it back at once when the provider cannot be asked now.
    mutating func enqueueCall(
        _ call: ProviderLane.Call,
        to provider: ProviderName,
        at now: WallTime
    ) {
        guard mayBegin(call.request) else { return }
        // A lane is never held beside the dictionary: adding to it would copy its whole queue.
        if let opensAt = lanes[provider]?.opensAt, opensAt > now {
            postpone(call, until: spreadOut(after: opensAt, at: now), at: now)
        } else if lanes[provider] == nil || environment.pausedProviders.contains(provider) {
            postpone(call, until: now, at: now)
        } else {
            lanes[provider]?.enqueue(call)
        }
    }

    mutating func fillLanes(at now: WallTime) {
        for name in laneOrder
        where environment.isVaultOpen && !environment.pausedProviders.contains(name) {
            while let id = lanes[name]?.nextCode(at: now) { beginExchange(id, at: now) }
            while let call = lanes[name]?.nextCall(at: now) { begin(call, at: name, now: now) }
        }
    }

    /// Re-asked immediately before the call: still open, not held, credential still there.
    private mutating func begin(_ call: ProviderLane.Call, at provider: ProviderName, now: WallTime)
    {
        if case .lookUp = call.effect, let run = window[call.request], mayPerform(run) {
            beginCall(of: call.request)
            actions.append(
                .lookUp(call.request, provider, run.loaded.user, Self.subjects(of: run.loaded))
            )
            return
        }
        guard let run = window[call.request], mayPerform(run),
            let token = call.effect.token, let sealed = run.loaded.credentials[token.credential]
        else {
            lanes[provider]?.gaveUp(isCode: false, at: now)
            withdraw(call, at: now)
            return
        }
        let owner = identities.owners[token.identity] ?? .request(call.request)
        guard owner == .request(call.request) else {
            lanes[provider]?.gaveUp(isCode: false, at: now)
            identities.callsBehind[token.identity, default: []].append(call)
            return
        }
        identities.owners[token.identity] = owner
        beginCall(of: call.request, token.identity)
        actions.append(.call(call.request, token, provider, sealed))
    }

    /// Queues what waited behind a request's row of calls, unless its next call is decided already.
    mutating func release(
        _ identity: IdentityID,
        of id: RequestID,
        at provider: ProviderName,
        now: WallTime
    ) {
        guard identities.owners[identity] == .request(id) else { return }
        let revocation = window[id]?.loaded.request.revocations.first { $0.identity == identity }
        guard !(revocation?.isBusy ?? false) else { return }
        release(identity, at: provider, now: now)
    }

    /// Queues the calls that waited for an identity to be free.
    mutating func release(_ identity: IdentityID, at provider: ProviderName, now: WallTime) {
        identities.owners[identity] = nil
        for call in identities.callsBehind.removeValue(forKey: identity) ?? [] {
            enqueueCall(call, to: provider, at: now)
        }
    }

    /// A credential that is gone answers like one whose seal is broken: it can prove nothing.
    private mutating func withdraw(_ call: ProviderLane.Call, at now: WallTime) {
        guard let run = window[call.request] else { return }
        guard mayPerform(run) else {
            postpone(call, until: now, at: now)
            return
        }
        let provider = provider(of: call)
        if let token = call.effect.token {
            apply(token.failed(.sealBroken), to: call.request, at: now)
        }
        endRow(of: call, at: provider, now: now)
    }

    private static func subjects(of loaded: LoadedRequest) -> [SealedCredential] {
        loaded.request.revocations.compactMap { revocation in
            revocation.credentials.lazy.compactMap { loaded.credentials[$0.id] }
                .first { $0.subject != nil }
        }
    }

    func mayPerform(_ run: Run) -> Bool {
        let request = run.loaded.request
        return !request.phase.isEnded && !request.isHeld
    }

    private mutating func postpone(_ call: ProviderLane.Call, until: WallTime, at now: WallTime) {
        let provider = provider(of: call)
        apply(.postponed(call.effect, until: until), to: call.request, at: now)
        endRow(of: call, at: provider, now: now)
    }

    func provider(of call: ProviderLane.Call) -> ProviderName? {
        let revocations = window[call.request]?.loaded.request.revocations
        return revocations?.first { $0.identity == call.effect.token?.identity }?.provider
    }

    private mutating func endRow(
        of call: ProviderLane.Call,
        at provider: ProviderName?,
        now: WallTime
    ) {
        guard let identity = call.effect.token?.identity, let provider else { return }
        release(identity, of: call.request, at: provider, now: now)
    }

    /// Over as long again as the pause lasts, so that a provider that is back is not flooded.
    private mutating func spreadOut(after opensAt: WallTime, at now: WallTime) -> WallTime {
        let span = max(1, opensAt.since(now).milliseconds)
        return opensAt + .milliseconds(Int64.random(in: 0...span, using: &random))
    }

    /// Gives the slot back; a breaker that opens sends everybody who queued there home.
    mutating func providerAnswered(
        _ provider: ProviderName,
        _ caller: ProviderLane.Caller,
        failure: EffectFailure?,
        at now: WallTime
    ) {
        let pause = endingOutage(of: provider) {
            $0.finished(caller, failure: failure, at: now)
        }
        if let pause, pause != nil { sendHome(provider, at: now) }
        if failure != nil { failingLanes.insert(provider) }
    }

    /// Lends a lane in place, and reports the outage that ends meanwhile.
    @discardableResult
    mutating func endingOutage<R>(
        of name: ProviderName,
        _ body: (inout ProviderLane) -> R
    ) -> R? {
        guard let index = lanes.index(forKey: name) else { return nil }
        let wasReported = lanes.values[index].outage?.isReported ?? false
        let result = body(&lanes.values[index])
        if wasReported, lanes.values[index].outage == nil {
            actions.append(.report(.outageEnded(name)))
        }
        return result
    }

    /// Ends what is over of single clients.
    mutating func endClients(
        of name: ProviderName,
        where isOver: (ProviderLane.Client, LaneOutage) -> Bool
    ) {
        for client in lanes[name]?.endClients(where: isOver) ?? [] {
            actions.append(.report(.outageEnded(name, client: client)))
        }
    }

    /// Outages that are known by now begin, and those end for which no user waits.
    mutating func reportOutages(at now: WallTime) {
        for name in failingLanes.sorted() {
            let isOver = lanes[name]?.outageEndsAt.map { $0 <= now } ?? false
            if isOver || configuration.lanes[name] == nil {
                endingOutage(of: name) { $0.trust() }
            }
            let isPaused = environment.pausedProviders.contains(name)
            while let outage = lanes[name]?.reportOutage(at: now, isPaused: isPaused) {
                actions.append(.report(.outageBegan(name, reason: outage.reason)))
            }
            if let endsAt = lanes[name]?.clientsEndAt, endsAt <= now {
                endClients(of: name) { $1.endsAt <= now }
            }
            if lanes[name]?.isWell ?? true { failingLanes.remove(name) }
        }
    }

    mutating func sendHome(_ provider: ProviderName, at now: WallTime) {
        for call in lanes[provider]?.takeAllCalls() ?? [] {
            let until = lanes[provider]?.opensAt.map { spreadOut(after: $0, at: now) } ?? now
            postpone(call, until: until, at: now)
        }
    }

    /// One call per store at a time; what is held or over by now is left out.
    mutating func fillStores(at now: WallTime) {
        for name in storeOrder {
            let isPaused = environment.pausedStores.contains(name)
            // A run knows of pauses itself: an operator's replay does not wait for their end.
            if let turn = stores[name]?.nextTurn(isAlone: isPaused) {
                // A hold may have come after the run read them, before its turn.
                let isKnown =
                    Set(environment.rowHolds(on: name)) == Set(turn.holds.rows)
                    && turn.holds.userHoldsVersion == userHoldsVersion
                if !turn.requests.isEmpty, !isKnown || environment.isHeld(name) {
                    actions.append(.stop(turn.gate, turn.requests))
                }
                reply(turn.ticket, .done)
                continue
            }
            guard !isPaused else { continue }
            guard let (work, ids) = stores[name]?.nextBatch() else { continue }
            let orders = ids.compactMap { purgeOrder($0, at: name, work: work, now: now) }
            guard !orders.isEmpty else {
                stores[name]?.finished()
                continue
            }
            actions.append(work == .purge ? .purge(name, orders) : .verify(name, orders))
        }
    }

    private mutating func purgeOrder(
        _ id: RequestID,
        at store: StoreName,
        work: StoreQueue.Work,
        now: WallTime
    ) -> PurgeOrder? {
        guard let run = window[id] else { return nil }
        let request = run.loaded.request
        let isStopped =
            work == .purge
            && (environment.isHeld(store) || !request.mayPurge(store, at: now, environment))
        guard mayPerform(run), !isStopped, request.openRevocationCount == 0,
            request.purgeStartedAt != nil
        else {
            let effect: RequestEffect = work == .purge ? .purge(store) : .verify(store)
            apply(.postponed(effect, until: now), to: id, at: now)
            return nil
        }
        let purge = request.purges.first { $0.store == store }
        var order = PurgeOrder(
            request: id,
            user: run.loaded.user,
            cutoff: request.cutoff(in: purge),
            holds: environment.holds.isEmpty ? [] : environment.rowHolds(on: store),
            gate: stores[store]?.purge?.gate
        )
        order.datesUpTo = purge?.judgedAt.map { $0 + Limits.rowSkewMax }
        beginCall(of: id)
        return order
    }
}

extension RequestEffect {
    var token: TokenCall? { if case .call(let call) = self { call } else { nil } }
}

extension RequestEvent {
    /// Whose call ends, also one that the shell did not begin.
    var identity: IdentityID? {
        switch self {
        case .checked(let identity, _, _), .revoked(let identity, _, _),
            .confirmed(let identity, _, _):
            identity
        case .postponed(let effect, _): effect.token?.identity
        default: nil
        }
    }
}

extension EngineCore {
    mutating func fillPlans(at now: WallTime) {
        while let id = plans.next() {
            guard let run = window[id], mayPerform(run) else {
                plans.finished()
                apply(.postponed(.plan, until: now), to: id, at: now)
                continue
            }
            let request = run.loaded.request
            beginCall(of: id)
            actions.append(
                .plan(
                    PlanOrder(
                        order: PurgeOrder(
                            request: id,
                            user: run.loaded.user,
                            cutoff: request.cutoff
                        ),
                        userHash: run.loaded.userHash,
                        links: request.links,
                        sources: request.planSources
                    )
                )
            )
        }
    }

    mutating func planEnded(_ id: RequestID, _ result: PlanResult, at now: WallTime) {
        plans.finished()
        apply(.planned(result), to: id, at: now)
    }

    /// Once after the start: what waits for an approval that is no longer asked for goes on.
    package mutating func releaseUnapproved(at now: WallTime) {
        if !environment.isApprovalRequired { wake(.awaitingApproval, at: now) }
    }

    /// Without the policy requests go on; with it those in the window stop before the next step.
    mutating func adoptApproval(_ policy: ApprovalPolicy, at now: WallTime) {
        guard environment.isApprovalRequired != (policy == .required) else { return }
        environment.isApprovalRequired = policy == .required
        wake(.awaitingApproval, at: now)
    }
}
