package import Encoding
package import Lifecycle

/// What the daemon does for the control API: one method per route.
///
/// The server has already checked the role, the limits and the shape of every input. An
/// implementation acknowledges nothing before it is durable, and answers `request_not_found` for
/// everything that the caller may not see. ``RouteTable`` lists the problems that a method throws.
package protocol ControlBackend: Sendable {
    /// Takes a request, or finds the one that the key or the user already has.
    ///
    /// The key has 1 to 255 visible characters and is scoped to the caller's role and uid.
    func submit(
        _ submission: WireSubmission,
        idempotencyKey: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    func list(
        _ filter: WireRequestFilter,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireRequest>

    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest

    /// Does one operator's verb to a request and answers the request as it stands after it.
    func act(
        _ action: RequestAction,
        on id: RequestID,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    /// Plans a user's deletion and does nothing; throws `unavailable` while a store cannot be
    /// asked, and `plan_refused` where waiting does not help.
    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan

    func plan(of id: RequestID, caller: Caller) async throws(ControlProblem) -> WirePlan

    func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    func receipt(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> JSONValue

    /// Live changes of one request, or of everything. Ends when the request or the daemon does.
    ///
    /// It begins with what happened after the event `last`, if that is still known, else with an
    /// event of the kind `reset`.
    func events(
        _ id: RequestID?,
        after last: Int64?,
        caller: Caller
    ) async throws(ControlProblem) -> AsyncStream<WireEvent>

    func messages(
        _ query: MessageQuery,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireMessage>

    /// Throws `wrong_state` for a confirmation whose address is destroyed.
    func redeliver(_ id: MessageID, caller: Caller) async throws(ControlProblem) -> WireMessage

    /// Throws the code of a ``CredentialRejectReason``.
    func putCredential(
        _ input: SubmittedCredential,
        user: UserID,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireStoredCredential

    /// Takes what a provider sent to the application's web server.
    ///
    /// A notification that is refused has an answer like any other: what to answer the provider.
    /// Throws `unavailable` when the provider's keys cannot be read.
    func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotification

    func notificationStatus(
        _ code: String,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotificationStatus

    func identities(
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireIdentity>

    func forgetIdentity(
        _ identity: IdentityID,
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem)

    /// Puts a legal hold on a user, or lifts it.
    func setHold(
        _ isHeld: Bool,
        user: UserID,
        reason: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireUserHold

    func holds(caller: Caller) async throws(ControlProblem) -> WireList<WireHold>

    /// Holds a store, or rows of it; placing the same hold again does no harm.
    ///
    /// Throws `filter_refused` when the store cannot leave such rows alone, and `wrong_state` when
    /// another hold has that name.
    func placeHold(
        _ name: String,
        _ input: HoldInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireHold

    /// Lifts a hold, and answers it as it was.
    func liftHold(_ name: String, caller: Caller) async throws(ControlProblem) -> WireHold

    /// Health of every provider, in configured order.
    func providers(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    func control(
        _ action: ComponentAction,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth

    /// Health of every store, in configured order.
    func stores(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    func control(
        _ action: ComponentAction,
        store: StoreName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth

    /// Throws `suggestion_refused` for a store without tables, and while it is unknown which table
    /// is that of the users.
    func suggest(
        _ input: SuggestInput,
        store: StoreName,
        caller: Caller
    ) async throws(ControlProblem) -> WireSuggestion

    func setIntake(isPaused: Bool, caller: Caller) async throws(ControlProblem) -> WireStatus

    /// Throws `wrong_state` when the guard is not closed.
    func overrideGuard(
        _ input: OverrideInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireGuard

    /// Throws `configuration_invalid` with one error per problem.
    func reload(caller: Caller) async throws(ControlProblem) -> ReloadResult

    /// The configuration in force; secrets are names of credentials.
    func settings(
        _ view: SettingsView,
        caller: Caller
    ) async throws(ControlProblem) -> WireSettings

    func hosts(caller: Caller) async throws(ControlProblem) -> WireList<WireHost>

    func vault(caller: Caller) async throws(ControlProblem) -> WireVault

    /// Works in the background; throws `wrong_state` where another host does it.
    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault

    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay

    /// Works in the background; a replay whose `id` is that of the last goes on as it is. Throws
    /// `wrong_state` while another runs.
    func startReplay(
        _ input: ReplayTerms,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay

    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger

    func ledgerEntries(
        from: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries

    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// Throws `wrong_state` when the state agrees with its checkpoints.
    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// Reads no store.
    func health(caller: Caller) async throws(ControlProblem) -> WireServiceHealth

    func status(caller: Caller) async throws(ControlProblem) -> WireStatus

    /// How old open requests are, what they wait for, and which are due next; it may be some
    /// seconds old.
    func overview(caller: Caller) async throws(ControlProblem) -> RequestOverview

    /// Counts in a zone of the IANA database, or in UTC; throws `malformed_query` for a zone that
    /// the machine does not know.
    func report(
        _ month: CalendarMonth,
        timeZone: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireReport

    func metrics(caller: Caller) async throws(ControlProblem) -> String
}
