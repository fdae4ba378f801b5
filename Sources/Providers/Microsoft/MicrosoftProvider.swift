import Encoding
package import Engine
import HTTP
package import Lifecycle
import NIOHTTP1

/// Microsoft Entra work accounts and personal Microsoft accounts.
///
/// There is no endpoint that revokes a token. For a work account, Graph can delete what the user
/// granted, where the user's tenant allows it; for a personal account no service can do anything,
/// and the verdict says so.
package final class MicrosoftProvider: HostedProvider {
    package let name: ProviderName
    package let traits: ProviderTraits

    let http: RemoteClient
    private let login: RemoteBaseURL
    let tokenEndpoint: RemoteEndpoint
    private let tenant: MicrosoftTenant
    private let client: MicrosoftClient
    private let graph: MicrosoftGraph
    private let graphTenants: Set<String>
    private let keys: SigningKeyCache
    /// The GUID behind a domain, once it was read.
    private let ownTenant = Latest<String?>(nil)
    private let codeJudge: RefusalJudge
    private let now: @Sendable () -> WallTime

    init(
        _ kind: MicrosoftKind,
        http settings: RemoteSettings,
        client: MicrosoftClient,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let now = environment.now
        (name, traits) = (settings.name, kind.traits)
        let tenants = kind.graphTenants.map { $0.lowercased() }
        guard let tenant = MicrosoftTenant(kind.tenant), MicrosoftID.isGUID(client.clientID),
            tenants.allSatisfy({ MicrosoftID.isGUID($0) && $0 != MicrosoftTenant.personal })
        else { throw SetupError(kind: .malformedClient, provider: name.rawValue) }
        try client.check(of: name.rawValue)
        (self.tenant, self.client, self.now) = (tenant, client, now)
        codeJudge = RefusalJudge(now: now)
        graphTenants = Set(tenants)
        let login = try RemoteBaseURL(kind.baseURL, settings)
        self.login = login
        let path = "/\(tenant.path)"
        tokenEndpoint = try RemoteEndpoint(login, path: path + "/oauth2/v2.0/token", method: .POST)
        let keySet = try RemoteEndpoint(login, path: path + "/discovery/v2.0/keys", method: .GET)
        let discovery = try RemoteEndpoint(
            login,
            path: path + "/v2.0/.well-known/openid-configuration",
            method: .GET
        )
        let endpoints = try MicrosoftGraphEndpoints(
            login: login,
            graph: try RemoteBaseURL(kind.graphURL, settings)
        )
        let http = try RemoteClient(settings, in: environment)
        self.http = http
        graph = MicrosoftGraph(
            http,
            endpoints,
            client: client,
            revokesSessions: kind.revokesSessions,
            now: now
        )
        keys = SigningKeyCache(now: now) { [ownTenant] in
            if case .domain = tenant {
                guard let id = await Self.readTenant(discovery, login, http) else { return nil }
                ownTenant.value = id
            }
            return await http.keySet(at: keySet)
        }
    }

    package var refusedClients: [RefusedClient] { graph.gate.refusedClients }

    package func serves(_ clientID: String) -> Bool {
        clientID.lowercased() == client.clientID
    }

    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        guard code.kind == .authorizationCode else { return .failure(.unusable) }
        guard var form = form() else { return .failure(.misconfigured) }
        form.add(exchangeOf: code)
        return await ask(form, MicrosoftReplies.code).exchanged { subject(of: $0) }
    }

    /// Asks whether a refresh token is live.
    ///
    /// Microsoft answers with a new one and keeps the old one valid ("Refresh tokens in the
    /// Microsoft identity platform"), so nothing is lost where the new one cannot be kept.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        guard credential.kind == .refreshToken else { return .failure(.unusable) }
        guard var form = form() else { return .failure(.misconfigured) }
        form.add(refreshWith: credential.secret)
        return await ask(form, MicrosoftReplies.refresh).checked { grant in
            guard let next = grant?.refreshToken, let keeper = credential.keeper else {
                return .live
            }
            return await keeper.keep(next) ? .live : .failure(.lost)
        }
    }

    /// Deletes the user's grants where that is possible, and says so where it is not.
    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        guard credential.kind != .authorizationCode else { return .failure(.unusable) }
        var user = credential.subject.flatMap { MicrosoftID($0) }
        if user == nil, credential.kind == .idToken {
            user = IDToken(credential.secret).flatMap { $0.isFor(client.clientID) ? $0 : nil }
                .flatMap { MicrosoftID($0) }
        }
        guard let user else { return .unfit }
        guard !user.isPersonal, graphTenants.contains(user.tenant) else { return .userOnly }
        return await graph.gate.pass(user.tenant, of: user.object) { await graph.revoke(user) }
    }

    /// Firebase knows a user of Microsoft by the object id alone, without the tenant.
    package func isName(_ name: Secret, of subject: Secret) -> Bool {
        guard let user = MicrosoftID(subject) else { return name.isEqual(to: subject) }
        // A domain's own tenant is known once its keys were read.
        guard tenant.admits(user.tenant, own: ownTenant.value ?? user.tenant) else { return false }
        return user.isNamed(name)
    }

    /// - Throws: ``SignInError`` for the first rule that is broken.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard serves(signIn.clientID) else {
            throw SignInError(kind: .wrongAudience, provider: name)
        }
        let rules = IDTokenRules(
            provider: name,
            issuer: .perTenant(issuer(of: "{tenantid}")),
            nonce: .plain,
            keys: keys,
            now: now()
        )
        let verified = try await rules.verify(signIn)
        guard let user = IDToken(signIn.idToken).flatMap({ MicrosoftID($0) }) else {
            throw SignInError(kind: .missingSubject, provider: name)
        }
        // The keys are those of all tenants: which of them may sign in is ours to check.
        guard tenant.admits(user.tenant, own: ownTenant.value) else {
            throw SignInError(kind: .wrongIssuer, provider: name)
        }
        return VerifiedSignIn(
            subject: user.subject,
            issuedAt: verified.issuedAt,
            expiresAt: verified.expiresAt,
            authenticatedAt: verified.authenticatedAt,
            fingerprint: verified.fingerprint
        )
    }

    /// Asks about a code that cannot exist, and for the application's token in every tenant that is
    /// configured.
    package func diagnose() async -> EffectFailure? {
        if let failure = await askAboutNoCode().problemOfMadeUp() { return failure }
        for tenant in graphTenants.sorted() {
            if let failure = await graph.diagnose(tenant) { return failure }
        }
        return nil
    }

    private func ask(_ form: FormBody, _ table: ReplyTable) async -> ReplyReading {
        await codeJudge.comparing(await send(form, table), with: askAboutNoCode)
    }

    private func askAboutNoCode() async -> ReplyReading {
        guard var form = form() else { return .misconfigured }
        form.add("grant_type", "authorization_code")
        form.add("code", RefusalJudge.madeUp)
        form.add("redirect_uri", "https://localhost/")
        return await send(form, MicrosoftReplies.code)
    }

    private func form() -> FormBody? {
        let address = "\(login.text)/\(tenant.path)/oauth2/v2.0/token"
        return client.form(for: address, now: now())
    }

    private func send(_ form: FormBody, _ table: ReplyTable) async -> ReplyReading {
        table.read(await http.send(RemoteRequest(tokenEndpoint, .form(form))), now: now())
    }

    /// Who the tokens belong to; read over the connection that brought them.
    private func subject(of grant: TokenGrant) -> Secret? {
        guard let token = grant.idToken.flatMap({ IDToken($0) }), token.isFor(client.clientID),
            let user = MicrosoftID(token), token.issuer == issuer(of: user.tenant)
        else { return nil }
        return user.subject
    }

    /// "Access tokens": the issuer names the tenant of the user, whatever address was used.
    private func issuer(of tid: String) -> String { "\(login.text)/\(tid)/v2.0" }

    /// Reads the GUID of a domain's tenant out of its issuer.
    private static func readTenant(
        _ discovery: RemoteEndpoint,
        _ login: RemoteBaseURL,
        _ http: RemoteClient
    ) async -> String? {
        guard case .reply(let reply) = await http.send(RemoteRequest(discovery)),
            reply.status == 200, let issuer = JSONValue(reply.body)?["issuer"]?.string,
            issuer.hasPrefix(login.text + "/"), issuer.hasSuffix("/v2.0")
        else { return nil }
        let id = issuer.dropFirst(login.text.count + 1).dropLast("/v2.0".count).lowercased()
        return MicrosoftID.isGUID(id) ? id : nil
    }
}
