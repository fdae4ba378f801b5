import Encoding
package import Engine
import HTTP
package import Lifecycle
import NIOHTTP1

/// OAuth apps and GitHub Apps.
///
/// GitHub deletes a user's whole grant for the client, but only on showing a live access token of
/// that user. A refresh token is therefore spent for one first; GitHub rotates it then, and the new
/// one is kept before the access token is used. Where it cannot be kept, only the revocation is
/// left, which ends it, too.
package final class GitHubProvider: TokenOnlyProvider, HostedProvider {
    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    let tokenEndpoint: RemoteEndpoint
    private let checkEndpoint: RemoteEndpoint
    private let grantEndpoint: RemoteEndpoint
    private let userEndpoint: RemoteEndpoint
    private let clientID: String
    private let clientSecret: Secret
    private let now: @Sendable () -> WallTime
    private let judge: RefusalJudge
    private let codeJudge: RefusalJudge

    init(
        _ kind: GitHubKind,
        http settings: RemoteSettings,
        clientID: String,
        clientSecret: Secret,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits) = (settings.name, kind.traits)
        guard !clientID.isEmpty, clientSecret.count > 0 else {
            throw SetupError(kind: .malformedClient, provider: name.rawValue)
        }
        (self.clientID, self.clientSecret) = (clientID, clientSecret)
        let login = try RemoteBaseURL(kind.loginURL, settings)
        tokenEndpoint = try RemoteEndpoint(login, path: "/login/oauth/access_token", method: .POST)
        let api = try RemoteBaseURL(kind.baseURL, settings)
        func at(_ path: String, _ method: HTTPMethod) throws(SetupError) -> RemoteEndpoint {
            let headers = [("Accept", "application/vnd.github+json")]
            return try RemoteEndpoint(api, path: path, method: method, headers: headers)
        }
        checkEndpoint = try at("/applications/{}/token", .POST)
        grantEndpoint = try at("/applications/{}/grant", .DELETE)
        userEndpoint = try at("/user", .GET)
        self.now = now
        judge = RefusalJudge(now: now)
        codeJudge = RefusalJudge(now: now)
        http = try RemoteClient(settings, in: environment)
    }

    package func serves(_ clientID: String) -> Bool { clientID == self.clientID }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode else { return .failure(.unusable) }
        var form = clientForm()
        form.add("code", code.secret)
        if let redirectURI = code.redirectURI { form.add("redirect_uri", redirectURI) }
        if let verifier = code.codeVerifier { form.add("code_verifier", verifier) }
        let reading = await codeJudge.comparing(
            await askForTokens(form, GitHubReplies.code),
            with: askAboutNoCode
        )
        return await reading.exchanged { await owner(of: $0.accessToken) }
    }

    /// Asks whether a token is live; a refresh token is rotated by that.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        switch credential.kind {
        case .refreshToken:
            switch await refresh(credential) {
            case .token(_, let isKept): return isKept ? .live : .failure(.lost)
            case .dead: return .dead
            case .failure(let failure): return .failure(failure)
            }
        case .accessToken:
            let reading = await ask(checkEndpoint, credential.secret, GitHubReplies.token)
            switch reading.meaning {
            case .failure(.rejected) where reading.refusal?.isForeign == true:
                return .failure(.unusable)
            case .honoured: return .live
            case .unclear: return await probe().map { .failure($0) } ?? .dead
            case .refused: return .failure(.unusable)
            case .failure(let failure): return .failure(failure)
            }
        case .authorizationCode, .idToken, .subject: return .failure(.unusable)
        }
    }

    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch credential.kind {
        case .accessToken:
            return await deleteGrant(credential.secret, isFresh: false)
        case .refreshToken:
            switch await refresh(credential) {
            case .token(let accessToken, let isKept):
                let answer = await deleteGrant(accessToken, isFresh: true)
                return isKept || answer == .success ? answer : .failure(.lost)
            case .dead: return .alreadyInvalid
            case .failure(let failure): return .failure(failure)
            }
        case .authorizationCode, .idToken, .subject: return .failure(.unusable)
        }
    }

    /// Asks about a code that cannot exist: only wrong client credentials are not told so.
    ///
    /// And about such a token, which no other server says that it did not find.
    package func diagnose() async -> EffectFailure? {
        if let failure = await probe() { return failure }
        let reading = await ask(grantEndpoint, RefusalJudge.madeUp, GitHubReplies.grant)
        guard reading.meaning != .unclear, let refusal = reading.refusal, refusal.isForeign else {
            return nil
        }
        return .refusesAll(refusal.refusal)
    }

    private func deleteGrant(_ accessToken: Secret, isFresh: Bool) async -> RevokeAnswer {
        let reading = await ask(grantEndpoint, accessToken, GitHubReplies.grant)
        guard reading.meaning == .unclear else {
            return await judge.answer(reading) { await control() }
        }
        // A token that was issued a moment ago is not gone.
        if isFresh { return .failure(.rejected) }
        return await probe().map { .failure($0) } ?? .alreadyInvalid
    }

    /// Asks about a token that cannot exist; "not found" is a proper answer once the client is
    /// known to be right.
    private func control() async -> ReplyReading {
        let reading = await ask(grantEndpoint, RefusalJudge.madeUp, GitHubReplies.grant)
        guard reading.meaning == .unclear else { return reading }
        return ReplyReading(meaning: await probe().map { .failure($0) } ?? .refused)
    }

    private enum Refreshed {
        case token(Secret, isKept: Bool)
        case dead
        case failure(EffectFailure)
    }

    /// "Refreshing user access tokens": the old refresh token and its access token end with it.
    private func refresh(_ credential: OpenCredential) async -> Refreshed {
        guard let keeper = credential.keeper else { return .failure(.unusable) }
        var form = clientForm()
        form.add(refreshWith: credential.secret)
        let reading = await codeJudge.comparing(
            await askForTokens(form, GitHubReplies.refresh),
            with: askAboutNoCode
        )
        switch reading.meaning {
        case .honoured:
            guard let grant = reading.grant, let next = grant.refreshToken else {
                return .failure(.unusable)
            }
            return .token(grant.accessToken, isKept: await keeper.keep(next))
        case .refused: return .dead
        case .unclear: return .failure(.rejected)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// `nil` when GitHub took the client's credentials just now.
    private func probe() async -> EffectFailure? {
        await AnswerRecorder.probing { await askAboutNoCode().problemOfMadeUp() }
    }

    private func askAboutNoCode() async -> ReplyReading {
        var form = clientForm()
        form.add("code", RefusalJudge.madeUp)
        return await askForTokens(form, GitHubReplies.code)
    }

    /// The user's number; a login can be changed.
    private func owner(of accessToken: Secret) async -> Secret? {
        guard let authorization = Authorization.bearer(accessToken) else { return nil }
        var request = RemoteRequest(userEndpoint)
        request.authorization = authorization
        let reading = GitHubReplies.user.read(await http.send(request), now: now())
        guard reading.meaning == .honoured,
            let id = reading.json?["id"]?.number.flatMap({ Int64(exactly: $0) })
        else { return nil }
        return Secret("\(id)")
    }

    private func clientForm() -> FormBody {
        var form = FormBody()
        form.add("client_id", clientID)
        form.add("client_secret", clientSecret)
        return form
    }

    private func askForTokens(_ form: FormBody, _ table: ReplyTable) async -> ReplyReading {
        table.read(await http.send(RemoteRequest(tokenEndpoint, .form(form))), now: now())
    }

    private func ask(
        _ endpoint: RemoteEndpoint,
        _ accessToken: Secret,
        _ table: ReplyTable
    ) async -> ReplyReading {
        guard var request = RemoteRequest(endpoint, filling: [Secret(clientID)]) else {
            return .misconfigured
        }
        var body = JSONBody()
        body.add("access_token", accessToken)
        request.body = .json(body)
        request.authorization = .basic(clientID, clientSecret)
        return table.read(await http.send(request), now: now())
    }
}
