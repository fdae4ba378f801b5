package import Control
package import Encoding
package import Lifecycle

/// One call of the API, and how its answer is read.
package struct ControlCall<Answer: Sendable>: Sendable {
    let operation: Operation
    let values: [String]
    let read: @Sendable ([UInt8]) throws -> Answer
    var query = ""
    var body: [UInt8]?
    var idempotencyKey: String?
    /// Header fields that go with a raw body.
    var fields: [String: String]?

    /// A fresh sign-in works once, and an override counts.
    var isRepeatable: Bool { operation != .reauthorizeRequest && operation != .overrideGuard }

    init(
        _ operation: Operation,
        _ values: [String] = [],
        read: @escaping @Sendable ([UInt8]) throws -> Answer
    ) {
        (self.operation, self.values, self.read) = (operation, values, read)
    }
}

extension ControlCall where Answer: Decodable {
    init(_ operation: Operation, _ values: [String] = [], body: [UInt8]? = nil) {
        self.init(operation, values) { try TypedJSON.value(Answer.self, from: $0, .snakeCase) }
        self.body = body
    }
}

extension ControlCall where Answer == WireRequest {
    /// Hands in a request; `idempotencyKey` is the same for every try of the same intention.
    package static func submit(_ submission: WireSubmission, idempotencyKey: String) -> Self {
        var call = Self(.submitRequest, body: submission.body)
        call.idempotencyKey = idempotencyKey
        return call
    }

    package static func show(_ id: RequestID) -> Self { Self(.showRequest, [id.description]) }

    package static func act(_ action: RequestAction, on id: RequestID) -> Self {
        let values = [id.description]
        return switch action {
        case .cancel: Self(.cancelRequest, values)
        case .retry: Self(.retryRequest, values)
        case .release: Self(.releaseRequest, values)
        case .approve(let plan): Self(.approveRequest, values, body: ApproveInput(plan: plan).body)
        case .hold(let reason): Self(.holdRequest, values, body: ReasonInput(reason: reason).body)
        case .abandon(let reason, let provider):
            Self(
                .abandonRequest,
                values,
                body: AbandonInput(reason: reason, provider: provider).body
            )
        }
    }

    package static func reauthorize(_ id: RequestID, with input: ReauthorizeInput) -> Self {
        Self(.reauthorizeRequest, [id.description], body: input.body)
    }
}

extension ControlCall where Answer == WireList<WireRequest> {
    package static func list(_ filter: WireRequestFilter) -> Self {
        var call = Self(.listRequests)
        call.query = filter.query
        return call
    }
}

extension ControlCall where Answer == WirePlan {
    package static func makePlan(for user: UserID) -> Self {
        Self(.makePlan, body: PlanInput(user: user).body)
    }

    package static func plan(of id: RequestID) -> Self { Self(.showPlan, [id.description]) }
}

extension ControlCall where Answer == JSONValue {
    package static func receipt(_ id: RequestID) -> ControlCall<JSONValue> {
        Self(.showReceipt, [id.description]) { try JSONReader.read($0) }
    }
}

extension ControlCall where Answer == WireStoredCredential {
    package static func putCredential(
        _ input: SubmittedCredential,
        user: UserID,
        provider: ProviderName
    ) -> Self {
        Self(.putCredential, [user.exposeText(), provider.rawValue], body: input.body)
    }
}

extension ControlCall where Answer == WireNotification {
    package static func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName
    ) -> Self {
        var call = Self(.takeNotification, [provider.rawValue], body: input.body)
        call.fields = input.fields
        return call
    }
}

extension ControlCall where Answer == WireNotificationStatus {
    package static func notificationStatus(_ code: String, provider: ProviderName) -> Self {
        Self(.notificationStatus, [provider.rawValue, code])
    }
}

extension ControlCall where Answer == WireList<WireIdentity> {
    package static func identities(of user: UserID) -> Self {
        Self(.listIdentities, [user.exposeText()])
    }
}

extension ControlCall where Answer == Void {
    package static func forgetIdentity(_ identity: IdentityID, of user: UserID) -> Self {
        Self(.forgetIdentity, [user.exposeText(), identity.description]) { _ in }
    }
}

