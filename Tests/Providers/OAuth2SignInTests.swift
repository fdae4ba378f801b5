import Encoding
import Engine
import Lifecycle
import Testing
import Vault

@testable import HTTP
@testable import Providers

@Suite("Id tokens of the OAuth 2 family")
struct OAuth2SignInTests {
    /// An ES256 token of the issuer, signed with the key of the fixtures.
    static func idToken(_ algorithm: String, nonce: String) throws -> String {
        let key = try SigningKey(
            pem: Secret(Fixtures.serverKey),
            credential: "test",
            algorithm: .es256
        )
        let claims = IDTokenGenerator.claims([
            "iss": #""https://sso.example.com""#, "aud": #""app""#, "nonce": #""\#(nonce)""#,
        ])
        var text: [UInt8] = []
        Base64URL.append(Array(#"{"alg":"\#(algorithm)","kid":"ec-1"}"#.utf8), to: &text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(Array(claims.utf8), to: &text)
        let signature = try key.sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test(
        "an id token is accepted by ES256, and only as its key and the nonce's rule say",
        arguments: [
            ("ES256", "plain", IDTokenGenerator.nonce, nil),
            ("ES256", "sha256", IDTokenGenerator.hashedNonce, nil),
            ("ES256", "plain", IDTokenGenerator.hashedNonce, .nonceMismatch),
            ("ES256", "sha256", IDTokenGenerator.nonce, .nonceMismatch),
            ("RS256", "plain", IDTokenGenerator.nonce, .badSignature),
            ("none", "plain", IDTokenGenerator.nonce, .badSignature),
        ] as [(String, String, String, SignInError.Kind?)]
    )
    func es256(algorithm: String, rule: String, nonce: String, kind: SignInError.Kind?) async throws
    {
        let jwks =
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"ec-1","#
            + #""x":"MfskwmCHSPjgxrqjkwUvRq9o_faENDy_dPNekBR36Gg","#
            + #""y":"4XsPSGcTn0XQ7i6dUUVNO0XUG5VAe-_IkhyzTCfE7oI"}]}"#
        try await RawServer.with(answering: Golden.text(jwks)) { server in
            var settings = OAuth2Harness.settings()
            settings.profile.issuer = "https://sso.example.com"
            settings.profile.keysURL = "http://127.0.0.1:\(server.port)/jwks"
            settings.profile.nonce = try #require(NonceRule(rawValue: rule))
            let signIn = SignIn(
                clientID: "app",
                idToken: Secret(try Self.idToken(algorithm, nonce: nonce)),
                rawNonce: Secret(IDTokenGenerator.nonce)
            )
            let found: SignInError.Kind? = try await OAuth2Harness.with(settings) { provider in
                do throws(SignInError) {
                    _ = try await provider.verify(signIn)
                    return nil
                } catch {
                    return error.kind
                }
            }
            #expect(found == kind)
        }
    }
}
