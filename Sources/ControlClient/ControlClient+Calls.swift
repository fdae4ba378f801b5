package import Control
package import Encoding
package import Lifecycle

/// One method per operation.
extension ControlClient {
    /// Hands in a request.
    ///
    /// - Parameters:
    ///   - submission: What is asked for.
    ///   - idempotencyKey: The same for every try of the same intention.
    /// - Returns: The request, durable.
    /// - Throws: ``ControlClientError``.
    package func submit(
        _ submission: Submission,
        idempotencyKey: String
    )
        async throws(ControlClientError) -> WireRequest
    {
        try await value(
            Call(
                operation: .submitRequest,
                body: submission.body,
                idempotencyKey: idempotencyKey
            )
        )
    }

    /// Lists requests.
    ///
    /// - Throws: ``ControlClientError``.
    package func list(
        _ filter: RequestFilter
    ) async throws(ControlClientError)
        -> WireList<WireRequest>
    {
        try await value(Call(operation: .listRequests, query: filter.query))
    }

    /// Shows one request.
    ///
    /// - Throws: ``ControlClientError``.
    package func show(_ id: RequestID) async throws(ControlClientError) -> WireRequest {
        try await value(Call(operation: .showRequest, values: [id.description]))
    }

    /// Does an operator's verb to a request.
    ///
    /// - Throws: ``ControlClientError``.
    package func act(
        _ action: RequestAction,
        on id: RequestID
    ) async throws(ControlClientError)
        -> WireRequest
    {
        let values = [id.description]
        return switch action {
        case .cancel: try await value(Call(operation: .cancelRequest, values: values))
        case .retry: try await value(Call(operation: .retryRequest, values: values))
        case .release: try await value(Call(operation: .releaseRequest, values: values))
        case .approve(let plan):
            try await value(
                Call(
                    operation: .approveRequest,
                    values: values,
                    body: ApproveInput(plan: plan).body
                )
            )
        case .hold(let reason):
            try await value(
                Call(
                    operation: .holdRequest,
                    values: values,
                    body: ReasonInput(reason: reason).body
                )
            )
        case .abandon(let reason, let provider):
            try await value(
                Call(
                    operation: .abandonRequest,
                    values: values,
                    body: ReasonInput(reason: reason, provider: provider).body
                )
            )
        }
    }

    /// Plans a user's deletion; nothing is done.
    ///
    /// - Throws: ``ControlClientError``.
    package func makePlan(for user: UserID) async throws(ControlClientError) -> WirePlan {
        try await value(Call(operation: .makePlan, body: PlanInput(user: user).body))
    }

    /// The plan of a request.
    ///
    /// - Throws: ``ControlClientError``.
    package func plan(of id: RequestID) async throws(ControlClientError) -> WirePlan {
        try await value(Call(operation: .showPlan, values: [id.description]))
    }

