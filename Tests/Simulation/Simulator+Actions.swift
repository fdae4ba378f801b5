import Lifecycle

@testable import Engine

/// What the shell and the adapters would do.
extension Simulator {
    mutating func begin(_ action: EngineAction) {
        checkApproval(of: action)
        checkHolds(of: action)
        switch action {
        case .commit(let changes, _):
            signIn(during: changes)
            schedule(.perform(action), after: latency(faults.commitLatencyMaxMs))
        case .fetchDue, .load, .findRenewals, .readSpool:
            schedule(.perform(action), after: latency(2))
        case .call, .lookUp, .plan, .exchange, .renew, .purge, .verify:
            schedule(.perform(action), after: latency(faults.callLatencyMaxMs))
        case .reply(let ticket, let outcome):
            outcomes[ticket.number] = outcome
            turnCame(ticket.number)
        case .changed(let request):
            disk.requests[request.id]?.mirror = request.phase.state
        case .announce(let id, let announcement):
            announcements.append((id, announcement))
        case .stop(let gate, let requests):
            if bug != .openGate { gate.close(for: requests) }
        case .retire(let gate):
            gate.retire()
        case .report(.tokensExpiring(let name, _)):
            warnings.append(name)
        case .report, .readRules, .readInbox, .left:
            break
        }
    }

    mutating func perform(_ action: EngineAction) {
        switch action {
        case .commit(let changes, nil):
            if let refusal = disk.refusal(of: changes) { return turn([.refused(refusal)]) }
            turn([.committed(commit(changes))])
        case .commit(let changes, .some(let claims)):
            commit(changes, under: claims)
        case .fetchDue(let read, let limit, let excluded, let limits, let parts):
            let due = disk.due(
                at: clock,
                limit: limit,
                excluding: excluded,
                laneLimits: limits,
                in: parts
            )
            turn([.fetched(read, due, limit: limit)])
        case .load(let read, let ids):
            turn([.loaded(read, ids.compactMap { disk.loaded($0) }, asked: ids)])
        case .call(let id, let token, let provider, let sealed):
            if poison == id {
                restart(isOwnCrash: true)
                return
            }
            call(id, token, provider, sealed)
        case .lookUp(let id, let name, _, _):
            lookUp(id, at: name)
        case .findRenewals(let providers, let limit, let parts):
            let due = disk.dueRenewals(of: providers, at: clock, limit: limit, in: parts)
            turn([.renewalsFound(due)])
        case .readRules(let read):
            turn([.rules(read, rules)])
        case .readInbox(let read, let parts):
            readInbox(read, parts)
        case .readSpool:
            readSpool()
        case .renew(let sealed):
            renew(sealed)
        case .exchange(let loaded):
            exchange(loaded)
        case .plan(let order):
            plan(order)
        case .purge(let store, let orders):
            for _ in 0..<repeats() { for order in orders { _ = purge(store, order) } }
            let answers = orders.map {
                ($0.request, RequestEvent.purged(store, purge(store, $0)))
            }
            turn([.storeAnswered(store, answers)])
        case .verify(let store, let orders):
            let answers = orders.map {
                ($0.request, RequestEvent.verified(store, verify(store, $0)))
            }
            turn([.storeAnswered(store, answers)])
        case .stop, .retire, .reply, .changed, .announce, .report, .left:
            break
        }
    }

