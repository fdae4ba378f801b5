import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("Microsoft's token endpoint")
struct MicrosoftTokenTests {
    static let clientID = "11111111-2222-4333-8444-555555555555"
    static let client = ["client_id": clientID, "client_secret": "microsoft-secret"]
    static let contoso = "c0c0c0c0-0000-4000-8000-000000000001"
    static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Status and AADSTS number.
    private func verdict(_ answer: SandboxFixture.Answer) throws -> String {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Body: Decodable {
            let error: String?
            let error_codes: [Int]?
            let error_description: String?
        }
        let body = try JSONDecoder().decode(Body.self, from: Data(answer.body.utf8))
        guard let error = body.error, let number = body.error_codes?.first else {
            return "\(answer.status)"
        }
        #expect(body.error_description?.hasPrefix("AADSTS\(number): ") == true)
        return "\(answer.status) \(error) \(number)"
    }

    private func token(
        _ fixture: SandboxFixture,
        _ form: [String: String],
        tenant: String = "common"
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/microsoft/\(tenant)/oauth2/v2.0/token",
            Self.client.merging(form) { $1 }
        )
    }

    private func refresh(
        _ fixture: SandboxFixture,
        _ token: String,
        tenant: String = "common"
    ) async throws -> SandboxFixture.Answer {
        let form = ["grant_type": "refresh_token", "refresh_token": token]
        return try await self.token(fixture, form, tenant: tenant)
    }

    @Test("an id token names tenant and object; a personal account has its own tenant and zeros")
    func idTokens() async throws {
        struct Claims: Decodable {
            let iss: String
            let aud: String
            let sub: String
            let oid: String
            let tid: String
            let nonce: String?
        }
        try await SandboxFixture.with { fixture in
            for (realm, tid) in [(nil, Self.contoso), ("consumers", Self.personal)] {
                var order = SandboxOrder.SignIn(user: "alice")
                order.realm = realm
                order.nonce = "n-1"
                let signIn = try fixture.sandbox.signIn(order, at: .microsoft)
                let answer = try await token(
                    fixture,
                    ["grant_type": "authorization_code", "code": try #require(signIn.code)]
                )
                let claims = try await fixture.claims(
                    try answer.text("id_token"),
                    Claims.self,
                    keysAt: "/microsoft/common/discovery/v2.0/keys"
                )
                #expect(claims.tid == tid)
                #expect(claims.iss == "https://login.microsoftonline.com/\(tid)/v2.0")
                #expect(claims.sub == signIn.subject)
                #expect(claims.aud == Self.clientID)
                #expect(claims.nonce == "n-1")
                #expect(claims.oid.hasPrefix("00000000-0000-0000-") == (realm != nil))
            }
        }
    }

    @Test("discovery has a pattern for common, the tenant's id for a domain")
    func discovery() async throws {
        try await SandboxFixture.with { fixture in
            for (tenant, id) in [
                ("common", "{tenantid}"), ("organizations", "{tenantid}"),
                ("consumers", Self.personal), ("contoso.example", Self.contoso),
            ] {
                let answer = try await fixture.send(
                    .GET,
                    "/microsoft/\(tenant)/v2.0/.well-known/openid-configuration"
                )
                let issuer = "https://login.microsoftonline.com/\(id)/v2.0"
                #expect(try answer.text("issuer") == issuer)
            }
            let unknown = try await fixture.send(
                .GET,
                "/microsoft/nowhere.example/v2.0/.well-known/openid-configuration"
            )
            #expect(try verdict(unknown) == "400 invalid_request 90002")
        }
    }

    @Test("every refresh gives a new token and leaves the old one alive for its 90 days")
    func rotation() async throws {
        try await SandboxFixture.with { fixture in
            let made = try fixture.sandbox.issueTokens(at: .microsoft)[0]
            let first = try #require(made.refreshToken)
            let second = try await refresh(fixture, first).text("refresh_token")
            #expect(second != first)
            #expect(try await refresh(fixture, first).status == 200)
            fixture.sandbox.setClockOffset(.seconds(91 * 86_400))
            let dead = try await refresh(fixture, second)
            #expect(try verdict(dead) == "400 invalid_grant 700082")
        }
    }

    @Test(
        "a tenant's endpoint serves that tenant's users only",
        arguments: [
            ("common", nil, "200"), ("organizations", nil, "200"),
            ("consumers", nil, "400 invalid_grant 9002313"), ("contoso.example", nil, "200"),
            (contoso, nil, "200"), ("fabrikam.example", nil, "400 invalid_grant 9002313"),
            ("nowhere.example", nil, "400 invalid_request 90002"),
            ("common", "consumers", "200"), ("consumers", "consumers", "200"),
            (personal, "consumers", "200"),
            ("organizations", "consumers", "400 invalid_grant 9002313"),
        ] as [(String, String?, String)]
    )
    func tenants(tenant: String, realm: String?, expected: String) async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.Tokens()
            order.realm = realm
            let made = try fixture.sandbox.issueTokens(order, at: .microsoft)[0]
            let token = try #require(made.refreshToken)
            let answer = try await refresh(fixture, token, tenant: tenant)
            #expect(try verdict(answer) == expected)
        }
    }

    @Test("codes: once, ten minutes, with their redirect URI, in their tenant")
    func codes() async throws {
        try await SandboxFixture.with { fixture in
            let exchange = { (signIn: SandboxSignIn, redirect: String?, tenant: String) in
                var form = ["grant_type": "authorization_code", "code": signIn.code ?? ""]
                form["redirect_uri"] = redirect
                return try verdict(try await token(fixture, form, tenant: tenant))
            }
            var order = SandboxOrder.SignIn(user: "alice")
            order.redirectURI = "https://app.example/cb"
            let good = try fixture.sandbox.signIn(order, at: .microsoft)
            let other = "fabrikam.example"
            let uri = order.redirectURI
            #expect(try await exchange(good, nil, "common") == "400 invalid_grant 500112")
            #expect(try await exchange(good, uri, "common") == "200")
            #expect(try await exchange(good, uri, "common") == "400 invalid_grant 54005")
            let foreign = try fixture.sandbox.signIn(order, at: .microsoft)
            #expect(try await exchange(foreign, uri, other) == "400 invalid_grant 700005")
            order.ageSeconds = 601
            let old = try fixture.sandbox.signIn(order, at: .microsoft)
            #expect(try await exchange(old, uri, "common") == "400 invalid_grant 70008")
        }
    }

    @Test(
        "a client that fails to prove itself is 401, an unknown one 400",
        arguments: [
            (["client_secret": "wrong"], "401 invalid_client 7000215"),
            (["client_secret": ""], "401 invalid_client 7000218"),
            (["client_id": "99999999-0000-4000-8000-0"], "400 unauthorized_client 700016"),
            (["grant_type": ""], "400 invalid_request 900144"),
            (["refresh_token": "garbage"], "400 invalid_grant 9002313"),
        ]
    )
    func refusals(change: [String: String], expected: String) async throws {
        try await SandboxFixture.with { fixture in
            let form = ["grant_type": "refresh_token", "refresh_token": "x"]
            let answer = try await token(fixture, form.merging(change) { $1 })
            #expect(try verdict(answer) == expected)
        }
    }

    @Test(
        "refusals are in the vendor's words",
        arguments: [
            (
                .entra(50_173),
                "provided grant has expired due to it being revoked, a fresh auth token is needed. "
            ),
            (.entra(65_001), "administrator has not consented to use the application. "),
            (
                .entra(70_000),
                "unauthorized or expired. The user must first sign in and grant the client "
            ),
            (.entra(700_005), ": Provided Authorization Code is intended to use against other "),
            (.entra(700_027), "sign the client assertion is not registered on application, or the"),
            (.entra(900_144, "code"), "must contain the following parameter: 'code'. Trace ID"),
            (.entra(7_000_218), "following parameter: 'client_assertion' or 'client_secret'. "),
            (.graphForbidden, "\"Insufficient privileges to complete the operation.\""),
            (.graphNotFound, "one of its queried reference-property objects are not present.\""),
        ] as [(FamilyRefusal, String)]
    )
    func words(refusal: FamilyRefusal, text: String) {
        let body = String(decoding: refusal.reply.body, as: UTF8.self)
        #expect(body.contains(text), "\(body)")
    }

    @Test("a personal account is cut by its user alone, and its refresh then fails")
    func personalAccount() async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.Tokens()
            order.realm = "consumers"
            let made = try fixture.sandbox.issueTokens(order, at: .microsoft)[0]
            var withdrawal = SandboxOrder.Withdrawal(user: "user-1")
            withdrawal.realm = "consumers"
            #expect(try fixture.sandbox.withdraw(withdrawal, at: .microsoft) == nil)
            let answer = try await refresh(fixture, try #require(made.refreshToken))
            #expect(try verdict(answer) == "400 invalid_grant 70000")
        }
    }

    // MARK: - Certificates

    private struct Claims: Encodable {
        var iss = clientID
        var sub = clientID
        var aud: String
        var nbf: Int64
        var exp: Int64
        let jti = TokenGenerator.text()
    }

    @Test("a certificate's assertion is verified: algorithm, thumbprint, signature, claims")
    func certificate() async throws {
        let own = try CryptoKey.makeRSA()
        let stranger = try CryptoKey.makeRSA()
        let pem = try ServerCertificate.selfSigned("sandbox client", key: own)
        var registration = ClientRegistration(Self.clientID)
        registration.certificatePEM = pem
        let certificate = try ClientCertificate(pem: pem)
        let strange = try ServerCertificate.selfSigned("sandbox client", key: stranger)
        let alien = try ClientCertificate(pem: strange).thumbprint
        let client = registration
        try await SandboxFixture.with { configuration in
            configuration.microsoft.clients = [client]
        } body: { fixture in
            let path = "contoso.example/oauth2/v2.0/token"
            let real = "https://login.microsoftonline.com/\(path)"
            let here = "\(fixture.sandbox.baseURL(of: .microsoft))/\(path)"
            let elsewhere = "https://login.microsoftonline.com/common/oauth2/v2.0/token"
            let unsigned = "401 invalid_client 700027"
            let good = (certificate.thumbprint, String?.none)
            let old = (String?.none, certificate.oldThumbprint)
            for (algorithm, names, key, aud, lifetime, expected) in [
                ("PS256", good, own, real, 300, "200"),
                ("PS256", good, own, here, 300, "200"),
                ("RS256", old, own, real, 300, "200"),
                ("PS256", old, own, real, 300, unsigned),
                ("PS256", (alien, nil), own, real, 300, unsigned),
                ("PS256", good, stranger, real, 300, unsigned),
                ("PS256", good, own, elsewhere, 300, "401 invalid_client 700023"),
                ("PS256", good, own, real, -5, "401 invalid_client 700024"),
            ] as [(String, (String?, String?), CryptoKey, String, Int64, String)] {
                let now = SandboxClock.wallMilliseconds() / 1000
                let claims = Claims(aud: aud, nbf: now - 10, exp: now + lifetime)
                let assertion = try JSONWebToken.signed(
                    Array(try JSONEncoder().encode(claims)),
                    header: JSONWebToken.Header(
                        alg: algorithm,
                        typ: "JWT",
                        thumbprint: names.0,
                        oldThumbprint: names.1
                    ),
                    key: key
                )
                let answer = try await fixture.post(
                    "/microsoft/\(path)",
                    [
                        "client_id": Self.clientID, "client_assertion": assertion,
                        "client_assertion_type": PresentedAssertion.type,
                        "grant_type": "client_credentials",
                        "scope": "https://graph.microsoft.com/.default",
                    ]
                )
                #expect(try verdict(answer) == expected)
            }
        }
    }
}
