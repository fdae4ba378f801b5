import Cryptography
import Encoding
import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("OAuth 2 client authentication")
struct OAuth2ClientTests {
    private struct Claims: Encodable {
        var iss = "client"
        var sub = "client"
        var aud: String
        var iat: Int64
        var exp: Int64
        var jti: String? = TokenGenerator.text()
    }

    /// Two keys of each kind; making an RSA key takes a tenth of a second.
    private static let keys = Result {
        (
            rsa: [try CryptoKey.makeRSA(), try CryptoKey.makeRSA()],
            p256: [try CryptoKey.makeP256(), try CryptoKey.makeP256()]
        )
    }
    private static let secret = "0123456789abcdef0123456789abcdef"

    private func fixture(
        _ authentication: ClientAuthentication,
        key: CryptoKey? = nil,
        body: (SandboxFixture) async throws -> Void
    ) async throws {
        var client = ClientRegistration("client", secret: Self.secret)
        client.authentication = authentication
        client.keyPEM = try key?.publicPEM()
        try await SandboxFixture.with { configuration in
            configuration.oauth2.clients = [client]
        } body: { fixture in
            try await body(fixture)
        }
    }

    private func assertion(
        _ fixture: SandboxFixture,
        algorithm: String,
        key: CryptoKey? = nil,
        changing change: (inout Claims) -> Void = { _ in }
    ) throws -> [String: String] {
        let now = SandboxClock.wallMilliseconds() / 1000
        var claims = Claims(
            aud: "\(fixture.sandbox.baseURL(of: .oauth2))/token",
            iat: now,
            exp: now + 60
        )
        change(&claims)
        let header = JSONWebToken.Header(alg: algorithm)
        let payload = Array(try JSONEncoder().encode(claims))
        var text: String
        if let key {
            text = try JSONWebToken.signed(payload, header: header, key: key)
        } else {
            text = Base64URL.text(try JSONEncoder().encode(header)) + "."
            text += Base64URL.text(payload)
            let code = KeyedHash.sha256(
                key: Array(Self.secret.utf8),
                message: Array(text.utf8)
            )
            text += "." + Base64URL.text(code)
        }
        return ["client_assertion": text, "client_assertion_type": PresentedAssertion.type]
    }

    private func revoke(
        _ fixture: SandboxFixture,
        _ fields: [String: String],
        headers: [String: String] = [:]
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/oauth2/revoke",
            fields.merging(["token": "x"]) { $1 },
            headers: headers
        )
    }

    @Test("a failed authentication is 401 invalid_client and says which scheme there is")
    func refused() async throws {
        try await fixture(.basic) { fixture in
            for (fields, headers) in [
                ([:], [:]), ([:], SandboxFixture.basic("client", "wrong")),
                ([:], SandboxFixture.basic("nobody", Self.secret)),
                (["client_id": "client", "client_secret": Self.secret], [:]),
                (["client_id": "another"], SandboxFixture.basic("client", Self.secret)),
            ] {
                let answer = try await revoke(fixture, fields, headers: headers)
                #expect(try answer.verdict == "401 'invalid_client'")
                #expect(
                    answer.headers.first(name: "www-authenticate") == "Basic realm=\"sandbox\""
                )
            }
            let good = SandboxFixture.basic("client", Self.secret)
            #expect(try await revoke(fixture, [:], headers: good).status == 200)
            let twice = try await revoke(
                fixture,
                ["client_secret": Self.secret],
                headers: good
            )
            #expect(try twice.verdict == "400 'invalid_request'")
        }
    }

    @Test("Basic carries the id and the secret form-encoded")
    func encodedBasic() async throws {
        try await SandboxFixture.with { configuration in
            configuration.oauth2.clients = [ClientRegistration("a:b", secret: "p+q %")]
        } body: { fixture in
            for (password, status) in [("p%2Bq+%25", 200), ("p+q %", 401)] {
                let headers = SandboxFixture.basic("a%3Ab", password)
                let answer = try await revoke(fixture, [:], headers: headers)
                #expect(answer.status == status)
            }
        }
    }

    @Test("a secret in the form, and a public client")
    func formAndNone() async throws {
        try await fixture(.post) { fixture in
            for (secret, status) in [(Self.secret, 200), ("wrong", 401)] {
                let fields = ["client_id": "client", "client_secret": secret]
                let answer = try await revoke(fixture, fields)
                #expect(answer.status == status)
            }
            let basic = SandboxFixture.basic("client", Self.secret)
            let answer = try await revoke(fixture, [:], headers: basic)
            #expect(answer.status == 401)
        }
        try await fixture(.none) { fixture in
            #expect(try await revoke(fixture, ["client_id": "client"]).status == 200)
            let signIn = try fixture.sandbox.signIn(.init(user: "alice"), at: .oauth2)
            let form = ["grant_type": "authorization_code", "code": try #require(signIn.code)]
            let client = ["client_id": "client"].merging(form) { $1 }
            #expect(try await fixture.post("/oauth2/token", client).status == 400)
            let proof = ["code_verifier": try #require(signIn.codeVerifier)]
            let whole = client.merging(proof) { $1 }
            #expect(try await fixture.post("/oauth2/token", whole).status == 200)
        }
    }

    @Test("client_secret_jwt is an HMAC by the secret, about this client and server, used once")
    func secretJWT() async throws {
        try await fixture(.secretJWT) { fixture in
            let good = try assertion(fixture, algorithm: "HS256")
            #expect(try await revoke(fixture, good).status == 200)
            // The same jti again.
            #expect(try await revoke(fixture, good).status == 401)
            let changes: [(inout Claims) -> Void] = [
                { $0.aud = "https://elsewhere.example/token" }, { $0.sub = "other" },
                { $0.iss = "other" }, { $0.exp = $0.iat - 1 }, { $0.jti = nil },
            ]
            for change in changes {
                let bad = try assertion(fixture, algorithm: "HS256", changing: change)
                #expect(try await revoke(fixture, bad).status == 401)
            }
            let unsigned = try assertion(fixture, algorithm: "none")
            #expect(try await revoke(fixture, unsigned).status == 401)
        }
    }

    @Test(
        "private_key_jwt is signed by the registered key",
        arguments: ["RS256", "PS256", "ES256"]
    )
    func privateKeyJWT(algorithm: String) async throws {
        let keys = try Self.keys.get()
        let key = algorithm == "ES256" ? keys.p256[0] : keys.rsa[0]
        let stranger = algorithm == "ES256" ? keys.p256[1] : keys.rsa[1]
        try await fixture(.privateKeyJWT, key: key) { fixture in
            let good = try assertion(fixture, algorithm: algorithm, key: key)
            #expect(try await revoke(fixture, good).status == 200)
            let bad = try assertion(fixture, algorithm: algorithm, key: stranger)
            #expect(try await revoke(fixture, bad).status == 401)
            // The issuer is as good an audience as the endpoint.
            let issuer = fixture.sandbox.baseURL(of: .oauth2)
            let other = try assertion(fixture, algorithm: algorithm, key: key) { $0.aud = issuer }
            #expect(try await revoke(fixture, other).status == 200)
            let hashed = try assertion(fixture, algorithm: "HS256")
            #expect(try await revoke(fixture, hashed).status == 401)
        }
    }
}
