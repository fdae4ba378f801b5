package import Encoding
package import Lifecycle

/// What the daemon does for the control API: one method per route.
///
/// The server has already checked the role, the limits and the shape of every input. An
/// implementation acknowledges nothing before it is durable, and answers `request_not_found` for
/// everything that the caller may not see. Each method may also throw `unavailable`.
package protocol ControlBackend: Sendable {
    /// Takes a request, or finds the one that the key or the user already has.
    ///
    /// The key has 1 to 255 visible characters and is scoped to the caller's role and uid.
    ///
    /// - Throws: `already_open`, `idempotency_conflict`, `unknown_provider`, `malformed_option`,
    ///   `intake_paused`, `fresh_sign_in_required`; of the sign-in, what
    ///   ``reauthorize(_:with:caller:)`` throws.
    func submit(
        _ submission: WireSubmission,
        idempotencyKey: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    /// Lists requests, newest first; throws `malformed_query` for a cursor that is not ours.
    func list(
        _ filter: WireRequestFilter,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireRequest>

    /// One request with its identities and steps.
    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest

    /// Does one operator's verb to a request and answers the request as it stands after it; throws
    /// `too_late` or `wrong_state`.
    func act(
        _ action: RequestAction,
        on id: RequestID,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    /// Plans a user's deletion and does nothing; throws `unavailable` while a target cannot be
    /// asked, and `plan_refused` where waiting does not help.
    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan

    /// The last plan of a request; throws `wrong_state` when none was made.
    func plan(of id: RequestID, caller: Caller) async throws(ControlProblem) -> WirePlan

    /// Brings a fresh sign-in to a request that waits for one.
    ///
    /// - Throws: `wrong_state`, `unknown_provider`, `subject_mismatch`, `malformed_id_token`,
    ///   `reauthorization_refused` or `vault_sealed`.
    func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest

    /// The proof for one request; throws `wrong_state` before it is completed.
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

    /// A page of the messages to subscribers and by mail, the newest first.
    func messages(
        _ query: MessageQuery,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireMessage>

    /// Delivers a message again; throws `message_not_found`, or `wrong_state` for a confirmation
    /// whose address is destroyed.
    func redeliver(_ id: MessageID, caller: Caller) async throws(ControlProblem) -> WireMessage

    /// Seals one credential into the vault; throws the code of a ``CredentialRejectReason``.
    func putCredential(
        _ input: CredentialInput,
        user: UserID,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireStoredCredential

    /// Takes what a provider sent to the application's web server.
    ///
    /// A notification that is refused has an answer like any other: what to answer the provider.
    ///
    /// - Throws: `unknown_provider`, `notifications_off`, or `unavailable` when the provider's keys
    ///   cannot be read or nothing can be stored now.
    func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotification

    /// Where the erasure behind a confirmation code stands; throws `unknown_provider` or
    /// `notification_not_found`.
    func notificationStatus(
        _ code: String,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotificationStatus

    /// The identities of a user, without their secrets.
    func identities(
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireIdentity>

    /// Forgets one identity and destroys its credentials, without revoking them; throws
    /// `identity_not_found` or `deletion_in_progress`.
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

    /// The holds on targets and users, the oldest first.
    func holds(caller: Caller) async throws(ControlProblem) -> WireList<WireHold>

    /// Holds a target, or rows of it; placing the same hold again does no harm.
    ///
    /// - Throws: `unknown_target`, `filter_refused` when the target cannot leave such rows alone,
    ///   or `wrong_state` when another hold has that name.
    func placeHold(
        _ name: String,
        _ input: HoldInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireHold

    /// Lifts a hold, and answers it as it was; throws `hold_not_found`.
    func liftHold(_ name: String, caller: Caller) async throws(ControlProblem) -> WireHold

    /// Health of every provider, in configured order.
    func providers(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    /// Pauses, resumes or checks one provider; throws `unknown_provider`.
    func control(
        _ action: ComponentAction,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth

    /// Health of every target, in configured order.
    func targets(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    /// Pauses, resumes or checks one target; throws `unknown_target`.
    func control(
        _ action: ComponentAction,
        target: TargetName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth

    /// Writes rules for a target of tables; throws `unknown_target`, or `suggestion_refused` for
    /// another store, and while nobody knows which table is that of the users.
    func suggest(
        _ input: SuggestInput,
        target: TargetName,
        caller: Caller
    ) async throws(ControlProblem) -> WireSuggestion

    func setIntake(isPaused: Bool, caller: Caller) async throws(ControlProblem) -> WireStatus

    /// Opens the mass-deletion guard once, for a counted and expiring number of deletions; throws
    /// `wrong_state` when the guard is not closed.
    func overrideGuard(
        _ input: OverrideInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireGuard

    /// Reads the configuration again, as `systemctl reload` does; throws `configuration_invalid`
    /// with one error per problem.
    func reload(caller: Caller) async throws(ControlProblem) -> WireReload

    /// The hosts that share the state; empty for a state in a file.
    func hosts(caller: Caller) async throws(ControlProblem) -> WireList<WireHost>

    /// The vault's keys, who depends on them, and how far a rotation is.
    func vault(caller: Caller) async throws(ControlProblem) -> WireVault

    /// Begins to wrap every data key anew under the active vault key, in the background; throws
    /// `vault_sealed`, or `wrong_state` where another host does it.
    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault

    /// The replay that runs, or ran last.
    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay

    /// Begins to repeat erasures after a restore, in the background; one whose `id` is that of the
    /// last goes on as it is. Throws `unknown_target`, or `wrong_state` while one runs.
    func startReplay(
        _ input: ReplayTerms,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay

    /// The ledger's key, size and last checkpoint.
    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// A page of entries from the one with index `from`.
    func ledgerEntries(
        from: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries

    /// Compares every entry with every checkpoint.
    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// Goes on with a state that is older than its checkpoints, or was changed; throws
    /// `wrong_state` when it agrees with them.
    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// Reads no store.
    func health(caller: Caller) async throws(ControlProblem) -> WireServiceHealth

    func status(caller: Caller) async throws(ControlProblem) -> WireStatus

    /// How old open requests are, what they wait for, and which are due next; it may be some
    /// seconds old.
    func overview(caller: Caller) async throws(ControlProblem) -> RequestOverview

    /// What a calendar month adds up to, in a zone of the IANA database, or in UTC; throws
    /// `malformed_query` for a zone that the machine does not know.
    func report(
        _ month: CalendarMonth,
        timeZone: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireReport

    /// The metrics as Prometheus text.
    func metrics(caller: Caller) async throws(ControlProblem) -> String
}
