import Control
import Encoding
import Engine
import Ledger
import Lifecycle
import Logging
import Storage
import Vault

extension DaemonBackend {
    func list(
        _ filter: WireRequestFilter,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireRequest> {
        var stored = RequestFilter()
        if let state = filter.state { stored.states = [state] }
        stored.userHash = filter.user.map(hash)
        stored.provider = filter.provider
        stored.ids = filter.idPrefix.flatMap(RequestID.range)
        let (narrowed, start) = (stored, filter.cursor.flatMap { RequestID($0) })
        guard (start == nil) == (filter.cursor == nil) else {
            throw ControlProblem(.malformedQuery, "'cursor' is not one of ours")
        }
        let page = try await attempt("list") {
            try await parts.state.requestRecords(narrowed, cursor: start, limit: filter.limit)
        }
        let providers = parts.registry.current.providers
        return WireList(
            page.records.map { WireRequest(RequestView($0, providers), hasSteps: false) },
            nextCursor: page.next?.description
        )
    }

    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest {
        let record = try await record(id)
        let providers = parts.registry.current.providers
        var wire = WireRequest(RequestView(record, providers), hasSteps: true)
        let forgotten = try await attempt("show") {
            try await parts.state.forgotten(
                of: record.userHash,
                until: record.request.endedAt ?? parts.now()
            )
        }
        if !forgotten.isEmpty { wire.forgotten = forgotten }
        wire.heldBy = try await heldBy(record)
        guard !record.request.phase.isEnded, !wire.identities.isEmpty else { return wire }
        let known = try await attempt("show") { try await parts.state.identities(record.userHash) }
        for index in wire.identities.indices {
            guard let match = known.first(where: { $0.id == wire.identities[index].identityID })
            else { continue }
            wire.identities[index].credentialCount = match.credentialCount
            wire.identities[index].isSubjectFirstSeen = match.subjectFirstSeenAt != nil
            guard match.credentialCount == 0 else { continue }
            wire.identities[index].failedCode = match.failedCode.flatMap(WireFailedCode.init)
        }
        return wire
    }

    func record(_ id: RequestID) async throws(ControlProblem) -> RequestRecord {
        let found = try await attempt("show") { try await parts.state.requestRecord(id) }
        guard let found else { throw ControlProblem(.requestNotFound) }
        return found
    }

    func receipt(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> JSONValue {
        let record = try await record(id)
        guard record.request.phase == .completed else {
            throw ControlProblem(.wrongState, "there is no receipt before the request completed")
        }
        let end = record.request.endedAt ?? parts.now()
        let (forgotten, note, recheckNote, scope) = try await attempt("receipt") {
            (
                try await parts.state.forgotten(of: record.userHash, until: end),
                try await parts.state.note(AbandonNote.name(of: id)),
                try await parts.state.note(AbandonNote.name(ofRecheck: id)),
                try ErasureScope(document: await parts.state.scope(of: id))
            )
        }
        return Receipt(
            record: record,
            forgotten: forgotten,
            abandonNote: note.flatMap(AbandonNote.init(text:)),
            recheckNote: recheckNote.flatMap(AbandonNote.init(text:)),
            statement: ReceiptStatement(request: record.request, scope: scope),
            ledger: try await ledgerPart(of: id)
        ).json
    }

    /// What a receipt says about its place in the ledger; `nil` while that is not signed.
    private func ledgerPart(of id: RequestID) async throws(ControlProblem) -> JSONValue? {
        try await attempt("receipt") {
            let needed = try await parts.state.ledgerSize(covering: id)
            if await parts.ledger.last?.checkpoint.size ?? 0 < needed {
                try await parts.ledger.checkpoint()
            }
            guard needed > 0, let last = await parts.ledger.last, last.checkpoint.size >= needed
            else { return nil }
            let proofs = try await parts.state.ledgerProofs(of: id, in: last.checkpoint.size)
            return [
                "key": .string(parts.ledger.key.description), "checkpoint": .string(last.note),
                "entries": .array(proofs.map(Self.json)),
            ]
        }
    }

    private static func json(_ proof: LedgerProof) -> JSONValue {
        [
            "index": .integer(Int64(proof.index)),
            "entry": .string(String(decoding: proof.leaf, as: UTF8.self)),
            "proof": .array(proof.path.map { .string(Base64.text($0)) }),
        ]
    }

    func events(
        _ id: RequestID?,
        after last: Int64? = nil,
        caller: Caller
    ) async throws(ControlProblem) -> AsyncStream<WireEvent> {
        // Listening begins before the look, so that an end in between is not missed.
        let changes = parts.hub.listen(to: id, after: last, at: parts.now())
        guard let id else { return changes }
        let record = try await record(id)
        guard record.request.phase.isEnded else { return changes }
        var event = WireEvent(sequence: 0, kind: .request, at: record.updatedAt, requestID: id)
        event.state = record.request.phase.state.rawValue
        event.detail = record.request.endDetail
        return AsyncStream { [event] continuation in
            continuation.yield(event)
            continuation.finish()
        }
    }

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
            accepted.identify(
                by: idempotencyKey,
                of: "\(caller.role.rawValue):\(caller.uid)",
                with: submission.notifyEmail.map { [$0.text, submission.language.rawValue] } ?? [],
                parts.hasher
            )
        }
        accepted.isSignInWaived = caller.role == .operator
        accepted.address = try sealedAddress(of: submission)
        if let signIn = submission.signIn {
            let clientID = try clientID(signIn.clientID, at: signIn.provider)
            let (idToken, nonce) = (signIn.idToken, signIn.rawNonce)
            let verified = try await verify(idToken, nonce, clientID, at: signIn.provider)
            let userHash = accepted.userHash
            accepted.signIn = parts.signIns.proven(verified, at: signIn.provider, of: userHash)
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
        case .same(let id)?: return try await show(id, caller: caller)
        case .rejected(let reason)?: throw ControlProblem(rejection: reason)
        case .unproven(let outcome)?: throw Self.problem(outcome)
        case nil: throw ControlProblem(.internal)
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

    private static func problem(_ outcome: SignInOutcome) -> ControlProblem {
        switch outcome {
        case .usedBefore: refused("id_token_used_before")
        case .subjectUnknown: refused("subject_unknown")
        case .otherSubject: ControlProblem(.subjectMismatch)
        case .recorded: ControlProblem(.internal)
        }
    }

    /// Also while the intake is paused: an authorization code does not live long enough to wait.
    func putCredential(
        _ input: SubmittedCredential,
        user: UserID,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireStoredCredential {
        let clientID = try clientID(input.clientID, at: provider)
        var credential = input
        credential.clientID = clientID
        if input.kind == .idToken, let rawNonce = input.rawNonce {
            let verified = try await verify(input.secret, rawNonce, clientID, at: provider)
            guard input.subject?.isEqual(to: verified.subject) ?? true else {
                throw ControlProblem(.subjectMismatch)
            }
            credential.subject = verified.subject
        }
        let stored = try await store(
            CredentialOffer(
                user: user,
                userHash: hash(user),
                provider: provider,
                credential: credential,
                createdAt: parts.now()
            )
        )
        return WireStoredCredential(identityID: stored.identity, state: stored.state)
    }

    private func store(_ offer: CredentialOffer) async throws(ControlProblem) -> StoredCredential {
        let outcomes = try await attempt("put_credential") {
            try await parts.credentials.store([offer])
        }
        switch outcomes.first {
        case .stored(let stored)?: return stored
        case .rejected(let reason)?, .refused(let reason, _)?:
            throw ControlProblem(rejection: reason)
        case .otherKey?, .keyGone?: throw ControlProblem(.unavailable)
        case .signInUsed?: throw Self.refused("id_token_used_before")
        case .importedBefore?, nil: throw ControlProblem(.internal)
        }
    }

    private func verify(
        _ idToken: Secret,
        _ rawNonce: Secret,
        _ clientID: String,
        at provider: ProviderName
    ) async throws(ControlProblem) -> VerifiedSignIn {
        guard let adapter = parts.registry.current.providers[provider] else {
            throw ControlProblem(.unknownProvider)
        }
        do {
            return try await adapter.verify(
                SignIn(clientID: clientID, idToken: idToken, rawNonce: rawNonce)
            )
        } catch {
            switch error.kind {
            case .malformedIDToken: throw ControlProblem(.malformedIDToken)
            case .keysUnavailable:
                throw ControlProblem(.unavailable, "the provider's keys cannot be read now")
            case .unknownKey, .badSignature, .wrongIssuer, .wrongAudience, .expired,
                .issuedInFuture, .nonceMismatch, .missingSubject, .unsupported:
                throw Self.refused(error.kind.rawValue)
            }
        }
    }

    private static func refused(_ cause: String) -> ControlProblem {
        ControlProblem(.reauthorizationRefused, errors: [.init(field: "id_token", message: cause)])
    }

    /// Takes a fresh sign-in; where the provider issues id tokens, one is required.
    ///
    /// A code shows whose it is only after its exchange, and a stranger's grant must not be revoked
    /// in the user's name.
    func reauthorize(
        _ id: RequestID,
        with input: ReauthorizeInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest {
        let record = try await record(id)
        guard let user = record.user, let stage = record.request.phase.stage, stage <= .revoking
        else { throw ControlProblem(.wrongState, "nothing is left to sign in for") }
        let there = record.request.revocations.filter { $0.provider == input.provider }
        let waiting = there.filter { $0.verdict == nil }
        guard there.isEmpty || !waiting.isEmpty else {
            throw ControlProblem(.wrongState, "this provider has its verdict")
        }
        let onlyClientID = Set(waiting.map(\.clientID)).count == 1 ? waiting[0].clientID : nil
        let clientID = try clientID(input.clientID ?? onlyClientID, at: input.provider)
        guard parts.vault.isOpen else { throw ControlProblem(.vaultSealed) }
        let identities = waiting.filter { $0.clientID == clientID }.map(\.identity)
        let proof = try await proveSignIn(input, clientID, identities)
        var credential = SubmittedCredential(
            kind: input.code == nil ? .idToken : .authorizationCode,
            secret: input.code ?? proof?.idToken ?? Secret("")
        )
        credential.clientID = clientID
        credential.subject = proof?.verified.subject
        credential.redirectURI = input.redirectURI
        credential.codeVerifier = input.codeVerifier
        var offer = CredentialOffer(
            user: user,
            userHash: record.userHash,
            provider: input.provider,
            credential: credential,
            createdAt: parts.now()
        )
        offer.isReauthorization = true
        offer.signIn = proof.map {
            parts.signIns.proven($0.verified, at: input.provider, of: record.userHash)
        }
        _ = try await store(offer)
        audit("reauthorize", caller, ["request.id": "\(id)", "provider": "\(input.provider)"])
        return try await show(id, caller: caller)
    }

    /// Checks that the id token is the same user's; `nil` for a code without one.
    private func proveSignIn(
        _ input: ReauthorizeInput,
        _ clientID: String,
        _ identities: [IdentityID]
    ) async throws(ControlProblem) -> (idToken: Secret, verified: VerifiedSignIn)? {
        guard let idToken = input.idToken else {
            let adapter = parts.registry.current.providers[input.provider]
            if let adapter, !adapter.issuesIDTokens { return nil }
            throw Self.missing("id_token", "; a code alone does not show who signed in")
        }
        guard let rawNonce = input.rawNonce else { throw Self.missing("raw_nonce") }
        let verified = try await verify(idToken, rawNonce, clientID, at: input.provider)
        let subject = SubjectHash.make(verified.subject, at: input.provider, parts.hasher)
        for identity in identities {
            let known = try await attempt("reauthorize") {
                try await parts.state.subjectHash(of: identity)
            }
            if known ?? subject == subject { return (idToken, verified) }
        }
        guard identities.isEmpty else { throw ControlProblem(.subjectMismatch) }
        return (idToken, verified)
    }

    private static func missing(_ field: String, _ reason: String = "") -> ControlProblem {
        ControlProblem(
            .missingField,
            "'\(field)' is missing\(reason)",
            errors: [.init(field: field, message: "is missing")]
        )
    }

    func identities(
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireIdentity> {
        let records = try await attempt("identities") {
            try await parts.state.identities(hash(user))
        }
        return WireList(records.map(WireIdentity.init))
    }

    func forgetIdentity(
        _ identity: IdentityID,
        of user: UserID,
        caller: Caller
    ) async throws(ControlProblem) {
        let outcome = try await attempt("forget_identity") {
            try await parts.state.forgetIdentity(identity, of: hash(user), by: caller.actorUID)
        }
        switch outcome {
        case .forgotten: audit("forget_identity", caller)
        case .unknown: throw ControlProblem(.identityNotFound)
        case .inUse:
            throw ControlProblem(.deletionInProgress, "an open request still needs the identity")
        }
    }
}

extension StoredCredential {
    fileprivate var state: CredentialState {
        let own = update.snapshot.credentials.filter { $0.id == credential }
        return exchange == nil ? CredentialState(own) : .pending
    }
}
