import Engine
import Lifecycle

/// What the shell and the adapters would do.
extension Simulator {
    mutating func begin(_ action: EngineAction) {
        switch action {
        case .commit:
            schedule(.perform(action), after: latency(faults.commitLatencyMaxMs))
        case .fetchDue, .load:
            schedule(.perform(action), after: latency(2))
        case .call, .lookUp, .exchange, .purge, .verify:
            if case .purge(_, let orders) = action,
                orders.contains(where: { held.contains($0.request) })
            {
                world.violations.append("a purge begun under a hold")
            }
            schedule(.perform(action), after: latency(faults.callLatencyMaxMs))
        case .reply(let ticket, let outcome):
            outcomes[ticket.number] = outcome
        case .changed(let request):
            store.requests[request.id]?.mirror = request.phase.wireState
        case .announce(let id, let announcement):
            announcements.append((id, announcement))
        case .report:
            break
        }
    }

    mutating func perform(_ action: EngineAction) {
        switch action {
        case .commit(let changes):
            turn([.committed(store.commit(changes))])
        case .fetchDue(let read, let limit, let excluded, let closed):
            let due = store.due(at: now, limit: limit, excluding: excluded, closedLanes: closed)
            turn([.fetched(read, due, limit: limit)])
        case .load(let read, let ids):
            turn([.loaded(read, ids.compactMap { store.loaded($0) }, asked: ids)])
        case .call(let id, let effect, let provider, let sealed):
            if poison == id {
                restart(isOwnCrash: true)
                return
            }
            call(id, effect, provider, sealed)
        case .lookUp(let id, let name, _):
            lookUp(id, at: name)
        case .exchange(let loaded):
            exchange(loaded)
        case .purge(let target, let orders):
            let answers = orders.map {
                ($0.request, RequestEvent.purged(target, purge(target, $0)))
            }
            turn([.targetAnswered(target, answers)])
        case .verify(let target, let orders):
            let answers = orders.map {
                ($0.request, RequestEvent.verified(target, verify(target, $0)))
            }
            turn([.targetAnswered(target, answers)])
        case .reply, .changed, .announce, .report:
            break
        }
    }

    /// The process dies while the action happens: the world may feel it, nobody hears the answer.
    mutating func performInWorldOnly(_ action: EngineAction) {
        switch action {
        case .commit(let changes):
            _ = store.commit(changes)
        case .call(_, .revoke, _, let sealed):
            world.revoke(String(decoding: sealed.sealedSecret, as: UTF8.self))
        case .call(_, _, rotating, let sealed):
            let token = world.refresh(String(decoding: sealed.sealedSecret, as: UTF8.self))
            if let token { world.unheard.insert(token) }
        case .exchange(let loaded):
            _ = world.exchange(
                String(decoding: loaded.credential.sealedSecret, as: UTF8.self),
                at: now
            )
        case .purge(let target, let orders):
            for order in orders { _ = purge(target, order) }
        case .call, .lookUp, .fetchDue, .load, .verify, .reply, .changed, .announce, .report:
            break
        }
    }

    mutating func trouble(_ provider: ProviderName) -> Trouble? {
        if let end = faults.outages[provider], now < end { return .unreachable }
        guard chance(faults.troublePerMille) else { return nil }
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: return .throttled(retryAfter: .seconds(Int64.random(in: 0...120, using: &dice)))
        case 1: return .unusable
        case 2: return .unreachable
        default: return .throttled(retryAfter: nil)
        }
    }

    private mutating func call(
        _ id: RequestID,
        _ effect: RequestEffect,
        _ provider: ProviderName,
        _ sealed: SealedCredential
    ) {
        let token = String(decoding: sealed.sealedSecret, as: UTF8.self)
        var trouble = trouble(provider)
        let isLost = trouble == nil && chance(faults.lostAnswerPerMille)
        if isLost { trouble = .lost }
        if provider == rotating, effect.isRefresh {
            refresh(id, effect, token, trouble)
            return
        }
        switch effect {
        case .check(let identity, let credential):
            let answer =
                trouble.map { CheckAnswer.trouble($0) } ?? (world.isLive(token) ? .live : .dead)
            turn([.answered(id, .checked(identity, credential, answer), provider, trouble)])
        case .revoke(let identity, let credential):
            if bug == .purgeBeforeVerdict {
                turn([.answered(id, .revoked(identity, credential, .success), provider, nil)])
                return
            }
            if trouble == nil || isLost { world.revoke(token) }
            var answer = trouble.map { RevokeAnswer.trouble($0) } ?? .success
            if bug == .verdictOnUnavailable, trouble != nil { answer = .success }
            turn([.answered(id, .revoked(identity, credential, answer), provider, trouble)])
        case .confirm(let identity, let credential):
            let answer =
                trouble.map { CheckAnswer.trouble($0) } ?? (world.isLive(token) ? .live : .dead)
            turn([.answered(id, .confirmed(identity, credential, answer), provider, trouble)])
        case .lookUp, .purge, .verify, .pauseProvider, .pauseTarget, .announce:
            world.violations.append("a call that is no provider effect")
        }
    }

    private mutating func exchange(_ loaded: LoadedExchange) {
        let id = loaded.exchange.credential
        let code = String(decoding: loaded.credential.sealedSecret, as: UTF8.self)
        if let trouble = trouble(loaded.exchange.provider) {
            // Provably not acted upon, or not: `unusable` may have used the code.
            if trouble == .unusable, Bool.random(using: &dice) { _ = world.exchange(code, at: now) }
            turn([.exchanged(id, ExchangeResult(event: .trouble(trouble)))])
            return
        }
        let token = world.exchange(code, at: now)
        if chance(faults.lostAnswerPerMille) {
            turn([.exchanged(id, ExchangeResult(event: .trouble(.lost)))])
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
    private mutating func purge(_ target: TargetName, _ order: PurgeOrder) -> PurgeAnswer {
        guard let row = store.requests[order.request] else { return .trouble(.unusable) }
        world.purgeCalls += 1
        let isAdmitted = row.request.revocations.allSatisfy { $0.verdict != nil }
        checkLinks(row)
        if !isAdmitted { world.violations.append("purge before every verdict is durable") }
        for revocation in row.request.revocations where revocation.verdict?.isRevoked ?? false {
            if world.liveTokenCount(user: row.user, provider: revocation.provider) > 0 {
                world.violations.append("purge while a revoked token is live")
            }
        }
        if chance(faults.troublePerMille) { return .trouble(.throttled(retryAfter: nil)) }
        let count = world.rows[target]?[row.user] ?? 0
        let left = bug == .blindVerification ? min(count, 1) : 0
        world.rows[target]?[row.user] = left
        return .done(PurgeCounts(entries: [.init(name: "rows", action: "delete", rowCount: count)]))
    }

    private mutating func verify(_ target: TargetName, _ order: PurgeOrder) -> VerifyAnswer {
        guard let row = store.requests[order.request] else { return .trouble(.unusable) }
        if chance(faults.troublePerMille) { return .trouble(.unusable) }
        let left = world.rows[target]?[row.user] ?? 0
        return left == 0 || bug == .blindVerification ? .clean : .remaining(left)
    }
}
