import Lifecycle

/// The deletions that one store fails again and again.
///
/// What a store refuses for one user alone is announced at once (``Lifecycle/Obstacle``), and a
/// set-up that is refused pauses it: neither is here. A restart begins the time anew.
struct StuckDeletions: Sendable {
    /// What changed for an operator.
    enum Change: Equatable {
        case began(reason: String)
        case ended
    }

    /// When each began to fail; bounded, since one is enough for the alarm.
    private var failing: [RequestID: WallTime] = [:]
    /// When the first of them began to fail.
    private(set) var since: WallTime?
    /// What the store said last.
    private(set) var reason = ""
    private(set) var isReported = false

    /// When it is to be reported; `nil` when nothing fails, or it was.
    var reportAt: WallTime? { isReported ? nil : since.map { $0 + Limits.stuckAfter } }

    mutating func note(_ request: RequestID, _ reason: String, at now: WallTime) {
        self.reason = reason
        guard failing[request] == nil, failing.count < Limits.stuckMax else { return }
        failing[request] = now
        since = min(since ?? now, now)
    }

    /// A deletion has made progress, ended, or waits for something else.
    mutating func forget(_ request: RequestID) {
        guard let time = failing.removeValue(forKey: request), time == since else { return }
        since = failing.values.min()
    }

    mutating func forgetAll() { (failing, since) = ([:], nil) }

    mutating func reclock(by step: Duration, at now: WallTime) {
        failing = failing.mapValues { min($0 + step, now) }
        since = failing.values.min()
    }

    mutating func report(at now: WallTime) -> Change? {
        if isReported, failing.isEmpty {
            isReported = false
            return .ended
        }
        guard let reportAt, reportAt <= now else { return nil }
        isReported = true
        return .began(reason: reason)
    }
}

extension EngineCore {
    /// What a store has answered, and its words where it failed.
    mutating func noteProgress(
        at store: StoreName,
        _ answers: [(RequestID, RequestEvent)],
        reason: String?,
        at now: WallTime
    ) {
        for (id, event) in answers {
            if let failure = event.storeFailure, failure.leavesUntold, isWorkedOn(id) {
                stores[store]?.stuck.note(id, reason ?? failure.reason, at: now)
            } else if event.isProgress {
                stores[store]?.stuck.forget(id)
            }
        }
    }

    /// A request that ended or is parked waits for no store.
    mutating func forgetStuck(_ id: RequestID) {
        guard !isWorkedOn(id) else { return }
        for name in storeOrder { stores[name]?.stuck.forget(id) }
    }

    mutating func reportStuckStores(at now: WallTime) {
        for name in storeOrder {
            switch stores[name]?.stuck.report(at: now) {
            case .began(let reason)?:
                actions.append(.report(.storeStuck(name, reason: reason)))
            case .ended?:
                actions.append(.report(.storeGoesOn(name)))
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
    /// Whether a store has got further with a deletion, or has an alarm of its own for it.
    ///
    /// A purge that finds nothing may pass over rows that another transaction holds.
    fileprivate var isProgress: Bool {
        switch self {
        case .purged(_, .done(let counts)):
            counts.workedCount > 0 || counts.isAccepted || counts.isNotLookedFor
        case .purged(_, .held), .verified(_, .clean), .verified(_, .notLookedFor): true
        default: false
        }
    }

    fileprivate var storeFailure: EffectFailure? {
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
            .notConfigured, .sealBroken, .vaultSealed, .keys:
            true
        case .misconfigured, .blocked: false
        }
    }
}
