import Lifecycle

@testable import Engine

/// A provider that rotates refresh tokens, and what the shell does with the new one.
extension Simulator {
    /// Refreshes; the answer waits until the new token is durable.
    mutating func refresh(
        _ credential: CredentialID,
        _ token: String,
        _ failure: EffectFailure?,
        _ answer: (CheckAnswer) -> EngineInput
    ) {
        if let failure {
            let mayHaveActed =
                failure == .lost || failure == .unusable && Bool.random(using: &random)
            if mayHaveActed, let rotated = world.refresh(token) { world.unheard.insert(rotated) }
            turn([answer(.failure(failure))])
            return
        }
        guard let rotated = world.refresh(token) else {
            turn([answer(.dead)])
            return
        }
        if bug == .unkeptRotation {
            turn([answer(.live)])
            return
        }
        let kept = Keep(
            credential: credential,
            token: rotated,
            answer: answer(.live),
            read: hosts[current].tag
        )
        schedule(.keep(kept), after: latency(faults.commitLatencyMaxMs))
    }

    /// The commit of the new token; a boundary like that of every action.
    mutating func keep(_ kept: Keep) {
        actionCount += 1
        if case .renewed = kept.answer { renewalActions.append(actionCount) }
        if crashAtAction == actionCount || chance(faults.crashPerMille) {
            leave(kept)
            crash()
            return
        }
        guard !isShared else { return keepShared(kept) }
        commit(kept)
        if let identity = disk.identity(of: kept.credential) {
            disk.noteUpdate(of: identity, at: now)
            if let update = disk.update(of: identity) { turn([.update(update)]) }
        }
        turn([kept.answer])
    }

    /// The process dies: the commit happened or not, and if not, the token is lost.
    mutating func leave(_ kept: Keep) {
        if !isShared, Bool.random(using: &random) {
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
        _ = disk.commit([.rotate(kept.credential, token, at: now)])
    }

    /// Every live token is stored, on its way into the state, or was lost where that cannot be
    /// helped.
    mutating func checkRotation() {
        let stored = Set(disk.secrets.values)
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

extension EngineAction {
    /// Whether it is a step of keeping a token alive.
    var isRenewal: Bool {
        switch self {
        case .renew: true
        case .commit(let changes, _):
            changes.contains {
                switch $0 {
                case .beginRenewal, .endRenewal: true
                default: false
                }
            }
        default: false
        }
    }
}
