package import Engine
import HTTP
package import Lifecycle
import NIOHTTP1

/// X, by OAuth 2.0 or by OAuth 1.0a.
///
/// Revocation ends one token. Whether the others of the same grant end too is not documented, so
/// each is revoked by itself.
package final class XProvider: TokenOnlyProvider, HostedProvider {
    /// The token that cannot exist, with its secret.
    private static let madeUpPair = {
        let text = RefusalJudge.madeUp.exposeText()
        return Secret("\(text):\(text)")
    }()

    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    let tokenEndpoint: RemoteEndpoint
    private let revokeEndpoint: RemoteEndpoint
    private let invalidateEndpoint: RemoteEndpoint
    /// What OAuth 1.0a signs.
    private let invalidateURL: String
    private let client: XClient
    private let now: @Sendable () -> WallTime
    private let judge: RefusalJudge
    private let codeJudge: RefusalJudge

    init(
        _ kind: XKind,
        http settings: RemoteSettings,
        client: XClient,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits) = (settings.name, kind.traits)
        (self.client, self.now) = (client, now)
        judge = RefusalJudge(refusesUnknownAlike: true, now: now)
        codeJudge = RefusalJudge(now: now)
        let base = try RemoteBaseURL(kind.baseURL, settings)
        tokenEndpoint = try RemoteEndpoint(base, path: "/2/oauth2/token", method: .POST)
        revokeEndpoint = try RemoteEndpoint(base, path: "/2/oauth2/revoke", method: .POST)
        let path = "/1.1/oauth/invalidate_token.json"
        invalidateEndpoint = try RemoteEndpoint(base, path: path, method: .POST)
        invalidateURL = base.text + path
        http = try RemoteClient(settings, in: environment)
    }

    package func serves(_ clientID: String) -> Bool { clientID == client.id }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode, case .oauth2 = client.authorization else {
            return .failure(.unusable)
        }
        var form = FormBody()
        form.add(exchangeOf: code)
        return await askForTokens(form).exchanged { _ in nil }
    }

    /// Asks whether a refresh token of OAuth 2.0 is live; it is rotated by that.
    ///
    /// A new one that cannot be kept is revoked at once.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        await refresh(credential) { _ = await self.revoke($0, hint: credential.kind.rawValue) }
    }

    package func renew(_ credential: OpenCredential) async -> CheckAnswer {
        await refresh(credential) { _ in }
    }

    private func refresh(
        _ credential: OpenCredential,
        unkept: (Secret) async -> Void
    ) async -> CheckAnswer {
        guard credential.kind == .refreshToken, case .oauth2 = client.authorization,
            let keeper = credential.keeper
        else { return .failure(.unusable) }
        var form = FormBody()
        form.add(refreshWith: credential.secret)
        return await askForTokens(form).checked { grant in
            guard let next = grant?.refreshToken else { return .failure(.unusable) }
            if await keeper.keep(next) { return .live }
            await unkept(next)
            return .failure(.lost)
        }
    }

    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch (client.authorization, credential.kind) {
        case (.oauth2, .refreshToken), (.oauth2, .accessToken):
            return await revoke(credential.secret, hint: credential.kind.rawValue)
        case (.oauth1(let consumerSecret), .accessToken):
            return await invalidate(credential.secret, consumerSecret)
        // OAuth 1.0a has no such tokens, so one application's mistake is not the provider's.
        case (.oauth1, .refreshToken): return .unfit
        case (_, .authorizationCode), (_, .idToken), (_, .subject): return .failure(.unusable)
        }
    }

    /// Asks about a token that cannot exist; for OAuth 1.0a that shows only that X is there.
    package func diagnose() async -> EffectFailure? {
        switch client.authorization {
        case .oauth2: return Self.problem(of: await askAboutNoToken())
        case .oauth1(let consumerSecret):
            return await invalidation(Self.madeUpPair, consumerSecret).flatMap {
                Self.problem(of: $0)
            }
        }
    }

    private func askForTokens(_ form: FormBody) async -> ReplyReading {
        await codeJudge.comparing(
            await ask(tokenEndpoint, form, XReplies.token),
            with: askAboutNoToken
        )
    }

    private func askAboutNoToken() async -> ReplyReading {
        var form = FormBody()
        form.add(refreshWith: RefusalJudge.madeUp)
        return await ask(tokenEndpoint, form, XReplies.token)
    }

    /// What a made-up token gets is not documented, so any refusal in X's own words is one.
    private static func problem(of reading: ReplyReading) -> EffectFailure? {
        switch reading.meaning {
        case .failure(.rejected) where reading.refusal?.isForeign == false: nil
        default: reading.problemOfMadeUp()
        }
    }

    private func revoke(_ token: Secret, hint: String) async -> RevokeAnswer {
        let reading = await ask(toRevoke: token, hint: hint)
        return await judge.answer(reading) {
            await ask(toRevoke: RefusalJudge.madeUp, hint: hint)
        }
    }

    private func ask(toRevoke token: Secret, hint: String) async -> ReplyReading {
        var form = FormBody()
        form.add("token", token)
        form.add("token_type_hint", hint)
        return await ask(revokeEndpoint, form, XReplies.revoke)
    }

    private func invalidate(_ pair: Secret, _ consumerSecret: Secret) async -> RevokeAnswer {
        guard let reading = await invalidation(pair, consumerSecret) else { return .unfit }
        guard reading.meaning != .refused else { return .alreadyInvalid }
        // X cannot verify the signature of a token that it does not know: one that cannot exist
        // gets error 89 also where the consumer's secret is wrong, or this machine's clock.
        let isUnverified = reading.refusal?.refusal.status == 401
        return await judge.answer(reading) {
            guard !isUnverified else { return reading }
            return await invalidation(Self.madeUpPair, consumerSecret) ?? reading
        }
    }

    /// Takes the access token and its secret with a colon between, as they are stored; `nil` when
    /// that is not what is stored, and then nothing is sent.
    private func invalidation(_ pair: Secret, _ consumerSecret: Secret) async -> ReplyReading? {
        let parts = pair.exposeText().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let signature = OAuth1Signature(
            consumerKey: client.id,
            consumerSecret: consumerSecret,
            token: String(parts[0]),
            tokenSecret: Secret(String(parts[1])),
            nonce: client.makeNonce(),
            timestamp: now().unixMilliseconds / 1000
        )
        let header = signature.header(method: "POST", url: invalidateURL)
        guard let authorization = Authorization.scheme("OAuth", header) else { return nil }
        var request = RemoteRequest(invalidateEndpoint, .form(FormBody()))
        request.authorization = authorization
        return XReplies.invalidate.read(await http.send(request), now: now())
    }

    /// Confidential clients authenticate by Basic, public ones by their id in the body.
    private func ask(
        _ endpoint: RemoteEndpoint,
        _ form: FormBody,
        _ table: ReplyTable
    ) async -> ReplyReading {
        var form = form
        form.add("client_id", client.id)
        var request = RemoteRequest(endpoint, .form(form))
        if case .oauth2(let clientSecret?) = client.authorization {
            request.authorization = .client(client.id, clientSecret)
        }
        return table.read(await http.send(request), now: now())
    }
}

/// The application at X, and how it signs its users in.
struct XClient: Sendable {
    enum Authorization: Sendable {
        /// OAuth 2.0; a public client has no secret.
        case oauth2(clientSecret: Secret?)
        /// OAuth 1.0a; the client id is the consumer key.
        case oauth1(consumerSecret: Secret)
    }

    let id: String
    let authorization: Authorization
    var makeNonce = RandomText.nonce
}