extension ControlCall where Answer == WireUserHold {
    package static func holdUser(_ user: UserID, reason: String?) -> Self {
        Self(.holdUser, [user.exposeText()], body: ReasonInput(reason: reason).body)
    }

    package static func releaseUser(_ user: UserID) -> Self {
        Self(.releaseUser, [user.exposeText()])
    }
}

extension ControlCall where Answer == WireList<WireMessage> {
    package static func messages(_ query: MessageQuery) -> Self {
        var call = Self(.listMessages)
        call.query = query.query
        return call
    }
}

extension ControlCall where Answer == WireMessage {
    package static func redeliver(_ id: MessageID) -> Self {
        Self(.redeliverMessage, [id.description])
    }
}

extension ControlCall where Answer == WireList<WireHold> {
    package static var holds: Self { Self(.listHolds) }
}

extension ControlCall where Answer == WireHold {
    package static func placeHold(_ name: String, _ input: HoldInput) -> Self {
        Self(.holdStore, [name], body: input.body)
    }

    package static func liftHold(_ name: String) -> Self { Self(.liftHold, [name]) }
}

extension ControlCall where Answer == WireList<WireHealth> {
    package static var providers: Self { Self(.listProviders) }
    package static var stores: Self { Self(.listStores) }
}

extension ControlCall where Answer == WireHealth {
    package static func control(_ action: ComponentAction, provider: ProviderName) -> Self {
        Self(action.providerOperation, [provider.rawValue])
    }

    package static func control(_ action: ComponentAction, store: StoreName) -> Self {
        Self(action.storeOperation, [store.rawValue])
    }
}

extension ControlCall where Answer == WireSuggestion {
    package static func suggest(_ input: SuggestInput, store: StoreName) -> Self {
        Self(.suggestRules, [store.rawValue], body: input.body)
    }
}

extension ControlCall where Answer == WireStatus {
    package static var status: Self { Self(.status) }

    package static func setIntake(isPaused: Bool) -> Self {
        Self(isPaused ? .pauseIntake : .resumeIntake)
    }
}

extension ControlCall where Answer == WireGuard {
    package static func overrideGuard(_ input: OverrideInput) -> Self {
        Self(.overrideGuard, body: input.body)
    }
}

extension ControlCall where Answer == ReloadResult {
    package static var reload: Self { Self(.reloadConfiguration) }
}

extension ControlCall where Answer == WireSettings {
    package static func settings(_ view: SettingsView) -> Self {
        Self(.showSettings, [view.rawValue])
    }
}

extension ControlCall where Answer == WireList<WireHost> {
    package static var hosts: Self { Self(.listHosts) }
}

extension ControlCall where Answer == WireVault {
    package static var vault: Self { Self(.showVault) }
    package static var rotateVault: Self { Self(.rotateVault) }
}

extension ControlCall where Answer == WireReplay {
    package static var replay: Self { Self(.showReplay) }

    /// Begins a replay.
    ///
    /// One without an id is another one each time: if its answer is lost, the next try may be
    /// refused because a replay runs.
    package static func startReplay(_ input: ReplayTerms) -> Self {
        Self(.startReplay, body: input.body)
    }
}

extension ControlCall where Answer == WireLedger {
    package static var ledger: Self { Self(.showLedger) }
    package static var verifyLedger: Self { Self(.verifyLedger) }
    package static var acceptRollback: Self { Self(.acceptRollback) }
}

extension ControlCall where Answer == WireLedgerEntries {
    package static func ledgerEntries(from index: Int) -> Self {
        Self(.ledgerEntries, ["\(index)"])
    }
}

extension ControlCall where Answer == WireReport {
    package static func report(_ month: CalendarMonth, timeZone: String?) -> Self {
        var call = Self(.showReport, [month.description])
        call.query = ReportQuery(timeZone: timeZone).query
        return call
    }
}

extension ControlCall where Answer == String {
    package static var metrics: Self { Self(.metrics) { String(decoding: $0, as: UTF8.self) } }
}

extension ControlCall where Answer == WireEvent {
    /// The live changes of one request, or of everything.
    static func watch(_ id: RequestID?) -> Self {
        id.map { Self(.watchRequest, [$0.description]) } ?? Self(.watchAll)
    }
}
