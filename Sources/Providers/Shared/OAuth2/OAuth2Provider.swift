import Encoding
package import Engine
import HTTP
package import Lifecycle
import Synchronization

/// A provider of the OAuth 2 family: the standards, with what a profile says about its vendor.
///
/// Nothing here knows a vendor; what differs is a column of ``OAuth2Profile``.
package final class OAuth2Provider: ConnectedProvider, ProviderAdapter {
    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    let endpoints: EndpointBook
    let profile: OAuth2Profile
    let clients: [String: OAuth2Client]
    let now: @Sendable () -> WallTime
    let check: OAuth2Check
    private let issuers: Set<String>
    private let audience: String?
    private let nonce: NonceRule
    private let keys: SigningKeyCache
    let introspected = Mutex(IntrospectionRecord())
    let search: ClientSearch
    let gate: ClientGate
    let revocationJudge: RefusalJudge
    private let tokenJudge: RefusalJudge
    /// Apart from ``tokenJudge``: a code that is retried can still be exchanged.
    private let codeJudge: RefusalJudge
    let admin: AdminAPI?
    /// Of the admin client, with the time until which it is fresh.
    let adminToken = Mutex<(Secret, WallTime)?>(nil)

    init(
        _ profile: OAuth2Profile,
        http settings: RemoteSettings,
        clients: [OAuth2Client],
        admin access: AdminAPI.Access = .open,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits) = (settings.name, profile.traits)
        self.profile = profile
        check = profile.check
        self.clients = Dictionary(clients.map { ($0.id, $0) }) { first, _ in first }
        search = ClientSearch(
            self.clients.keys,
            stopsAtSuccess: profile.refusesUnknownTokens || profile.revocation.client == .absent
        )
        issuers = Set(profile.issuer.map { [$0] } ?? []).union(profile.moreIssuers)
        audience = profile.assertionAudienceIsIssuer ? profile.issuer : nil
        guard !clients.isEmpty else {
            throw SetupError(kind: .malformedClient, provider: name.rawValue)
        }
        nonce = profile.nonce
        self.now = now
        gate = ClientGate(isAlone: self.clients.count < 2, now: now)
        revocationJudge = RefusalJudge(now: now)
        tokenJudge = RefusalJudge(now: now)
        codeJudge = RefusalJudge(now: now)
        admin = try AdminAPI(profile, access, settings, now: now)
        let book = try EndpointBook(profile, settings)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try RemoteClient(settings, in: environment)
        let endpoints = book.reading(with: http, now: now)
        (self.http, self.endpoints) = (http, endpoints)
        keys = SigningKeyCache(now: now) {
            guard case .found(let endpoint) = await endpoints.find(.keys) else { return nil }
            return await http.keySet(at: endpoint)
        }
    }

    package func shutdown() async { await http.shutdown() }

    package func serves(_ clientID: String) -> Bool { clients[clientID] != nil }

    package var refusedClients: [RefusedClient] { gate.refusedClients }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode else { return .failure(.unusable) }
        return await gate.pass(code.clientID) { await exchangeOnce(code) }
    }

    private func exchangeOnce(_ code: OpenCredential) async -> ExchangeAnswer {
        let reading = await codeJudge.comparing(
            await grant(code.clientID) { $0.add(exchangeOf: code) },
            with: { await probe(code.clientID) }
        )
        // Google's word for a code that was issued to another redirect URI.
        if reading.refusal?.refusal.error == "redirect_uri_mismatch" { return .refused }
        let answer = await reading.exchanged { grant in
            await learnIntrospection(from: grant, clientID: code.clientID)
            return subject(of: grant, for: code.clientID)
        }
        if case .exchanged(let tokens) = answer { search.note(tokens, of: code.clientID) }
        return answer
    }

    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        if credential.kind == .subject { return await checkGrants(credential) }
        guard let ask = question(about: credential.kind) else { return .failure(.unusable) }
        return await gate.pass(credential.clientID) { await search.check(credential, ask) }
    }

    /// How one client is asked about a kind of token; `nil` where it cannot be asked.
    func question(about kind: CredentialKind) -> ((OpenCredential) async -> CheckAnswer)? {
        switch (check, kind) {
        case (.introspection, .refreshToken), (.introspection, .accessToken):
            return { await self.introspect($0) }
        case (.refresh, .refreshToken):
            return { credential in
                await self.checkByRefresh(credential) {
                    await self.giveUp($0, of: credential.clientID)
                }
            }
        default: return nil
        }
    }

    /// Uses a refresh token so that it does not die unused, however it is checked.
    ///
    /// A new one that cannot be kept is lost, and nothing is revoked for that: nobody asked for it.
    package func renew(_ credential: OpenCredential) async -> CheckAnswer {
        guard credential.kind == .refreshToken else { return .failure(.unusable) }
        return await gate.pass(credential.clientID) {
            await search.check(credential) {
                await checkByRefresh($0) { _ in .failure(.lost) }
            }
        }
    }

    package var issuesIDTokens: Bool { !issuers.isEmpty }

    /// - Throws: ``SignInError`` for the first rule that is broken.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard clients[signIn.clientID] != nil else {
            throw SignInError(kind: .wrongAudience, provider: name)
        }
        guard !issuers.isEmpty else { throw SignInError(kind: .unsupported, provider: name) }
        if case .absent = await endpoints.find(.keys) {
            throw SignInError(kind: .unsupported, provider: name)
        }
        return try await IDTokenRules(
            provider: name,
            issuer: .oneOf(issuers),
            nonce: nonce,
            keys: keys,
            now: now()
        ).verify(signIn)
    }

    /// Asks, per client, about a code and a token that cannot exist.
    package func diagnose() async -> EffectFailure? { await problemOfAnswers()?.failure }
}