    /// Brings a fresh sign-in; never repeated, since a code works once.
    ///
    /// - Throws: ``ControlClientError``.
    package func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput
    )
        async throws(ControlClientError) -> WireRequest
    {
        try await value(
            Call(operation: .reauthorizeRequest, values: [id.description], body: input.body)
        )
    }

    /// The receipt of a request.
    ///
    /// - Throws: ``ControlClientError``.
    package func receipt(_ id: RequestID) async throws(ControlClientError) -> JSONValue {
        let body = try await bytes(Call(operation: .showReceipt, values: [id.description]))
        do {
            return try JSONReader.read(body)
        } catch {
            throw failure(.malformedAnswer)
        }
    }

    /// Stores a credential.
    ///
    /// - Throws: ``ControlClientError``.
    package func putCredential(
        _ input: CredentialInput,
        user: UserID,
        provider: ProviderName
    )
        async throws(ControlClientError) -> WireStoredCredential
    {
        try await value(
            Call(
                operation: .putCredential,
                values: [user.exposeText(), provider.rawValue],
                body: input.body
            )
        )
    }

    /// Hands on what a provider sent.
    ///
    /// - Throws: ``ControlClientError``.
    package func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName
    ) async throws(ControlClientError) -> WireNotification {
        try await value(
            Call(
                operation: .takeNotification,
                values: [provider.rawValue],
                body: input.body,
                fields: input.fields
            )
        )
    }

    /// Where the erasure behind a confirmation code stands.
    ///
    /// - Throws: ``ControlClientError``.
    package func notificationStatus(
        _ code: String,
        provider: ProviderName
    ) async throws(ControlClientError) -> WireNotificationStatus {
        try await value(
            Call(operation: .notificationStatus, values: [provider.rawValue, code])
        )
    }

    /// The identities of a user.
    ///
    /// - Throws: ``ControlClientError``.
    package func identities(
        of user: UserID
    ) async throws(ControlClientError)
        -> WireList<WireIdentity>
    {
        try await value(Call(operation: .listIdentities, values: [user.exposeText()]))
    }

    /// Forgets one identity.
    ///
    /// - Throws: ``ControlClientError``.
    package func forgetIdentity(
        _ identity: IdentityID,
        of user: UserID
    )
        async throws(ControlClientError)
    {
        try await bytes(
            Call(
                operation: .forgetIdentity,
                values: [user.exposeText(), identity.description]
            )
        )
    }

    /// Puts a legal hold on a user.
    ///
    /// - Throws: ``ControlClientError``.
    package func holdUser(
        _ user: UserID,
        reason: String?
    ) async throws(ControlClientError)
        -> WireUserHold
    {
        try await value(
            Call(
                operation: .holdUser,
                values: [user.exposeText()],
                body: ReasonInput(reason: reason).body
            )
        )
    }

    /// Lifts the legal hold on a user.
    ///
    /// - Throws: ``ControlClientError``.
    package func releaseUser(_ user: UserID) async throws(ControlClientError) -> WireUserHold {
        try await value(Call(operation: .releaseUser, values: [user.exposeText()]))
    }

    /// The holds on targets.
    ///
    /// - Throws: ``ControlClientError``.
    package func holds() async throws(ControlClientError) -> WireList<WireHold> {
        try await value(Call(operation: .listHolds))
    }

    /// Holds a target, or rows of it.
    ///
    /// - Throws: ``ControlClientError``.
    package func placeHold(
        _ name: String,
        _ input: HoldInput
    ) async throws(ControlClientError) -> WireHold {
        try await value(Call(operation: .holdTarget, values: [name], body: input.body))
    }

    /// Lifts a hold on a target.
    ///
    /// - Throws: ``ControlClientError``.
    package func liftHold(_ name: String) async throws(ControlClientError) -> WireHold {
        try await value(Call(operation: .liftHold, values: [name]))
    }

    /// Health of the providers.
    ///
    /// - Throws: ``ControlClientError``.
    package func providers() async throws(ControlClientError) -> WireList<WireHealth> {
        try await value(Call(operation: .listProviders))
    }

    /// Pauses, resumes or checks a provider.
    ///
    /// - Throws: ``ControlClientError``.
    package func control(
        _ action: ComponentAction,
        provider: ProviderName
    )
        async throws(ControlClientError) -> WireHealth
    {
        let operation: Operation =
            switch action {
            case .pause: .pauseProvider
            case .resume: .resumeProvider
            case .check: .checkProvider
            }
        return try await value(Call(operation: operation, values: [provider.rawValue]))
    }

    /// Health of the targets.
    ///
    /// - Throws: ``ControlClientError``.
    package func targets() async throws(ControlClientError) -> WireList<WireHealth> {
        try await value(Call(operation: .listTargets))
    }

    /// Pauses, resumes or checks a target.
    ///
    /// - Throws: ``ControlClientError``.
    package func control(
        _ action: ComponentAction,
        target: TargetName
    )
        async throws(ControlClientError) -> WireHealth
    {
        let operation: Operation =
            switch action {
            case .pause: .pauseTarget
            case .resume: .resumeTarget
            case .check: .checkTarget
            }
        return try await value(Call(operation: operation, values: [target.rawValue]))
    }

    /// Stops or starts the intake.
    ///
    /// - Throws: ``ControlClientError``.
    package func setIntake(isPaused: Bool) async throws(ControlClientError) -> WireStatus {
        try await value(Call(operation: isPaused ? .pauseIntake : .resumeIntake))
    }

    /// Opens the mass-deletion guard once; never repeated, since it counts.
    ///
    /// - Throws: ``ControlClientError``.
    package func overrideGuard(
        _ input: OverrideInput
    ) async throws(ControlClientError) -> WireGuard {
        try await value(Call(operation: .overrideGuard, body: input.body))
    }

    /// Reads the configuration again.
    ///
    /// - Throws: ``ControlClientError``.
    package func reload() async throws(ControlClientError) -> WireReload {
        try await value(Call(operation: .reloadConfiguration))
    }

    /// The vault's keys.
    ///
    /// - Throws: ``ControlClientError``.
    package func vault() async throws(ControlClientError) -> WireVault {
        try await value(Call(operation: .showVault))
    }

    /// Begins to wrap every data key anew.
    ///
    /// - Throws: ``ControlClientError``.
    package func rotateVault() async throws(ControlClientError) -> WireVault {
        try await value(Call(operation: .rotateVault))
    }

    /// The replay that runs, or ran last.
    ///
    /// - Throws: ``ControlClientError``.
    package func replay() async throws(ControlClientError) -> WireReplay {
        try await value(Call(operation: .showReplay))
    }

    /// Begins to erase again what a restored backup brought back.
    ///
    /// One without an id is another one each time, so where its answer is lost it may be refused as
    /// running.
    ///
    /// - Throws: ``ControlClientError``.
    package func startReplay(
        _ input: ReplayInput
    ) async throws(ControlClientError) -> WireReplay {
        try await value(Call(operation: .startReplay, body: input.body))
    }

    /// The ledger's key, size and last checkpoint.
    ///
    /// - Throws: ``ControlClientError``.
    package func ledger() async throws(ControlClientError) -> WireLedger {
        try await value(Call(operation: .showLedger))
    }

    /// A page of the ledger's entries.
    ///
    /// - Throws: ``ControlClientError``.
    package func ledgerEntries(
        from index: Int
    ) async throws(ControlClientError) -> WireLedgerEntries {
        try await value(Call(operation: .ledgerEntries, values: ["\(index)"]))
    }

    /// Compares every entry with every checkpoint.
    ///
    /// - Throws: ``ControlClientError``.
    package func verifyLedger() async throws(ControlClientError) -> WireLedger {
        try await value(Call(operation: .verifyLedger))
    }

    /// Goes on with a state that is older than its checkpoints.
    ///
    /// - Throws: ``ControlClientError``.
    package func acceptRollback() async throws(ControlClientError) -> WireLedger {
        try await value(Call(operation: .acceptRollback))
    }

    /// How the daemon is doing.
    ///
    /// - Throws: ``ControlClientError``.
    package func status() async throws(ControlClientError) -> WireStatus {
        try await value(Call(operation: .status))
    }

    /// The metrics as OpenMetrics text.
    ///
    /// - Throws: ``ControlClientError``.
    package func metrics() async throws(ControlClientError) -> String {
        String(decoding: try await bytes(Call(operation: .metrics)), as: UTF8.self)
    }
}
