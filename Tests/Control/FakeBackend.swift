import Control
import Encoding
import Lifecycle
import Synchronization
import Testing

/// A backend that answers samples, remembers every call, and fails the test on a call that the test
/// did not announce.
final class FakeBackend: ControlBackend {
    /// One call: what, by whom, and the facts that matter, as text.
    struct Call: Sendable, Equatable {
        let operation: Operation
        let caller: Caller
        var facts: String = ""
    }

    private struct State {
        var expected: Set<Operation>
        var calls: [Call] = []
        var problem: ControlProblem?
        var shown: [WireRequest] = []
        var streams: [AsyncStream<WireEvent>.Continuation] = []
    }

    private let state: Mutex<State>
    /// Runs inside `submit`, so that a test can hold an answer back.
    let onSubmit: (@Sendable () async -> Void)?
    /// Runs once a subscriber is there.
    let onSubscribe: (@Sendable () -> Void)?
    /// What to say of a replay, which is begun with an order.
    let onReplay: (@Sendable (ReplayTerms?) -> WireReplay)?

    init(
        expecting expected: Set<Operation>,
        problem: ControlProblem? = nil,
        shown: [WireRequest] = [],
        onSubmit: (@Sendable () async -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil,
        onReplay: (@Sendable (ReplayTerms?) -> WireReplay)? = nil
    ) {
        state = Mutex(State(expected: expected, problem: problem, shown: shown))
        self.onSubmit = onSubmit
        self.onSubscribe = onSubscribe
        self.onReplay = onReplay
    }

    var calls: [Call] { state.withLock(\.calls) }

    /// Sends an event to every subscriber.
    func send(_ event: WireEvent) {
        for stream in state.withLock(\.streams) { stream.yield(event) }
    }

    /// Ends every subscription, as a stopping daemon does.
    func endStreams() {
        for stream in state.withLock(\.streams) { stream.finish() }
    }

    private func note(
        _ operation: Operation,
        _ caller: Caller,
        _ facts: String = ""
    )
        throws(ControlProblem)
    {
        let (isExpected, problem) = state.withLock { state in
            state.calls.append(Call(operation: operation, caller: caller, facts: facts))
            return (state.expected.contains(operation), state.problem)
        }
        guard isExpected else {
            Issue.record("unexpected call of \(operation)")
            throw ControlProblem(.internal)
        }
        if let problem { throw problem }
    }

    func submit(
        _ submission: WireSubmission,
        idempotencyKey: String?,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest
    {
        if let onSubmit { await onSubmit() }
        try note(
            .submitRequest,
            caller,
            "\(submission.kind.rawValue) \(submission.user.exposeText()) \(idempotencyKey ?? "-")"
        )
        return Samples.request()
    }

    func list(
        _ filter: WireRequestFilter,
        caller: Caller
    ) async throws(ControlProblem)
        -> WireList<WireRequest>
    {
        try note(.listRequests, caller, filter.query)
        if filter.idPrefix != nil {
            let shown = state.withLock(\.shown)
            return WireList(shown.filter { filter.state == nil || $0.state.known == filter.state })
        }
        return WireList([Samples.request()], nextCursor: "c2")
    }

    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest {
        try note(.showRequest, caller, id.description)
        return state.withLock { state in
            state.shown.count > 1
                ? state.shown.removeFirst() : state.shown.first ?? Samples.fullRequest
        }
    }

    func act(
        _ action: RequestAction,
        on id: RequestID,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest
    {
        switch action {
        case .cancel: try note(.cancelRequest, caller)
        case .retry: try note(.retryRequest, caller)
        case .hold(let reason): try note(.holdRequest, caller, reason ?? "-")
        case .release: try note(.releaseRequest, caller)
        case .approve(let plan): try note(.approveRequest, caller, plan)
        case .abandon(let reason, let provider):
            try note(.abandonRequest, caller, "\(reason) \(provider?.rawValue ?? "-")")
        }
        return Samples.request()
    }

    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan {
        try note(.makePlan, caller, user.exposeText())
        if let onSubmit { await onSubmit() }
        return Samples.dryRun
    }

    func plan(of id: RequestID, caller: Caller) async throws(ControlProblem) -> WirePlan {
        try note(.showPlan, caller, id.description)
        return Samples.plan
    }

    func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest
    {
        try note(
            .reauthorizeRequest,
            caller,
            "\(input.provider) \(input.idToken?.count ?? 0) \(input.code?.count ?? 0)"
        )
        return Samples.request(.revoking)
    }

    func receipt(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> JSONValue {
        try note(.showReceipt, caller)
        return .object([.init("request_id", .string(id.description)), .init("rows", .integer(16))])
    }

    func events(
        _ id: RequestID?,
        after last: Int64?,
        caller: Caller
    ) async throws(ControlProblem)
        -> AsyncStream<WireEvent>
    {
        try note(id == nil ? .watchAll : .watchRequest, caller, last.map { "after \($0)" } ?? "")
        let (stream, continuation) = AsyncStream.makeStream(
            of: WireEvent.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        state.withLock { $0.streams.append(continuation) }
        onSubscribe?()
        return stream
    }

    func putCredential(
        _ input: SubmittedCredential,
        user: UserID,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireStoredCredential {
        try note(
            .putCredential,
            caller,
            "\(user.exposeText()) \(provider) \(input.kind.rawValue) \(input.secret.count)"
        )
        return WireStoredCredential(identityID: Samples.identityID, state: .pending)
    }

    func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotification {
        let fields = input.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        try note(
            .takeNotification,
            caller,
            ([provider.rawValue, String(decoding: input.body, as: UTF8.self)] + fields)
                .joined(separator: " ")
        )
        return Samples.notification
    }

    func notificationStatus(
        _ code: String,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotificationStatus {
        try note(.notificationStatus, caller, "\(provider) \(code)")
        return Samples.notificationStatus
    }

    func identities(
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem)
        -> WireList<WireIdentity>
    {
        try note(.listIdentities, caller, user.exposeText())
        return WireList([Samples.identity])
    }

    func forgetIdentity(
        _ identity: IdentityID,
        of user: UserID,
        caller: Caller
    )
        async throws(ControlProblem)
    {
        try note(.forgetIdentity, caller, user.exposeText())
    }

    func setHold(
        _ isHeld: Bool,
        user: UserID,
        reason: String?,
        caller: Caller
    )
        async throws(ControlProblem) -> WireUserHold
    {
        try note(isHeld ? .holdUser : .releaseUser, caller, user.exposeText())
        return WireUserHold(
            name: Samples.userHold.name,
            isHeld: isHeld,
            since: Samples.time,
            requestIDs: [Samples.requestID]
        )
    }

    func providers(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth> {
        try note(.listProviders, caller)
        return WireList([Samples.health("apple")])
    }

    func control(
        _ action: ComponentAction,
        provider: ProviderName,
        caller: Caller
    )
        async throws(ControlProblem) -> WireHealth
    {
        switch action {
        case .check: try note(.checkProvider, caller)
        case .pause: try note(.pauseProvider, caller)
        case .resume: try note(.resumeProvider, caller)
        }
        return Samples.health(provider.rawValue)
    }

    func stores(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth> {
        try note(.listStores, caller)
        return WireList([Samples.health("app-db")])
    }

    func control(
        _ action: ComponentAction,
        store: StoreName,
        caller: Caller
    )
        async throws(ControlProblem) -> WireHealth
    {
        switch action {
        case .check: try note(.checkStore, caller)
        case .pause: try note(.pauseStore, caller)
        case .resume: try note(.resumeStore, caller)
        }
        return Samples.health(store.rawValue)
    }

    func suggest(
        _ input: SuggestInput,
        store: StoreName,
        caller: Caller
    ) async throws(ControlProblem) -> WireSuggestion {
        try note(.suggestRules, caller, input.userTable ?? "")
        return WireSuggestion(name: store.rawValue, configuration: "[[store]]\n")
    }

    func setIntake(isPaused: Bool, caller: Caller) async throws(ControlProblem) -> WireStatus {
        try note(isPaused ? .pauseIntake : .resumeIntake, caller)
        var status = Samples.status
        status.isIntakePaused = isPaused
        return status
    }

    func holds(caller: Caller) async throws(ControlProblem) -> WireList<WireHold> {
        try note(.listHolds, caller)
        return WireList([Samples.hold, Samples.userHold])
    }

    func messages(
        _ query: MessageQuery,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireMessage> {
        try note(.listMessages, caller, query.query)
        return WireList([Samples.message])
    }

    func redeliver(_ id: MessageID, caller: Caller) async throws(ControlProblem) -> WireMessage {
        try note(.redeliverMessage, caller, id.description)
        return Samples.message
    }

    func placeHold(
        _ name: String,
        _ input: HoldInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireHold {
        try note(.holdStore, caller, "\(name) \(String(decoding: input.body, as: UTF8.self))")
        return Samples.hold
    }

    func liftHold(_ name: String, caller: Caller) async throws(ControlProblem) -> WireHold {
        try note(.liftHold, caller, name)
        return Samples.hold
    }

    func overrideGuard(
        _ input: OverrideInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireGuard {
        try note(.overrideGuard, caller, input.count.map { "\($0)" } ?? "")
        return Samples.guardState
    }

    func reload(caller: Caller) async throws(ControlProblem) -> ReloadResult {
        try note(.reloadConfiguration, caller)
        return ReloadResult(
            reloadedAt: Samples.time,
            changed: ["requests.deadline"],
            needRestart: ["vault"]
        )
    }

    func settings(
        _ view: SettingsView,
        caller: Caller
    ) async throws(ControlProblem) -> WireSettings {
        try note(.showSettings, caller, view.rawValue)
        return Samples.settings
    }

    func hosts(caller: Caller) async throws(ControlProblem) -> WireList<WireHost> {
        try note(.listHosts, caller)
        return WireList(Samples.hosts)
    }

    func vault(caller: Caller) async throws(ControlProblem) -> WireVault {
        try note(.showVault, caller)
        return Samples.vault
    }

    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault {
        try note(.rotateVault, caller)
        return Samples.vault
    }

    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay {
        try note(.showReplay, caller)
        return onReplay?(nil) ?? Samples.replay
    }

    func startReplay(
        _ input: ReplayTerms,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay {
        let facts = "\(input.since.rfc3339) \(input.store?.rawValue ?? "-") \(input.isDrill)"
        try note(.startReplay, caller, facts)
        if let onReplay { return onReplay(input) }
        var replay = Samples.replay
        replay.id = input.id
        return replay
    }

    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        try note(.showLedger, caller)
        return Samples.ledger
    }

    func ledgerEntries(
        from: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries {
        try note(.ledgerEntries, caller, "\(from)")
        return Samples.ledgerEntries(from: from)
    }

    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        try note(.verifyLedger, caller)
        return Samples.damagedLedger
    }

    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger {
        try note(.acceptRollback, caller)
        return Samples.ledger
    }

    func status(caller: Caller) async throws(ControlProblem) -> WireStatus {
        try note(.status, caller)
        return Samples.status
    }

    func overview(caller: Caller) async throws(ControlProblem) -> RequestOverview {
        try note(.showPage, caller)
        return Samples.overview
    }

    func report(
        _ month: CalendarMonth,
        timeZone: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireReport {
        try note(.showReport, caller, "\(month) \(timeZone ?? "-")")
        return Samples.report(of: month, in: timeZone ?? "UTC")
    }

    func metrics(caller: Caller) async throws(ControlProblem) -> String {
        try note(.metrics, caller)
        return "# TYPE expunged_requests gauge\nexpunged_requests 1\n"
    }

    func health(caller: Caller) async throws(ControlProblem) -> WireServiceHealth {
        // The client asks this first, to see that anyone answers.
        if state.withLock({ $0.expected == [.health] }) { try note(.health, caller) }
        return WireServiceHealth(version: "1.0", isIntakePaused: false, isVaultSealed: false)
    }
}