// MARK: - Calls

extension OAuth2Provider {
    func grant(_ clientID: String, _ fill: (inout FormBody) -> Void) async -> ReplyReading {
        await ask(.token, clientID, OAuth2Replies.token, fill)
    }

    func ask(
        _ role: EndpointBook.Role,
        _ clientID: String,
        _ table: ReplyTable,
        _ fill: (inout FormBody) -> Void
    ) async -> ReplyReading {
        switch await endpoints.find(role) {
        case .absent: return .misconfigured
        case .unavailable: return ReplyReading(meaning: .failure(.unreachable))
        case .found(let endpoint):
            var form = FormBody()
            fill(&form)
            var request = RemoteRequest(endpoint)
            guard let client = clients[clientID],
                await authenticate(client, &form, &request)
            else { return .misconfigured }
            request.body = .form(form)
            let reading = table.read(await http.send(request), now: now())
            gate.note(reading, of: clientID)
            return reading
        }
    }

    /// Adds what authenticates the client; false when nothing can be sent, because the set-up lacks
    /// something.
    func authenticate(
        _ client: OAuth2Client,
        _ form: inout FormBody,
        _ request: inout RemoteRequest
    ) async -> Bool {
        var audience = audience
        if audience == nil, case .found(let token) = await endpoints.find(.token) {
            audience = token.url
        }
        do throws(VaultError) {
            request.authorization = try client.authenticate(
                &form,
                audience: audience ?? request.endpoint.url,
                now: now()
            )
            return true
        } catch {
            return false
        }
    }

    /// Asks by the refresh grant.
    ///
    /// A new refresh token is made durable before anything is said. One that cannot be kept is
    /// revoked at once.
    private func checkByRefresh(
        _ credential: OpenCredential,
        unkept: (Secret) async -> CheckAnswer
    ) async -> CheckAnswer {
        let reading = await refresh(credential)
        if let failure = await judgeRefresh(reading, of: credential.clientID) {
            return .failure(failure)
        }
        if reading.meaning == .refused, isOfSession(reading) { return .unknown }
        return await reading.checked { grant in
            tokenJudge.noteHonored()
            guard let rotated = grant?.refreshToken, !rotated.isEqual(to: credential.secret)
            else { return .live }
            if let keeper = credential.keeper, await keeper.keep(rotated) { return .live }
            return await unkept(rotated)
        }
    }

    private func isOfSession(_ reading: ReplyReading) -> Bool {
        guard let subtype = reading.json?["error_subtype"]?.string else { return false }
        return profile.sessionErrors.contains(subtype)
    }

