package import Engine
import HTTP
package import Lifecycle
import NIOHTTP1
import Synchronization

/// Sign in with Apple, over its REST API.
///
/// Only refresh and access tokens are ever sent to `/auth/revoke`: Apple answers 200 to anything
/// there, a code and an id token included, so its success is worth something only for a token that
/// was live.
package final class AppleProvider: HostedProvider {
    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    let tokenEndpoint: RemoteEndpoint
    private let revokeEndpoint: RemoteEndpoint
    private let keysEndpoint: RemoteEndpoint
    private let clientIDs: [String]
    private let clientSecret: AppleClientSecret
    private let now: @Sendable () -> WallTime
    private let judge: RefusalJudge
    private let codeJudge: RefusalJudge
    private let keys: SigningKeyCache
    /// Client ids whose refresh requests Apple understood since the start; see ``check(_:)``.
    private let understood = Mutex<Set<String>>([])
    private let search: ClientSearch
    private let gate: ClientGate

    init(
        _ kind: AppleKind,
        http settings: RemoteSettings,
        clientIDs: [String],
        signer: any MessageSigner,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits, self.clientIDs) = (settings.name, kind.traits, clientIDs)
        search = ClientSearch(clientIDs, refusesOthersTokens: false)
        clientSecret = try AppleClientSecret(kind, of: name, clientIDs: clientIDs, signer: signer)
        let base = try RemoteBaseURL(kind.baseURL, settings)
        tokenEndpoint = try RemoteEndpoint(base, path: "/auth/token", method: .POST)
        revokeEndpoint = try RemoteEndpoint(base, path: "/auth/revoke", method: .POST)
        let keysEndpoint = try RemoteEndpoint(base, path: "/auth/keys", method: .GET)
        (self.keysEndpoint, self.now) = (keysEndpoint, now)
        gate = ClientGate(isAlone: clientIDs.count < 2, now: now)
        judge = RefusalJudge(now: now)
        codeJudge = RefusalJudge(now: now)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try RemoteClient(settings, in: environment)
        self.http = http
        keys = SigningKeyCache(now: now) { await http.keySet(at: keysEndpoint) }
    }

    package var refusedClients: [RefusedClient] { gate.refusedClients }

    package func serves(_ clientID: String) -> Bool { clientIDs.contains(clientID) }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode else { return .failure(.unusable) }
        return await gate.pass(code.clientID) { await exchangeOnce(code) }
    }

    private func exchangeOnce(_ code: OpenCredential) async -> ExchangeAnswer {
        guard var form = form(for: code.clientID) else { return .failure(.misconfigured) }
        form.add(exchangeOf: code)
        let reading = await askForTokens(form, code.clientID)
        if reading.meaning == .failure(.misconfigured), code.redirectURI != nil {
            // Apple also says `invalid_client` for a redirect URI that does not match (TN3107). One
            // application's typo must not pause the provider for all: ask whether the client itself
            // works.
            let isClientFine = await probe(code.clientID) == nil
            return isClientFine ? .refused : .failure(.misconfigured)
        }
        let answer = await reading.exchanged { subject(of: $0, for: code.clientID) }
        if case .exchanged(let tokens) = answer { search.note(tokens, of: code.clientID) }
        return answer
    }

    /// Asks whether a refresh token is live, by the refresh grant; Apple gives out no new one for
    /// it.
    ///
    /// `invalid_grant` is dead. `invalid_request` was seen for a revoked token, but it also is what
    /// a malformed request gets, and "dead" after a revocation is proof. So it counts only once
    /// Apple has understood a refresh request of the same client in this process; before that it
    /// means nothing.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        guard credential.kind == .refreshToken else { return .failure(.unusable) }
        return await gate.pass(credential.clientID) {
            await search.check(credential) { await ask(about: $0) }
        }
    }

    private func ask(about credential: OpenCredential) async -> CheckAnswer {
        let clientID = credential.clientID
        guard var form = form(for: clientID) else { return .failure(.misconfigured) }
        form.add(refreshWith: credential.secret)
        switch await askForTokens(form, clientID).meaning {
        case .honoured:
            noteUnderstood(clientID)
            return .live
        case .refused:
            noteUnderstood(clientID)
            return .dead
        case .unclear:
            return understood.withLock { $0.contains(clientID) } ? .dead : .failure(.rejected)
        case .failure(let failure): return .failure(failure)
        }
    }

    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch credential.kind {
        case .refreshToken, .accessToken:
            return await gate.pass(credential.clientID) { await revokeAsAny(credential) }
        case .authorizationCode, .idToken, .subject: return .failure(.unusable)
        }
    }

    private func revokeAsAny(_ credential: OpenCredential) async -> RevokeAnswer {
        await search.revoke(credential) {
            let answer = await send($0, hint: credential.kind.rawValue)
            guard clientIDs.count > 1, answer == .failure(.misconfigured),
                await probe($0.clientID) == nil
            else { return ClientSearch.Outcome(answer: answer) }
            // A client that works is refused for a token that is another client's.
            return ClientSearch.Outcome(answer: .failure(.rejected), isOthers: true)
        }
    }

    private func send(_ credential: OpenCredential, hint: String) async -> RevokeAnswer {
        let reading = await ask(toRevoke: credential.secret, of: credential.clientID, hint: hint)
        return await judge.answer(reading) {
            await ask(toRevoke: RefusalJudge.madeUp, of: credential.clientID, hint: hint)
        }
    }

    private func ask(
        toRevoke token: Secret,
        of clientID: String,
        hint: String
    ) async -> ReplyReading {
        guard var form = form(for: clientID) else { return .misconfigured }
        form.add("token", token)
        form.add("token_type_hint", hint)
        return await ask(revokeEndpoint, AppleReplies.revoke, form, clientID)
    }

    /// - Throws: ``SignInError`` for the first rule that is broken.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard serves(signIn.clientID) else {
            throw SignInError(kind: .wrongAudience, provider: name)
        }
        let rules = IDTokenRules(
            provider: name,
            issuer: .oneOf([AppleKind.issuer]),
            // Applications hand Apple either the raw nonce or its SHA-256 in hexadecimal.
            nonce: .any,
            keys: keys,
            now: now(),
            mayLackNonce: true
        )
        return try await rules.verify(signIn)
    }

    /// Reads the key set and asks, per client id, about a code that cannot exist.
    ///
    /// Apple authenticates the client first: a wrong key, team or client id is `invalid_client`,
    /// and `invalid_grant` says that all three are right.
    package func diagnose() async -> EffectFailure? { await problemOfAnswers()?.failure }

    func problemOfAnswers() async -> ProviderProblem? {
        let outcome = await http.send(RemoteRequest(keysEndpoint))
        switch outcome {
        case .unsent: return problem(.unreachable)
        case .lost: return problem(.lost)
        case .reply(let reply) where reply.status == 200 && SigningKeySet(reply.body) != nil: break
        case .reply, .oversized:
            return ProviderProblem(
                .unusable,
                "\(keysEndpoint.url) answered no set of keys; check base_url and what stands"
                    + " between"
            )
        }
        for clientID in clientIDs {
            let client = clientIDs.count > 1 ? clientID : nil
            let reading = await askAboutNoCode(clientID)
            if let failure = reading.problemOfMadeUp(of: client) { return problem(failure) }
        }
        return nil
    }

    /// Starts a form with the client's own fields.
    ///
    /// `nil` when the client id is not configured or the key does not sign: nothing can be sent
    /// then, and no retry helps, because the set-up lacks something.
    private func form(for clientID: String) -> FormBody? {
        do {
            guard let secret = try clientSecret.make(for: clientID, now: now()) else { return nil }
            var form = FormBody()
            form.add("client_id", clientID)
            form.add("client_secret", secret)
            return form
        } catch {
            return nil
        }
    }

    private func ask(
        _ endpoint: RemoteEndpoint,
        _ table: ReplyTable,
        _ form: FormBody,
        _ clientID: String
    ) async -> ReplyReading {
        let reading = table.read(await http.send(RemoteRequest(endpoint, .form(form))), now: now())
        gate.note(reading, of: clientID)
        return reading
    }

    private func askForTokens(_ form: FormBody, _ clientID: String) async -> ReplyReading {
        await codeJudge.comparing(
            await ask(tokenEndpoint, AppleReplies.token, form, clientID),
            with: { await askAboutNoCode(clientID) }
        )
    }

    private func probe(_ clientID: String) async -> EffectFailure? {
        await AnswerRecorder.probing { await askAboutNoCode(clientID).problemOfMadeUp() }
    }

    private func askAboutNoCode(_ clientID: String) async -> ReplyReading {
        guard var form = form(for: clientID) else { return .misconfigured }
        form.add("grant_type", "authorization_code")
        form.add("code", RefusalJudge.madeUp)
        return await ask(tokenEndpoint, AppleReplies.token, form, clientID)
    }

    /// The subject of the id token that came with the tokens, when it is Apple's and for this
    /// client.
    ///
    /// A token that is neither leaves the subject unknown; the tokens themselves are kept, since
    /// the code is spent and they can still be revoked.
    private func subject(of grant: TokenGrant, for clientID: String) -> Secret? {
        guard let token = grant.idToken.flatMap({ IDToken($0) }),
            token.issuer == AppleKind.issuer, token.isFor(clientID)
        else { return nil }
        return token.subject
    }

    private func noteUnderstood(_ clientID: String) {
        understood.withLock { _ = $0.insert(clientID) }
    }
}
