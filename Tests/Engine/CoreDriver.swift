import Engine
import Lifecycle

/// Drives the core by hand: a test says what happens, and sees every action.
final class CoreDriver {
    var core: EngineCore
    var now = Sample.start
    /// Changes of the commit that is under way; `nil` when none is.
    private(set) var openCommit: [StateChange]?
    /// The due-work read that is under way.
    private(set) var openFetch: (read: ReadNumber, excluding: Set<RequestID>)?
    private(set) var isCommitDoubled = false

    init(
        configuration: EngineConfiguration = Sample.configuration(),
        pauses: StoredPauses = StoredPauses(),
        isVaultOpen: Bool = true,
        suspects: [RequestID] = [],
        purgesInLastHour: Int = 0,
        allowance: GuardAllowance? = nil,
        exchanges: [LoadedExchange] = [],
        ownership: Ownership = .all
    ) {
        core = EngineCore(
            configuration: configuration,
            pauses: pauses,
            isVaultOpen: isVaultOpen,
            seed: 1,
            ownership: ownership
        )
        core.start(
            suspects: suspects,
            purgesInLastHour: purgesInLastHour,
            allowance: allowance,
            exchanges: exchanges,
            at: now
        )
    }

    /// A core that has nothing to do and nothing under way.
    static func idle(_ configuration: EngineConfiguration = Sample.configuration()) -> CoreDriver {
        let driver = CoreDriver(configuration: configuration)
        driver.send()
        driver.settle()
        return driver
    }

    @discardableResult
    func send(_ inputs: EngineInput...) -> [EngineAction] {
        for input in inputs {
            switch input {
            case .committed, .refused: openCommit = nil
            default: break
            }
            if case .fetched = input { openFetch = nil }
            core.handle(input, at: now)
        }
        let actions = core.takeActions(at: now)
        for action in actions {
            switch action {
            case .commit(let changes, _):
                isCommitDoubled = isCommitDoubled || openCommit != nil
                openCommit = changes
            case .fetchDue(let read, _, let excluded, _, _):
                openFetch = (read, excluded)
            default:
                break
            }
        }
        return actions
    }

    /// Ends the commit under way.
    @discardableResult
    func commit(_ update: [IdentityUpdate] = []) -> [EngineAction] {
        commit(knowing: update.map { .identity($0) })
    }

    /// Ends the commit under way with any updates.
    @discardableResult
    func commit(knowing update: [ChangeUpdate]) -> [EngineAction] {
        let count = max(0, (openCommit?.count ?? 0) - update.count)
        return send(.committed(update.map(Optional.some) + Array(repeating: nil, count: count)))
    }

    /// Answers the read of due work that is under way.
    @discardableResult
    func fetch(
        _ requests: [LoadedRequest] = [],
        nextDueAt: WallTime? = nil
    ) -> [EngineAction] {
        guard let openFetch else { return [] }
        return send(
            .fetched(
                openFetch.read,
                DueRequests(requests: requests, nextDueAt: nextDueAt),
                limit: Limits.fetchMax
            )
        )
    }

    /// Ends commits and answers reads of due work with nothing, until neither is under way.
    @discardableResult
    func settle() -> [EngineAction] {
        var actions: [EngineAction] = []
        while openCommit != nil || openFetch != nil {
            actions += openCommit != nil ? commit() : fetch()
        }
        return actions
    }

    /// Answers the revoke of a numbered request and ends its commits.
    @discardableResult
    func answerRevoke(_ number: Int, _ answer: RevokeAnswer) -> [EngineAction] {
        send(revoked(number, answer)) + settle()
    }

    func revoked(
        _ number: Int,
        _ answer: RevokeAnswer,
        by provider: ProviderName = Sample.apple
    ) -> EngineInput {
        var failure: EffectFailure?
        if case .failure(let kind) = answer { failure = kind }
        return .answered(
            Sample.request(number),
            .revoked(Sample.identity(number), Sample.credential(number), answer),
            provider,
            failure
        )
    }

    func purged(_ numbers: [Int], _ answer: PurgeAnswer = .done(PurgeCounts())) -> EngineInput {
        .storeAnswered(
            Sample.database,
            numbers.map { (Sample.request($0), .purged(Sample.database, answer)) }
        )
    }

    func verified(_ numbers: [Int], _ answer: VerifyAnswer = .clean) -> EngineInput {
        .storeAnswered(
            Sample.database,
            numbers.map { (Sample.request($0), .verified(Sample.database, answer)) }
        )
    }
}

extension EngineInput {
    /// Requests that were accepted by a commit that has just ended.
    static func admitted(_ requests: [LoadedRequest]) -> EngineInput {
        .admitted(requests, by: .latest)
    }
}

// MARK: - What the actions are

extension [EngineAction] {
    var commits: [[StateChange]] {
        compactMap { if case .commit(let changes, _) = $0 { changes } else { nil } }
    }

    var calls: [(request: RequestID, effect: RequestEffect)] {
        compactMap {
            if case .call(let id, let call, _, _) = $0 {
                (id, RequestEffect.call(call))
            } else {
                nil
            }
        }
    }

    var fetches: [(excluding: Set<RequestID>, laneLimits: [ProviderName: Int])] {
        compactMap {
            if case .fetchDue(_, _, let excluded, let lanes, _) = $0 {
                (excluded, lanes)
            } else {
                nil
            }
        }
    }

    var loads: [(read: ReadNumber, ids: [RequestID])] {
        compactMap { if case .load(let read, let ids) = $0 { (read, ids) } else { nil } }
    }

    var exchanges: [CredentialID] {
        compactMap {
            if case .exchange(let loaded) = $0 { loaded.exchange.credential } else { nil }
        }
    }

    var purges: [[RequestID]] {
        compactMap { if case .purge(_, let orders) = $0 { orders.map(\.request) } else { nil } }
    }

    var plans: [RequestID] {
        compactMap { if case .plan(let order) = $0 { order.order.request } else { nil } }
    }

    var planSources: [[PlanSource]] {
        compactMap { if case .plan(let order) = $0 { order.sources } else { nil } }
    }

    var verifications: [[RequestID]] {
        compactMap { if case .verify(_, let orders) = $0 { orders.map(\.request) } else { nil } }
    }

    var replies: [OperationOutcome] {
        compactMap { if case .reply(_, let outcome) = $0 { outcome } else { nil } }
    }

    var reports: [EngineReport] {
        compactMap { if case .report(let report) = $0 { report } else { nil } }
    }

    var announcements: [Announcement] {
        compactMap { if case .announce(_, let announcement) = $0 { announcement } else { nil } }
    }

    var changed: [Request] {
        compactMap { if case .changed(let request) = $0 { request } else { nil } }
    }
}

extension [StateChange] {
    var saves: [Request] {
        compactMap { if case .save(let now, _, _) = $0 { now } else { nil } }
    }

    var exchanges: [CodeExchange] {
        compactMap {
            switch $0 {
            case .saveExchange(let exchange, _), .storeTokens(let exchange, _, _, _): exchange
            default: nil
            }
        }
    }

    var wakes: [ParkReason] {
        compactMap { if case .wake(let reason, _, _) = $0 { reason } else { nil } }
    }

    /// Where each wake begins.
    var wakePages: [RequestID?] {
        compactMap { if case .wake(_, let previous, _) = $0 { .some(previous) } else { nil } }
    }

    var overridesUsed: [Int] {
        compactMap { if case .useGuardOverride(let count, _) = $0 { count } else { nil } }
    }
}