    /// Revokes a token that is in nobody's hands, with one call.
    ///
    /// Whoever asks about it might rotate it once more. Where rotation is not configured, that
    /// pauses the provider.
    private func giveUp(_ token: Secret, of clientID: String) async -> CheckAnswer {
        let lost = OpenCredential(kind: .refreshToken, clientID: clientID, secret: token)
        let call = profile.revocation
        if call.kinds.contains(.refreshToken) {
            _ = await send(lost, call)
        } else if call.refreshesFirst {
            _ = await revokeAfterRefresh(lost, call)
        }
        return .failure(traits.rotatesRefreshTokens ? .lost : .misconfigured)
    }

    /// What a refresh that is refused in no documented way says; `nil` for all others.
    func judgeRefresh(_ reading: ReplyReading, of clientID: String) async -> EffectFailure? {
        guard let refusal = reading.refusal, reading.meaning != .failure(.misconfigured) else {
            return nil
        }
        let failure: EffectFailure =
            if case .failure(let answered) = reading.meaning { answered } else { .rejected }
        return await tokenJudge.judge(refusal, or: failure) {
            await grant(clientID) { $0.add(refreshWith: RefusalJudge.madeUp) }
        }
    }

    func probe(_ clientID: String) async -> ReplyReading {
        await AnswerRecorder.probing {
            await grant(clientID) { form in
                form.add("grant_type", "authorization_code")
                form.add("code", RefusalJudge.madeUp)
            }
        }
    }

    func refresh(_ credential: OpenCredential) async -> ReplyReading {
        await grant(credential.clientID) { $0.add(refreshWith: credential.secret) }
    }

    /// The subject of the id token that came with the tokens, when it is the issuer's and for this
    /// client.
    private func subject(of grant: TokenGrant, for clientID: String) -> Secret? {
        guard let token = grant.idToken.flatMap({ IDToken($0) }),
            IssuerRule.oneOf(issuers).accepts(token), token.isFor(clientID)
        else { return nil }
        return token.subject
    }
}

/// For which clients and kinds of token introspection was asked, and for which it said "active".
struct IntrospectionRecord: Sendable {
    struct Subject: Hashable, Sendable {
        let clientID: String
        let kind: CredentialKind
    }

    /// Of these, "inactive" can be believed.
    var shownLive: Set<Subject> = []
    /// Of these, a token fresh from an exchange was asked about; once is enough.
    var asked: Set<Subject> = []
}

extension OAuth2Provider {
    /// Asks by RFC 7662.
    ///
    /// "Inactive" is also what a client hears that may not ask about this token (§2.2), and what
    /// servers say of each refresh token that know access tokens only (Django OAuth Toolkit). So it
    /// is death only once the same client has been shown a live token of the same kind in this
    /// process.
    func introspect(_ credential: OpenCredential) async -> CheckAnswer {
        let (clientID, kind) = (credential.clientID, credential.kind)
        let subject = IntrospectionRecord.Subject(clientID: clientID, kind: kind)
        let reading = await ask(.introspection, clientID, OAuth2Replies.introspection) { form in
            form.add("token", credential.secret)
            form.add("token_type_hint", kind.rawValue)
        }
        switch reading.meaning {
        case .honoured:
            introspected.withLock { _ = $0.shownLive.insert(subject) }
            // Keycloak shows each client the tokens of all; only its own can revoke one.
            if let owner = reading.json?["client_id"]?.string, clients[owner] != nil {
                search.note(credential.issued(to: owner))
            }
            return .live
        case .refused:
            return introspected.withLock { $0.shownLive.contains(subject) } ? .dead : .unknown
        case .unclear: return .failure(.rejected)
        case .failure(.rejected) where reading.refusal?.isForeign == true:
            return .failure(.unusable)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Asks about the first tokens of a client that are known to be live, so that "inactive" means
    /// something from then on: an identity may be deleted right after its sign-in, and an access
    /// token has mostly died with its refresh token by the time that it is asked about.
    func learnIntrospection(from grant: TokenGrant, clientID: String) async {
        guard check == .introspection else { return }
        let tokens: [(CredentialKind, Secret?)] = [
            (.accessToken, grant.accessToken), (.refreshToken, grant.refreshToken),
        ]
        for case (let kind, let secret?) in tokens {
            let subject = IntrospectionRecord.Subject(clientID: clientID, kind: kind)
            let isNew = introspected.withLock {
                !$0.shownLive.contains(subject) && $0.asked.insert(subject).inserted
            }
            guard isNew else { continue }
            _ = await introspect(OpenCredential(kind: kind, clientID: clientID, secret: secret))
        }
    }
}