    /// The process dies while the action happens: the world may feel it, nobody hears the answer.
    mutating func performInWorldOnly(_ action: EngineAction) {
        switch action {
        case .commit(let changes, nil):
            if disk.refusal(of: changes) == nil { _ = commit(changes) }
        case .commit(let changes, .some(let claims)):
            _ = outcome(of: changes, under: claims)
        case .renew(let sealed):
            let name = String(decoding: sealed.sealedSecret, as: UTF8.self)
            guard sealed.provider == rotating else {
                _ = world.use(name)
                return
            }
            if let token = world.refresh(name) { world.unheard.insert(token) }
        case .call(_, let call, _, let sealed) where call.work == .revoke:
            world.revoke(String(decoding: sealed.sealedSecret, as: UTF8.self))
        case .call(_, _, rotating, let sealed):
            let token = world.refresh(String(decoding: sealed.sealedSecret, as: UTF8.self))
            if let token { world.unheard.insert(token) }
        case .exchange(let loaded):
            _ = world.exchange(
                String(decoding: loaded.credential.sealedSecret, as: UTF8.self),
                at: now
            )
        case .purge(let store, let orders):
            for order in orders { _ = purge(store, order) }
        case .call, .lookUp, .plan, .fetchDue, .load, .findRenewals, .readSpool, .verify, .stop,
            .retire, .reply, .changed, .announce, .report, .readRules, .readInbox, .left:
            break
        }
    }

    /// How many times more a step happens than it is answered.
    private mutating func repeats() -> Int {
        faults.repeatsMax == 0 ? 0 : Int.random(in: 0...faults.repeatsMax, using: &random)
    }

