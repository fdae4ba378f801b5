package import Engine
import HTTP
package import Lifecycle

extension OAuth2Provider {
    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch credential.kind {
        case .authorizationCode, .idToken: return .failure(.unusable)
        case .subject: return await revokeGrants(credential)
        case .refreshToken, .accessToken:
            return await gate.pass(credential.clientID) { await revokeAsAny(credential) }
        }
    }

    private func revokeAsAny(_ credential: OpenCredential) async -> RevokeAnswer {
        let call = profile.revocation
        if call.kinds.contains(credential.kind) {
            let ask = question(about: credential.kind)
            return await search.revoke(credential, asking: ask) { await revokeOnce($0, call) }
        }
        guard call.refreshesFirst, credential.kind == .refreshToken else { return .unfit }
        return await search.revoke(credential) {
            ClientSearch.Outcome(answer: await revokeAfterRefresh($0, call))
        }
    }

    /// Turns the refresh token into an access token, whose revocation ends the whole grant.
    ///
    /// A new refresh token that cannot be kept is ended by it, or lost.
    func revokeAfterRefresh(
        _ credential: OpenCredential,
        _ call: RevocationCall
    ) async -> RevokeAnswer {
        let reading = await refresh(credential)
        if let failure = await judgeRefresh(reading, of: credential.clientID) {
            return .failure(failure)
        }
        switch reading.meaning {
        case .honoured:
            search.note(credential)
            guard let grant = reading.grant else { return .failure(.unusable) }
            var isKept = true
            if let next = grant.refreshToken, !next.isEqual(to: credential.secret) {
                isKept = await credential.keeper?.keep(next) ?? false
            }
            let fresh = OpenCredential(
                kind: .accessToken,
                clientID: credential.clientID,
                secret: grant.accessToken
            )
            let answer = await revokeOnce(fresh, call).answer
            guard isKept || answer == .success else { return .failure(.lost) }
            // A token of this second that is refused makes no sense.
            return answer == .alreadyInvalid ? .failure(.rejected) : answer
        case .refused: return .alreadyInvalid
        case .unclear: return .failure(.rejected)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Revokes for one client, and asks about the token where the answer may not be true.
    ///
    /// Servers say `invalid_token` also of a token that they would still honor, and an undocumented
    /// success (202, 204) does not say that the revocation was carried out.
    private func revokeOnce(
        _ credential: OpenCredential,
        _ call: RevocationCall
    ) async -> ClientSearch.Outcome {
        let sent = await send(credential, call)
        if let refusal = sent.refusal { return await judge(refusal, sent.answer, credential, call) }
        return ClientSearch.Outcome(answer: await verify(sent, of: credential))
    }

    private func verify(_ sent: Sent, of credential: OpenCredential) async -> RevokeAnswer {
        let (answer, isVague) = (sent.answer, sent.isVague)
        if answer == .failure(.misconfigured), await !isRefused(credential.clientID) {
            return .failure(.rejected)
        }
        guard answer == .alreadyInvalid || isVague, let ask = question(about: credential.kind)
        else { return answer }
        switch await ask(credential) {
        case .live:
            search.note(credential)
            return .failure(.rejected)
        // A success that cannot be looked into is worth what any success is.
        case .dead, .unknown: return isVague ? .success : .alreadyInvalid
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Decides whether a refusal is about this token.
    ///
    /// What is said of one token must not pause the provider for all, and an endpoint that is none
    /// must not make its users unrevocable.
    private func judge(
        _ refusal: ReplyRefusal,
        _ answer: RevokeAnswer,
        _ credential: OpenCredential,
        _ call: RevocationCall
    ) async -> ClientSearch.Outcome {
        guard case .failure(var failure) = answer else {
            return ClientSearch.Outcome(answer: .failure(.unusable))
        }
        // Servers say `invalid_client` of a token that is another client's, but no token is to
        // blame for it.
        if failure == .misconfigured {
            guard await !isRefused(credential.clientID) else {
                return ClientSearch.Outcome(answer: answer)
            }
            failure = .rejected
        } else {
            failure = await revocationJudge.judge(refusal, or: failure) {
                await control(credential.kind, credential.clientID, call)
            }
        }
        return ClientSearch.Outcome(
            answer: .failure(failure),
            isOthers: await isOthers(refusal, credential, call)
        )
    }

    /// Whether the provider refuses the client, whatever it asks.
    private func isRefused(_ clientID: String) async -> Bool {
        if case .absent = await endpoints.find(.revocation) { return true }
        guard case .found = await endpoints.find(.token) else { return false }
        return await probe(clientID).meaning == .failure(.misconfigured)
    }

    /// Whether a client that may revoke is refused for this token: it is another client's.
    private func isOthers(
        _ refusal: ReplyRefusal,
        _ credential: OpenCredential,
        _ call: RevocationCall
    ) async -> Bool {
        guard clients.count > 1, let error = refusal.refusal.error,
            OAuth2Replies.clientErrors.contains(error)
        else { return false }
        let reading = await control(credential.kind, credential.clientID, call)
        return reading.meaning == .honoured || reading.meaning == .refused
    }

    /// Asks for the revocation of a token that cannot exist.
    func control(
        _ kind: CredentialKind,
        _ clientID: String,
        _ call: RevocationCall
    ) async -> ReplyReading {
        let madeUp = OpenCredential(kind: kind, clientID: clientID, secret: RefusalJudge.madeUp)
        // The token of the client, which some vendors want before, is not the user's either.
        var reading = await AnswerRecorder.probing { await read(madeUp, call) }
        // `unsupported_token_type` is documented, and so is 401 for a bearer who is nobody.
        let isDocumented =
            reading.meaning == .unclear
            || reading.meaning == .failure(.misconfigured) && call.bearer == .token
        if isDocumented { reading = ReplyReading(meaning: .refused) }
        return reading
    }

    struct Sent {
        let answer: RevokeAnswer
        var isVague = false
        /// An answer that may be about the token or about the endpoint.
        var refusal: ReplyRefusal?
    }

    func send(_ credential: OpenCredential, _ call: RevocationCall) async -> Sent {
        let reading = await read(credential, call)
        switch reading.meaning {
        case .honoured:
            revocationJudge.noteHonored()
            return Sent(answer: .success)
        case .refused: return Sent(answer: .alreadyInvalid)
        // The only such row of a revocation is `unsupported_token_type`.
        case .unclear: return Sent(answer: .unfit)
        case .failure(let failure):
            let (isVague, refusal) = (reading.isVague, reading.refusal)
            return Sent(answer: .failure(failure), isVague: isVague, refusal: refusal)
        }
    }

    private func read(_ credential: OpenCredential, _ call: RevocationCall) async -> ReplyReading {
        guard let client = clients[credential.clientID] else { return .misconfigured }
        let endpoint: RemoteEndpoint
        switch await endpoints.find(.revocation) {
        case .found(let found): endpoint = found
        case .absent: return .misconfigured
        case .unavailable: return ReplyReading(meaning: .failure(.unreachable))
        }
        var request = RemoteRequest(endpoint)
        if let failure = await fill(&request, credential, call, client) {
            return ReplyReading(meaning: .failure(failure))
        }
        let reading = call.replies.read(await http.send(request), now: now())
        // 401 for a bearer is about the token.
        if call.bearer != .token { gate.note(reading, of: credential.clientID) }
        return reading
    }

    /// Puts token and client where the vendor wants them.
    ///
    /// - Returns: Why the call cannot be made.
    private func fill(
        _ request: inout RemoteRequest,
        _ credential: OpenCredential,
        _ call: RevocationCall,
        _ client: OAuth2Client
    ) async -> EffectFailure? {
        var form = FormBody()
        for (name, value) in call.fixed { form.add(name, value) }
        form.add(call.tokenName, credential.secret)
        if call.hasHint { form.add("token_type_hint", credential.kind.rawValue) }
        switch call.client {
        case .authenticated:
            guard await authenticate(client, &form, &request) else { return .misconfigured }
        case .idOnly: form.add("client_id", client.id)
        case .absent: break
        }
        switch call.place {
        case .form: request.body = .form(form)
        case .query: request.query = form
        case .json:
            var json = JSONBody()
            json.add(call.tokenName, credential.secret)
            request.body = .json(json)
        case .nowhere: break
        }
        switch call.bearer {
        case .nothing: return nil
        case .token:
            request.authorization = .bearer(credential.secret)
            return request.authorization == nil ? .unusable : nil
        case .clientToken: return await addClientToken(client, to: &request)
        }
    }

    /// Adds a token for the client itself; stateless at LINE and good for minutes, so it is not
    /// kept.
    private func addClientToken(
        _ client: OAuth2Client,
        to request: inout RemoteRequest
    ) async -> EffectFailure? {
        switch await clientToken(client, at: .clientToken) {
        case .failure(let failure): return failure
        case .success(let grant):
            request.authorization = .bearer(grant.accessToken)
            return request.authorization == nil ? .unusable : nil
        }
    }

    /// Gets a token for a client itself (RFC 6749 §4.4).
    func clientToken(
        _ client: OAuth2Client,
        at role: EndpointBook.Role,
        audience: String? = nil
    ) async -> Result<TokenGrant, EffectFailure> {
        let endpoint: RemoteEndpoint
        switch await endpoints.find(role) {
        case .found(let found): endpoint = found
        case .absent: return .failure(.misconfigured)
        case .unavailable: return .failure(.unreachable)
        }
        var form = FormBody()
        form.add("grant_type", "client_credentials")
        if let audience { form.add("audience", audience) }
        var call = RemoteRequest(endpoint)
        guard await authenticate(client, &form, &call) else { return .failure(.misconfigured) }
        call.body = .form(form)
        let reading = OAuth2Replies.token.read(await http.send(call), now: now())
        switch reading.meaning {
        case .honoured: return reading.grant.map { .success($0) } ?? .failure(.unusable)
        // The client is refused here, not one of its users.
        case .refused, .unclear, .failure(.rejected): return .failure(.unusable)
        // What was lost here is a token of the client, and the call that needs it was not sent.
        case .failure(.lost): return .failure(.unreachable)
        case .failure(let failure): return .failure(failure)
        }
    }
}
