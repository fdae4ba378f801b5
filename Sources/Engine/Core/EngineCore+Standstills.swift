import Lifecycle

extension EngineCore {
    /// What a store has answered, and its words where it failed.
    mutating func noteProgress(
        at target: TargetName,
        _ answers: [(RequestID, RequestEvent)],
        said: String?,
        at now: WallTime
    ) {
        for (id, event) in answers {
            if let failure = event.targetFailure, failure.leavesUntold, isWorkedOn(id) {
                targets[target]?.standstill.note(id, said ?? failure.reason, at: now)
            } else {
                targets[target]?.standstill.forget(id)
            }
        }
    }

    /// A request that ended or is parked waits for no store.
    mutating func endStandstill(of id: RequestID) {
        guard !isWorkedOn(id) else { return }
        for name in targetOrder { targets[name]?.standstill.forget(id) }
    }

    mutating func reportStandstills(at now: WallTime) {
        for name in targetOrder {
            switch targets[name]?.standstill.report(at: now) {
            case .began(let reason)?:
                actions.append(.report(.standstillBegan(name, reason: reason)))
            case .ended?:
                actions.append(.report(.standstillEnded(name)))
            case nil:
                break
            }
        }
    }

    private mutating func isWorkedOn(_ id: RequestID) -> Bool {
        guard let phase = withRun(id, { $0.loaded.request.phase }) else { return true }
        return !phase.isEnded && phase.parkReason == nil
    }
}

extension RequestEvent {
    fileprivate var targetFailure: EffectFailure? {
        switch self {
        case .purged(_, .failure(let failure)), .verified(_, .failure(let failure)): failure
        default: nil
        }
    }
}

extension EffectFailure {
    /// Nothing else tells an operator of it.
    fileprivate var leavesUntold: Bool {
        switch self {
        case .unreachable, .throttled, .lost, .unusable, .rejected, .refused, .refusesAll,
            .sealBroken, .vaultSealed, .keys:
            true
        case .misconfigured, .blocked: false
        }
    }
}
