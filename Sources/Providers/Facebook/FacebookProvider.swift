import Cryptography
import Encoding
package import Engine
import HTTP
package import Lifecycle
import NIOHTTP1
import Settings

/// Facebook Login and Limited Login.
///
/// Classic: the app's own access token and the app-scoped user id are enough to remove the app, so
/// the user's token is never needed, and a dead one does no harm. Limited Login has only an id
/// token, and an endpoint of its own that takes it.
package final class FacebookProvider: HostedProvider {
    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    private let now: @Sendable () -> WallTime
    private let appID: String
    private let appSecret: Secret
    private let appToken: Secret
    let tokenEndpoint: RemoteEndpoint
    private let debugEndpoint: RemoteEndpoint
    private let removalEndpoint: RemoteEndpoint
    private let permissionsEndpoint: RemoteEndpoint
    private let uninstallEndpoint: RemoteEndpoint
    private let limited: LimitedLogin

    init(
        _ kind: FacebookKind,
        http settings: RemoteSettings,
        appID: String,
        appSecret: Secret,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits) = (settings.name, kind.traits)
        guard Self.isNumber(appID), appSecret.count > 0,
            TextRule.apiVersion.accepts(kind.graphVersion)
        else { throw SetupError(kind: .malformedClient, provider: name.rawValue) }
        (self.appID, self.appSecret) = (appID, appSecret)
        appToken = appSecret.withBytes { Secret(Array("\(appID)|".utf8) + $0) }
        let graph = try RemoteBaseURL(kind.baseURL + "/\(kind.graphVersion)", settings)
        tokenEndpoint = try RemoteEndpoint(graph, path: "/oauth/access_token", method: .GET)
        debugEndpoint = try RemoteEndpoint(graph, path: "/debug_token", method: .GET)
        removalEndpoint = try RemoteEndpoint(graph, path: "/{}/permissions", method: .DELETE)
        permissionsEndpoint = try RemoteEndpoint(graph, path: "/{}/permissions", method: .GET)
        uninstallEndpoint = try RemoteEndpoint(
            try RemoteBaseURL(kind.uninstallURL, settings),
            path: "/platform/uninstall/",
            method: .POST
        )
        let published = try RemoteBaseURL(kind.limitedURL, settings)
        let path = "/.well-known/openid-configuration/"
        let discovery = try RemoteEndpoint(published, path: path, method: .GET)
        let keysPath = "/.well-known/oauth/openid/jwks/"
        let keys = try RemoteEndpoint(published, path: keysPath, method: .GET)
        let http = try RemoteClient(settings, in: environment)
        (self.http, self.now) = (http, now)
        limited = LimitedLogin(http, discovery: discovery, keys: keys, now: now)
    }

    package func serves(_ clientID: String) -> Bool { clientID == appID }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode else { return .failure(.unusable) }
        var query = FormBody()
        query.add("client_id", appID)
        query.add("client_secret", appSecret)
        query.add("redirect_uri", code.redirectURI ?? "")
        query.add("code", code.secret)
        if let verifier = code.codeVerifier { query.add("code_verifier", verifier) }
        var request = RemoteRequest(tokenEndpoint)
        request.query = query
        let reading = FacebookReplies.token.read(await http.send(request), now: now())
        if reading.refusal?.isForeign == true,
            case .refusesAll(let answer)? = await diagnose()
        {
            return .failure(.refusesAll(answer))
        }
        return await reading.exchanged { await inspect($0.accessToken).subject }
    }

    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        guard credential.kind == .accessToken else { return .failure(.unusable) }
        let owner = await inspect(credential.secret)
        if let failure = owner.failure { return .failure(await judge(failure, nil)) }
        return owner.isLive ? .live : .dead
    }

    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch credential.kind {
        case .idToken: return await uninstall(credential.secret)
        case .authorizationCode: return .failure(.unusable)
        case .accessToken, .refreshToken, .subject: break
        }
        var subject = credential.subject
        if subject == nil {
            let owner = await inspect(credential.secret)
            if let failure = owner.failure { return .failure(await judge(failure, nil)) }
            subject = owner.subject
        }
        // App-scoped ids are numbers; anything else would be another path.
        guard let id = subject?.exposeText(), Self.isNumber(id) else { return .unfit }
        return await removeApp(from: id)
    }

    /// - Throws: ``SignInError`` for the first rule that is broken.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard serves(signIn.clientID) else {
            throw SignInError(kind: .wrongAudience, provider: name)
        }
        return try await limited.verify(signIn, at: name)
    }

    package func diagnose() async -> EffectFailure? {
        let owner = await AnswerRecorder.probing { await inspect(appToken) }
        if let answer = owner.refusal { return .refusesAll(answer.refusal) }
        return owner.failure ?? (owner.isLive ? nil : .misconfigured)
    }

    /// Our own token tells a wrong secret, an outage and a user that is refused apart.
    private func judge(_ failure: EffectFailure, _ refusal: ReplyRefusal?) async -> EffectFailure {
        guard failure == .rejected || failure == .unusable else { return failure }
        switch await diagnose() {
        case .misconfigured: return .misconfigured
        case .refusesAll(let answer): return .refusesAll(answer)
        case nil:
            guard failure == .rejected, let refusal, !refusal.isForeign else { return failure }
            return .refused(refusal.refusal)
        case .some: return failure
        }
    }

    private func removeApp(from id: String) async -> RevokeAnswer {
        guard var request = RemoteRequest(removalEndpoint, filling: [Secret(id)]) else {
            return .unfit
        }
        request.query = appQuery()
        let reading = FacebookReplies.delete.read(await http.send(request), now: now())
        switch reading.meaning {
        case .honoured: return .success
        case .refused: return await confirmGone(id, wasNotInstalled: true)
        case .unclear: return await confirmGone(id, wasNotInstalled: false)
        case .failure(let failure): return .failure(await judge(failure, reading.refusal))
        }
    }

    /// What a second removal answers is not documented: only an app without any permission, or two
    /// different calls that both say "not installed", count as gone.
    private func confirmGone(_ id: String, wasNotInstalled: Bool) async -> RevokeAnswer {
        guard var request = RemoteRequest(permissionsEndpoint, filling: [Secret(id)]) else {
            return .unfit
        }
        request.query = appQuery()
        let reading = FacebookReplies.permissions.read(await http.send(request), now: now())
        switch reading.meaning {
        case .honoured:
            let isEmpty = reading.json?["data"]?.array?.isEmpty ?? false
            return isEmpty ? .grantGone : .failure(.rejected)
        case .unclear where wasNotInstalled: return .grantGone
        case .unclear, .refused: return .failure(await judge(.rejected, reading.refusal))
        case .failure(let failure): return .failure(await judge(failure, reading.refusal))
        }
    }

    private func uninstall(_ idToken: Secret) async -> RevokeAnswer {
        guard let token = IDToken(idToken), token.isFor(appID), let end = token.expiresAt,
            now() < end
        else { return .unfit }
        var form = FormBody()
        form.add("id_token", idToken)
        form.add("app_id", appID)
        let request = RemoteRequest(uninstallEndpoint, .form(form))
        switch FacebookReplies.uninstall.read(await http.send(request), now: now()).meaning {
        case .honoured: return .success
        case .refused, .unclear: return .failure(.unusable)
        case .failure(let failure): return .failure(failure)
        }
    }

    private struct Inspection {
        var isLive = false
        var subject: Secret?
        var failure: EffectFailure?
        /// An answer that is none of those that are documented.
        var refusal: ReplyRefusal?
    }

    private func inspect(_ token: Secret) async -> Inspection {
        var query = appQuery()
        query.add("input_token", token)
        var request = RemoteRequest(debugEndpoint)
        request.query = query
        let reading = FacebookReplies.debug.read(await http.send(request), now: now())
        switch reading.meaning {
        case .honoured:
            guard let data = reading.json?["data"], Self.text(data["app_id"]) == appID else {
                // Of another app, or of none.
                return Inspection(failure: .refused(Refusal(status: 200)))
            }
            return Inspection(
                isLive: data["is_valid"]?.bool == true,
                subject: Self.text(data["user_id"]).map { Secret($0) }
            )
        case .refused: return Inspection(failure: .misconfigured)
        case .unclear: return Inspection(failure: .unusable)
        case .failure(let failure):
            return Inspection(failure: failure, refusal: reading.refusal)
        }
    }

    /// The app's token and its proof: HMAC-SHA-256 of the token under the app secret, in lower-case
    /// hexadecimal ("Securing Graph API Requests").
    private func appQuery() -> FormBody {
        let proof = appSecret.withBytes { secret in
            appToken.withBytes { token in KeyedHash.sha256(key: secret, message: token) }
        }
        var query = FormBody()
        query.add("access_token", appToken)
        query.add("appsecret_proof", Hexadecimal.encode(proof))
        return query
    }

    /// Ids are strings in the reference, numbers in old answers.
    private static func text(_ value: JSONValue?) -> String? {
        value?.string ?? value?.number.flatMap { Int64(exactly: $0) }.map { "\($0)" }
    }

    private static func isNumber(_ id: String) -> Bool {
        (1...32).contains(id.utf8.count) && id.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