    mutating func failure(_ provider: ProviderName) -> EffectFailure? {
        if let end = faults.outages[provider], now < end { return .unreachable }
        guard chance(faults.failurePerMille) else { return nil }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .throttled(retryAfter: .seconds(Int64.random(in: 0...120, using: &random)))
        case 1: return .unusable
        case 2: return .unreachable
        default: return .throttled(retryAfter: nil)
        }
    }

    private mutating func call(
        _ id: RequestID,
        _ call: TokenCall,
        _ provider: ProviderName,
        _ sealed: SealedCredential
    ) {
        let token = String(decoding: sealed.sealedSecret, as: UTF8.self)
        let owner = world.tokens[token]?.user
        var failure = owner.flatMap { faults.userFailures[$0] } ?? self.failure(provider)
        let isLost = failure == nil && chance(faults.lostAnswerPerMille)
        if isLost { failure = .lost }
        // A check or a confirmation of it refreshes the token.
        if provider == rotating, call.work != .revoke {
            refresh(call.credential, token, failure) { answer in
                .answered(id, call.checked(answer), provider, failure)
            }
            return
        }
        switch call.work {
        case .check, .confirm:
            let answer =
                failure.map { CheckAnswer.failure($0) } ?? (world.isLive(token) ? .live : .dead)
            turn([.answered(id, call.checked(answer), provider, failure)])
        case .revoke:
            if bug == .purgeBeforeVerdict {
                turn([.answered(id, call.revoked(.success), provider, nil)])
                return
            }
            if failure == nil || isLost {
                for _ in 0...repeats() { world.revoke(token) }
            }
            var answer = failure.map { RevokeAnswer.failure($0) } ?? .success
            if bug == .verdictOnUnavailable, failure != nil { answer = .success }
            turn([.answered(id, call.revoked(answer), provider, failure)])
        }
    }

    private mutating func commit(_ changes: [StateChange]) -> [ChangeUpdate?] {
        var changes = changes
        if bug == .forgottenRenewal {
            for index in changes.indices {
                guard case .tendRenewals(_, let time) = changes[index] else { continue }
                changes[index] = .tendRenewals([:], at: time)
            }
        }
        let update = disk.commit(changes)
        scheduleRechecks()
        guard bug == .staleRenewal else { return update }
        return update.map { item in
            guard case .renewalBegun(let id, .some)? = item, let first = disk.firstSecrets[id]
            else { return item }
            return .renewalBegun(id, disk.sealed(id, secret: first))
        }
    }

    private mutating func renew(_ sealed: SealedCredential) {
        let token = String(decoding: sealed.sealedSecret, as: UTF8.self)
        let id = sealed.id
        renewed.append((sealed.provider, now))
        var failure = failure(sealed.provider)
        let isLost = failure == nil && chance(faults.lostAnswerPerMille)
        if isLost { failure = .lost }
        if sealed.provider == rotating {
            refresh(id, token, failure) { .renewed(id, $0) }
            return
        }
        let isLive = failure == nil || isLost ? world.use(token) : false
        turn([.renewed(id, failure.map { .failure($0) } ?? (isLive ? .live : .dead))])
    }

    private mutating func exchange(_ loaded: LoadedExchange) {
        let id = loaded.exchange.credential
        let code = String(decoding: loaded.credential.sealedSecret, as: UTF8.self)
        if let failure = failure(loaded.exchange.provider) {
            // Provably not acted upon, or not: `unusable` may have used the code.
            if failure == .unusable, Bool.random(using: &random) {
                _ = world.exchange(code, at: now)
            }
            turn([.exchanged(id, ExchangeResult(event: .failure(failure)))])
            return
        }
        let token = world.exchange(code, at: now)
        if chance(faults.lostAnswerPerMille) {
            turn([.exchanged(id, ExchangeResult(event: .failure(.lost)))])
        } else if let token {
            let sealed = SealedToken(
                kind: .refreshToken,
                rowNonce: [],
                sealedSecret: Array(token.utf8),
                fingerprint: [],
                expiresAt: nil
            )
            turn([.exchanged(id, ExchangeResult(event: .exchanged, tokens: [sealed]))])
        } else {
            turn([.exchanged(id, ExchangeResult(event: .refused))])
        }
    }

    /// Judged from outside: at this moment no token of the user may be live without a verdict that
    /// says so.
    private mutating func purge(_ store: StoreName, _ order: PurgeOrder) -> PurgeAnswer {
        guard let row = disk.requests[order.request] else { return .failure(.unusable) }
        guard !order.isStopped, mayPurge(order.request) else { return .stopped }
        checkHolds(of: .purge(store, [order]))
        world.purgeCalls += 1
        let isAdmitted = row.request.revocations.allSatisfy { $0.verdict != nil }
        checkLinks(row)
        if !isAdmitted { world.violations.append("purge before every verdict is durable") }
        for revocation in row.request.revocations where revocation.verdict?.isRevoked ?? false {
            if world.liveTokenCount(user: row.user, provider: revocation.provider) > 0 {
                world.violations.append("purge while a revoked token is live")
            }
        }
        if !chance(faults.failurePerMille / 4) { eraseDated(store, of: row.user, order.cutoff) }
        let count = world.rows[store]?[row.user] ?? 0
        if chance(max(faults.failurePerMille, faults.storeFailurePerMille)) {
            // Half-way, or before anything was done.
            if count > 1, Bool.random(using: &random) {
                world.rows[store]?[row.user] = count - 1
                world.begun[order.request, default: []].insert(store)
            }
            return .failure(.throttled(retryAfter: nil))
        }
        world.begun[order.request, default: []].insert(store)
        let disputed = order.holds.isEmpty ? 0 : min(count, Self.disputedCount(of: row.user))
        let left = bug == .blindVerification ? min(count, 1) : disputed
        world.rows[store]?[row.user] = left
        var counts = PurgeCounts(entries: [
            .init(name: "rows", action: .rule(.delete), rowCount: count - left)
        ])
        guard disputed > 0 else { return .done(counts) }
        counts.entries.append(
            .init(name: "rows", action: .held, rowCount: disputed)
        )
        return .held(counts, under: Set(order.holds.map(\.name)))
    }

    private mutating func verify(_ store: StoreName, _ order: PurgeOrder) -> VerifyAnswer {
        guard let row = disk.requests[order.request] else { return .failure(.unusable) }
        if chance(faults.failurePerMille) { return .failure(.unusable) }
        let left =
            (world.rows[store]?[row.user] ?? 0) + datedCount(store, of: row.user, order.cutoff)
        return left == 0 || bug == .blindVerification ? .clean : .remaining(left)
    }
}
