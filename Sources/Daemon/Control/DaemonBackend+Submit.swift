import Control
import Engine
import Lifecycle
import Storage

extension DaemonBackend {
    func submit(
        _ submission: WireSubmission,
        idempotencyKey: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest {
        guard !parts.intake.isPaused else { throw ControlProblem(.intakePaused) }
        var accepted = Submission(
            kind: submission.kind,
            user: submission.user,
            userHash: hash(submission.user),
            createdAt: nil,
            origin: .control(uid: caller.uid, role: caller.role.rawValue)
        )
        accepted.operatorUID = caller.operatorUID
        accepted.isAnonymous = caller.isHidden
        accepted.options = submission.options
        if let idempotencyKey {
            accepted.idempotency = idempotency(idempotencyKey, of: accepted, submission, caller)
        }
        accepted.isSignInWaived = caller.role == .operator
        accepted.address = try sealedAddress(of: submission)
        if let signIn = submission.signIn {
            accepted.signIn = try await proven(signIn, of: accepted.userHash)
        }
        let ask = accepted
        let outcomes = try await attempt("submit") { try await parts.intake.accept([ask]) }
        switch outcomes.first {
        case .accepted(let loaded, _)?:
            // What the commit wrote, without reading it again: this is the hot path.
            let view = RequestView(
                request: loaded.request,
                user: loaded.user,
                updatedAt: loaded.request.acceptedAt,
                providers: parts.registry.current.providers
            )
            return WireRequest(view, hasSteps: true)
        case .same(let id)?:
            return try await show(id, caller: caller)
        case .rejected(let reason)?:
            throw ControlProblem(rejection: reason)
        case .unproven(let outcome)?:
            throw Self.problem(outcome)
        case nil:
            throw ControlProblem(.internal)
        }
    }

    private func sealedAddress(
        of submission: WireSubmission
    ) throws(ControlProblem) -> SealedAddress? {
        guard let address = submission.notifyEmail else { return nil }
        guard parts.registry.current.mail != nil else { throw ControlProblem(.mailOff) }
        do throws(VaultError) {
            return try parts.messages.mail.seal(address, submission.language)
        } catch {
            throw ControlProblem(.vaultSealed)
        }
    }

    private func proven(
        _ input: SignInInput,
        of userHash: [UInt8]
    ) async throws(ControlProblem) -> ProvenSignIn {
        let clientID = try clientID(input.clientID, at: input.provider)
        let verified = try await verify(
            SignIn(clientID: clientID, idToken: input.idToken, rawNonce: input.rawNonce),
            at: input.provider
        )
        return parts.signIns.proven(verified, at: input.provider, of: userHash)
    }

    private static func problem(_ outcome: SignInOutcome) -> ControlProblem {
        switch outcome {
        case .usedBefore: refused("id_token_used_before")
        case .subjectUnknown: refused("subject_unknown")
        case .otherSubject: ControlProblem(.subjectMismatch)
        case .recorded: ControlProblem(.internal)
        }
    }

    private func idempotency(
        _ key: String,
        of submission: Submission,
        _ asked: WireSubmission,
        _ caller: Caller
    ) -> IdempotencyKey {
        IdempotencyKey(
            scope: "\(caller.role.rawValue):\(caller.uid)",
            keyHash: parts.hasher.hash(key, domain: .idempotencyKey),
            bodyFingerprint: parts.hasher.hash(
                submission.canonicalText(asked),
                domain: .idempotencyKey
            )
        )
    }
}

extension Submission {
    /// Equal for equal submissions; no part can hold a NUL.
    fileprivate func canonicalText(_ asked: WireSubmission) -> String {
        let providers = options.providers?.map(\.rawValue).sorted().joined(separator: ",")
        var parts = [
            "body", kind.rawValue, user.exposeText(), options.graceSeconds.map(String.init) ?? "-",
            providers ?? "-", options.reason.map { "=" + $0 } ?? "-",
            options.accountCreatedAt.map { String($0.unixMilliseconds) } ?? "-",
        ]
        if let address = asked.notifyEmail { parts += [address.text, asked.language.rawValue] }
        return parts.joined(separator: "\u{0}")
    }
}
