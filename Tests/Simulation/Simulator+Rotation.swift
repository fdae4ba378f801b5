import Engine
import Lifecycle

/// A provider that rotates refresh tokens, and what the shell does with the new one.
extension Simulator {
    /// Refreshes; the answer waits until the new token is durable.
    mutating func refresh(
        _ id: RequestID,
        _ effect: RequestEffect,
        _ token: String,
        _ trouble: Trouble?
    ) {
        guard let (identity, credential) = effect.refreshed else { return }
        if let trouble {
            let mayHaveActed = trouble == .lost || trouble == .unusable && Bool.random(using: &dice)
            if mayHaveActed, let rotated = world.refresh(token) { world.unheard.insert(rotated) }
            answer(id, effect, .trouble(trouble), trouble)
            return
        }
        guard let rotated = world.refresh(token) else {
            answer(id, effect, .dead, nil)
            return
        }
        let kept = Keep(
            request: id,
            effect: effect,
            provider: rotating,
            identity: identity,
            credential: credential,
            token: rotated
        )
        if bug == .unkeptRotation {
            answer(id, effect, .live, nil)
            return
        }
        schedule(.keep(kept), after: latency(faults.commitLatencyMaxMs))
    }

    /// The commit of the new token; a boundary like that of every action.
    mutating func keep(_ kept: Keep) {
        actionCount += 1
        if crashAtAction == actionCount || chance(faults.crashPerMille) {
            leave(kept)
            crash()
            return
        }
        commit(kept)
        store.noteNews(of: kept.identity, at: now)
        if let news = store.news(of: kept.identity) { turn([.news(news)]) }
        answer(kept.request, kept.effect, .live, nil)
    }

    /// The process dies: the commit happened or not, and if not, the token is lost.
    mutating func leave(_ kept: Keep) {
        if Bool.random(using: &dice) {
            commit(kept)
        } else {
            world.unheard.insert(kept.token)
        }
    }

    private mutating func commit(_ kept: Keep) {
        let token = SealedToken(
            kind: .refreshToken,
            rowNonce: [],
            sealedSecret: Array(kept.token.utf8),
            fingerprint: [],
            expiresAt: nil
        )
        _ = store.commit([.rotate(kept.credential, token, at: now)])
    }

    private mutating func answer(
        _ id: RequestID,
        _ effect: RequestEffect,
        _ answer: CheckAnswer,
        _ trouble: Trouble?
    ) {
        guard let (identity, credential) = effect.refreshed else { return }
        let event: RequestEvent
        if case .confirm = effect {
            event = .confirmed(identity, credential, answer)
        } else {
            event = .checked(identity, credential, answer)
        }
        turn([.answered(id, event, rotating, trouble)])
    }

    /// Every live token is stored, on its way into the store, or was lost where that cannot be
    /// helped.
    mutating func checkRotation() {
        let stored = Set(store.secrets.values)
        var known = world.unheard.union(stored)
        for item in pending {
            if case .keep(let kept) = item.occurrence { known.insert(kept.token) }
        }
        for (name, token) in world.tokens
        where token.isRotated && token.isLive && !known.contains(name) {
            world.violations.append("a rotated token was lost: \(name)")
        }
    }
}

extension RequestEffect {
    var isRefresh: Bool { refreshed != nil }

    /// Whose token a check or a confirmation refreshes.
    var refreshed: (IdentityID, CredentialID)? {
        switch self {
        case .check(let identity, let credential), .confirm(let identity, let credential):
            (identity, credential)
        case .lookUp, .revoke, .purge, .verify, .pauseProvider, .pauseTarget, .announce: nil
        }
    }
}
