package import Encoding
package import Lifecycle

/// What the daemon does for the control API: one method per route.
///
/// The server has already checked the role, the limits and the shape of every input. An
/// implementation acknowledges nothing before it is durable, and answers `request_not_found` for
/// everything that the caller may not see.
package protocol ControlBackend: Sendable {
    /// Takes a request, or finds the one that the key or the user already has.
    ///
    /// - Parameters:
    ///   - submission: What is asked for.
    ///   - idempotencyKey: 1 to 255 visible characters; scoped to the caller's role and uid.
    ///   - caller: Who asks.
    /// - Returns: The request as it stands once it is durable.
    /// - Throws: ``ControlProblem`` with `already_open`, `idempotency_conflict`,
    ///   `unknown_provider`, `malformed_option`, `intake_paused`, `fresh_sign_in_required` or
    ///   `unavailable`; of the sign-in, what ``reauthorize(_:with:caller:)`` throws.
    func submit(
        _ submission: Submission,
        idempotencyKey: String?,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest

    /// Lists requests, newest first.
    ///
    /// - Throws: ``ControlProblem`` with `malformed_query` for a cursor that is not ours.
    func list(
        _ filter: RequestFilter,
        caller: Caller
    ) async throws(ControlProblem)
        -> WireList<WireRequest>

    /// One request with its identities and steps.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found`.
    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest

    /// Does one operator's verb to a request and answers the request as it stands after it.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found`, `too_late` or `wrong_state`.
    func act(
        _ action: RequestAction,
        on id: RequestID,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest

    /// Plans a user's deletion and does nothing.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable` while a target cannot be asked.
    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan

    /// The plan of a request that was made last.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found` or `wrong_state` (none was made).
    func plan(of id: RequestID, caller: Caller) async throws(ControlProblem) -> WirePlan

    /// Brings a fresh sign-in to a request that waits for one.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found`, `wrong_state`, `unknown_provider`,
    ///   `subject_mismatch`, `malformed_id_token`, `reauthorization_refused` or `vault_sealed`.
    func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput,
        caller: Caller
    )
        async throws(ControlProblem) -> WireRequest

    /// The proof for one request.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found` or `wrong_state` (not completed yet).
    func receipt(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> JSONValue

    /// Live changes of one request, or of everything. Ends when the request or the daemon does.
    ///
    /// - Throws: ``ControlProblem`` with `request_not_found` or `unavailable`.
    func events(
        _ id: RequestID?,
        caller: Caller
    ) async throws(ControlProblem)
        -> AsyncStream<WireEvent>

    /// Seals one credential into the vault.
    ///
    /// - Throws: ``ControlProblem`` with a ``CredentialRejectReason``'s code.
    func putCredential(
        _ input: CredentialInput,
        user: UserID,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireStoredCredential

    /// Takes what a provider sent to the application's web server.
    ///
    /// A notification that is not believed is an answer like any other: it says what the provider
    /// is to be told.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_provider`, `notifications_off`, or `unavailable`
    ///   when the provider's keys cannot be read or nothing can be stored now.
    func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotification

    /// Where the erasure behind a confirmation code stands.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_provider` or `notification_not_found`.
    func notificationStatus(
        _ code: String,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotificationStatus

    /// The identities of a user, without their secrets.
    ///
    /// - Throws: ``ControlProblem`` when the store cannot be read (`unavailable`).
    func identities(
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem)
        -> WireList<WireIdentity>

    /// Forgets one identity and destroys its credentials, without revoking them.
    ///
    /// - Throws: ``ControlProblem`` with `identity_not_found` or `deletion_in_progress`.
    func forgetIdentity(
        _ identity: IdentityID,
        of user: UserID,
        caller: Caller
    )
        async throws(ControlProblem)

    /// Puts a legal hold on a user, or lifts it.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func setHold(
        _ isHeld: Bool,
        user: UserID,
        reason: String?,
        caller: Caller
    )
        async throws(ControlProblem) -> WireUserHold

    /// The holds on targets, the oldest first.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func holds(caller: Caller) async throws(ControlProblem) -> WireList<WireHold>

    /// Holds a target, or rows of it; placing the same hold again does no harm.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_target`, `filter_refused` when the target cannot
    ///   leave such rows alone, or `wrong_state` when another hold has that name.
    func placeHold(
        _ name: String,
        _ input: HoldInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireHold

    /// Lifts a hold, and answers it as it was.
    ///
    /// - Throws: ``ControlProblem`` with `hold_not_found`.
    func liftHold(_ name: String, caller: Caller) async throws(ControlProblem) -> WireHold

    /// Health of every provider, in configured order.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func providers(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    /// Pauses, resumes or checks one provider.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_provider`.
    func control(
        _ action: ComponentAction,
        provider: ProviderName,
        caller: Caller
    )
        async throws(ControlProblem) -> WireHealth

    /// Health of every target, in configured order.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func targets(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth>

    /// Pauses, resumes or checks one target.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_target`.
    func control(
        _ action: ComponentAction,
        target: TargetName,
        caller: Caller
    )
        async throws(ControlProblem) -> WireHealth

    /// Stops or starts taking requests.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func setIntake(isPaused: Bool, caller: Caller) async throws(ControlProblem) -> WireStatus

    /// Opens the mass-deletion guard once, for a counted and expiring number of deletions.
    ///
    /// - Throws: ``ControlProblem`` with `wrong_state` when the guard is not closed.
    func overrideGuard(
        _ input: OverrideInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireGuard

    /// Reads the configuration again, as `systemctl reload` does.
    ///
    /// - Throws: ``ControlProblem`` with `configuration_invalid` and one error per problem.
    func reload(caller: Caller) async throws(ControlProblem) -> WireReload

    /// The vault's keys, who depends on them, and how far a rotation is.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func vault(caller: Caller) async throws(ControlProblem) -> WireVault

    /// Begins to wrap every data key anew under the active vault key, in the background.
    ///
    /// - Throws: ``ControlProblem`` with `vault_sealed`.
    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault

    /// The replay that runs, or ran last.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay

    /// Begins to erase again what a restored backup brought back, in the background; one whose
    /// `id` is that of the last goes on as it is.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_target`, or `wrong_state` while one runs.
    func startReplay(
        _ input: ReplayInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay

    /// The ledger's key, size and last checkpoint.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// A page of entries from the one with index `from`.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func ledgerEntries(
        from: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries

    /// Compares every entry with every checkpoint.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// Goes on with a state that is older than its checkpoints, or was changed.
    ///
    /// - Throws: ``ControlProblem`` with `wrong_state` when it agrees with them.
    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger

    /// How the daemon is doing.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func status(caller: Caller) async throws(ControlProblem) -> WireStatus

    /// The metrics as OpenMetrics text, `# EOF` included.
    ///
    /// - Throws: ``ControlProblem`` with `unavailable`.
    func metrics(caller: Caller) async throws(ControlProblem) -> String
}
