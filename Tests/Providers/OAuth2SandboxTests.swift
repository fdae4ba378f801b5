import Engine
import Lifecycle
import Sandbox
import TestSupport
import Testing
import Vault

@testable import HTTP
@testable import Providers

@Suite("The OAuth 2 family against stand-ins")
struct OAuth2SandboxTests {
    static func sso(
        _ sandbox: RunningSandbox,
        _ authentication: OAuth2Client.Authentication = .basic(Secret("app-secret"))
    ) -> OAuth2Setup {
        var settings = OAuth2Harness.settings(.standard, authentication)
        settings.profile.issuer = sandbox.baseURL(of: .oauth2)
        settings.profile.check = .introspection
        return settings
    }

    static func code(_ signIn: SandboxSignIn, redirectURI: String? = nil) throws -> OpenCredential {
        OpenCredential(
            kind: .authorizationCode,
            clientID: OAuth2Harness.clientID,
            secret: Secret(try #require(signIn.code)),
            redirectURI: redirectURI,
            codeVerifier: signIn.codeVerifier.map { Secret($0) }
        )
    }

    @Test("discovered: a code with PKCE becomes tokens, which are live, are revoked, and are dead")
    func wholeLife() async throws {
        let settings: (RunningSandbox) -> OAuth2Setup = { Self.sso($0) }
        try await OAuth2Harness.withSandbox(.oauth2, settings: settings) { provider, sandbox in
            var order = SandboxOrder.SignIn(user: "ann")
            order.scope = "openid"
            let signIn = try sandbox.signIn(order, at: .oauth2)
            let tokens = try #require(
                SandboxHarness.tokens(await provider.exchange(Self.code(signIn)))
            )
            #expect(tokens.subject?.exposeText() == signIn.subject)
            let refresh = OAuth2Harness.credential(
                .refreshToken,
                try #require(tokens.refreshToken).exposeText()
            )
            #expect(await provider.check(refresh) == .live)
            #expect(await provider.revoke(refresh) == .success)
            #expect(await provider.check(refresh) == .dead)
            #expect(await provider.diagnose() == nil)
        }
    }

    @Test("each way to authenticate a client is accepted, and a wrong secret pauses")
    func authentication() async throws {
        let secret = Secret("app-secret")
        let hmac = try HMACSigner(key: secret)
        let ways: [(Sandbox.ClientAuthentication, OAuth2Client.Authentication)] = [
            (.basic, .basic(secret)), (.post, .post(secret)),
            (.secretJWT, .assertion(hmac, keyID: nil)), (.none, OAuth2Client.Authentication.none),
        ]
        for (registered, used) in ways {
            var client = ClientRegistration(
                OAuth2Harness.clientID,
                secret: registered == .none ? nil : "app-secret"
            )
            client.authentication = registered
            try await Self.expectDiagnosis(nil, client, used)
        }
        try await Self.expectDiagnosis(
            .misconfigured,
            ClientRegistration(OAuth2Harness.clientID, secret: "another"),
            .basic(secret)
        )
    }

    @Test(
        "a private key authenticates by RS256 and PS256",
        arguments: [
            SigningAlgorithm.rs256, .ps256,
        ]
    )
    func privateKey(algorithm: SigningAlgorithm) async throws {
        var client = ClientRegistration(OAuth2Harness.clientID)
        client.authentication = .privateKeyJWT
        client.keyPEM = Fixtures.rsaKey
        let key = try SigningKey(
            pem: Secret(Fixtures.rsaKey),
            credential: "test",
            algorithm: algorithm
        )
        try await Self.expectDiagnosis(nil, client, .assertion(key, keyID: nil))
    }

    static func expectDiagnosis(
        _ failure: EffectFailure?,
        _ client: ClientRegistration,
        _ authentication: OAuth2Client.Authentication
    ) async throws {
        var configuration = SandboxConfiguration()
        configuration.oauth2.clients = [client]
        let settings: (RunningSandbox) -> OAuth2Setup = { sso($0, authentication) }
        try await OAuth2Harness.withSandbox(.oauth2, configuration, settings: settings) {
            provider,
            _ in
            #expect(await provider.diagnose() == failure)
        }
    }

    @Test(
        "Google: a refresh token is live, its revocation ends the project's grant, then it is dead"
    )
    func google() async throws {
        let clientID = Self.googleClient
        try await OAuth2Harness.withSandbox(.google, settings: Self.google) { provider, sandbox in
            var order = SandboxOrder.Tokens()
            order.clientID = clientID
            let token = try #require(try sandbox.issueTokens(order, at: .google).first)
            let refresh = OpenCredential(
                kind: .refreshToken,
                clientID: clientID,
                secret: Secret(try #require(token.refreshToken))
            )
            #expect(await provider.check(refresh) == .live)
            #expect(await provider.revoke(refresh) == .success)
            #expect(await provider.check(refresh) == .dead)
            #expect(await provider.revoke(refresh) == .alreadyInvalid)
            #expect(await provider.diagnose() == nil)
            var signInOrder = SandboxOrder.SignIn(user: "ann")
            signInOrder.clientID = clientID
            signInOrder.scope = "openid"
            let signIn = try sandbox.signIn(signInOrder, at: .google)
            let idToken = try #require(signIn.idToken)
            let verified = try await provider.verify(
                SignIn(
                    clientID: clientID,
                    idToken: Secret(idToken),
                    rawNonce: Secret(signIn.rawNonce)
                )
            )
            #expect(verified.subject.exposeText() == signIn.subject)
        }
    }

    @Test("Google: a code of a mobile SDK needs an empty redirect URI, and no other will do")
    func mobileCode() async throws {
        try await OAuth2Harness.withSandbox(.google, settings: Self.google) { provider, sandbox in
            for (redirectURI, isTaken) in [("", true), (nil, false), ("https://a.example", false)] {
                var order = SandboxOrder.SignIn(user: "ann")
                order.clientID = Self.googleClient
                order.redirectURI = ""
                let signIn = try sandbox.signIn(order, at: .google)
                let code = OpenCredential(
                    kind: .authorizationCode,
                    clientID: Self.googleClient,
                    secret: Secret(try #require(signIn.code)),
                    redirectURI: redirectURI,
                    codeVerifier: signIn.codeVerifier.map { Secret($0) }
                )
                let answer = await provider.exchange(code)
                #expect((SandboxHarness.tokens(answer) != nil) == isTaken)
                if !isTaken, case .refused = answer { continue }
                #expect(isTaken, "\(redirectURI ?? "none")")
            }
        }
    }

    private static let googleClient = "1234567890-web.apps.googleusercontent.com"

    private static func google(_ sandbox: RunningSandbox) -> OAuth2Setup {
        let base = sandbox.baseURL(of: .google)
        var settings = OAuth2Setup(
            profile: .google,
            clients: [
                OAuth2Client(id: googleClient, authentication: .post(Secret("google-secret")))
            ]
        )
        settings.profile.tokenURL = base + "/token"
        settings.profile.revocationURL = base + "/revoke"
        settings.profile.keysURL = base + "/oauth2/v3/certs"
        return settings
    }
}
