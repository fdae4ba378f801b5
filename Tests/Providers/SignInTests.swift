import Cryptography
import Encoding
import Engine
import Lifecycle
import Synchronization
import Testing
import Vault

@testable import HTTP
@testable import Providers

/// Makes id tokens as Apple does, and ones that Apple never would.
enum IDTokenGenerator {
    static let keyID = "key-1"
    static let nonce = "raw-nonce-of-the-app"
    static let now = WallTime(unixMilliseconds: 1_800_000_000_000)

    static let hashedNonce = Hexadecimal.text(SHA256.hash(Array(nonce.utf8)))

    static let jwk =
        #"{"kty":"RSA","kid":"key-1","use":"sig","alg":"RS256","e":"AQAB","#
        + #""n":"\#(Fixtures.modulus)"}"#

    static let jwks = #"{"keys":[\#(jwk)]}"#

    static func claims(_ changed: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "iss": #""https://appleid.apple.com""#, "aud": #""com.example.app""#,
            "sub": #""001234.abc.0042""#, "iat": "1799999990", "exp": "1800000600",
            "nonce": #""\#(hashedNonce)""#,
        ]
        members.merge(changed) { _, new in new }
        let texts = members.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
        return "{" + texts.sorted().joined(separator: ",") + "}"
    }

    static func token(
        header: String = #"{"alg":"RS256","kid":"key-1"}"#,
        claims: String = claims()
    ) throws -> String {
        let key = try SigningKey(
            pem: Secret(Fixtures.rsaKey),
            credential: "test",
            algorithm: .rs256
        )
        var text: [UInt8] = []
        Base64URL.append(Array(header.utf8), to: &text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(Array(claims.utf8), to: &text)
        let signature = try key.sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func signIn(_ token: String, nonce: String = nonce) -> SignIn {
        SignIn(
            clientID: AppleHarness.clientID,
            idToken: Secret(token),
            rawNonce: Secret(nonce)
        )
    }
}

@Suite("A fresh sign-in")
struct SignInTests {
    /// Runs a provider against a server that hands out the generator's key.
    static func verify(
        _ signIn: SignIn,
        jwks: String = IDTokenGenerator.jwks
    ) async throws -> SignInError.Kind? {
        try await RawServer.with(answering: Golden.text(jwks)) { server in
            try await AppleHarness.with(server) { provider in await kind(provider, signIn) }
        }
    }

    static func kind(_ provider: AppleProvider, _ signIn: SignIn) async -> SignInError.Kind? {
        do throws(SignInError) {
            _ = try await provider.verify(signIn)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("that keeps every rule says who signed in, and is known by its hash")
    func accepted() async throws {
        let token = try IDTokenGenerator.token()
        try await RawServer.with(answering: Golden.text(IDTokenGenerator.jwks)) { server in
            try await AppleHarness.with(server) { provider in
                let verified = try await provider.verify(IDTokenGenerator.signIn(token))
                #expect(verified.subject.exposeText() == "001234.abc.0042")
                #expect(verified.issuedAt.unixMilliseconds == 1_799_999_990_000)
                #expect(verified.expiresAt.unixMilliseconds == 1_800_000_600_000)
                #expect(verified.fingerprint == SHA256.hash(Array(token.utf8)))
                #expect(server.requests.first?.hasPrefix("GET /auth/keys HTTP/1.1") == true)
            }
        }
    }

    @Test(
        "is refused for the first rule that it breaks",
        arguments: [
            (["iss": #""https://appleid.apple.com/""#], .wrongIssuer),
            (["iss": nil], .wrongIssuer),
            (["aud": #""com.example.other""#], .wrongAudience),
            (["aud": #"["com.example.other"]"#], .wrongAudience),
            (["aud": nil], .wrongAudience),
            (["aud": #"["x","com.example.app"]"#], nil),
            (["exp": "1799999940"], .expired), (["exp": "1799999941"], nil),
            (["exp": nil], .malformedIDToken), (["exp": #""1800000600""#], .malformedIDToken),
            (["exp": "1e300"], .malformedIDToken),
            (["iat": "1800000061"], .issuedInFuture), (["iat": "1800000060"], nil),
            (["iat": nil], .malformedIDToken),
            (["nonce": nil], .nonceMismatch), (["nonce": #""""#], .nonceMismatch),
            (["nonce": nil, "nonce_supported": "true"], .nonceMismatch),
            (["nonce": nil, "nonce_supported": "false"], nil),
            (["nonce": nil, "nonce_supported": #""false""#], nil),
            (["nonce": #""another""#, "nonce_supported": "false"], .nonceMismatch),
            (["nonce": #""""#, "nonce_supported": "false"], .nonceMismatch),
            (["nonce": #""\#(IDTokenGenerator.nonce)""#], nil),
            (["nonce": #""RAW-NONCE-OF-THE-APP""#], .nonceMismatch),
            (["sub": nil], .missingSubject), (["sub": #""""#], .missingSubject),
            (["sub": "7"], .missingSubject),
        ] as [([String: String?], SignInError.Kind?)]
    )
    func claims(_ changed: [String: String?], kind: SignInError.Kind?) async throws {
        let token = try IDTokenGenerator.token(claims: IDTokenGenerator.claims(changed))
        #expect(try await Self.verify(IDTokenGenerator.signIn(token)) == kind)
    }

    @Test(
        "never chooses how it is checked",
        arguments: [
            (#"{"alg":"none","kid":"key-1"}"#, .badSignature),
            (#"{"alg":"HS256","kid":"key-1"}"#, .badSignature),
            (#"{"alg":"ES256","kid":"key-1"}"#, .badSignature),
            (#"{"alg":"rs256","kid":"key-1"}"#, .badSignature),
            (#"{"alg":"RS256"}"#, .unknownKey), (#"{"alg":"RS256","kid":"key-2"}"#, .unknownKey),
            (#"{"alg":"RS256","kid":"key-1","crit":["b64"]}"#, .malformedIDToken),
            (#"{"alg":"RS256","alg":"none","kid":"key-1"}"#, .malformedIDToken),
            (#"{"kid":"key-1"}"#, .malformedIDToken), ("x", .malformedIDToken),
        ] as [(String, SignInError.Kind)]
    )
    func headers(_ header: String, kind: SignInError.Kind) async throws {
        let token = try IDTokenGenerator.token(header: header)
        #expect(try await Self.verify(IDTokenGenerator.signIn(token)) == kind)
    }

    @Test("has one spelling: a changed character, part or length is refused")
    func spelling() async throws {
        let token = try IDTokenGenerator.token()
        let parts = token.split(separator: ".").map(String.init)
        let other = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims(["sub": #""someone""#])
        )
        let swapped = [parts[0], String(other.split(separator: ".")[1]), parts[2]].joined(
            separator: "."
        )
        #expect(try await Self.verify(IDTokenGenerator.signIn(swapped)) == .badSignature)
        #expect(
            try await Self.verify(IDTokenGenerator.signIn("\(parts[0]).\(parts[1]).AAAA"))
                == .badSignature
        )
        // 2048 bits leave four spare bits in the last character: none of them may be set.
        let respelled = Self.respelled(token)
        for text in [
            respelled, token + "=", token + " ", " " + token, token + ".",
            "\(parts[0]).\(parts[1])", "",
            "\(parts[0]).\(parts[1]).", String(repeating: "A", count: 9000),
        ] {
            let kind = try await Self.verify(IDTokenGenerator.signIn(text))
            #expect(kind == .malformedIDToken || (text.hasSuffix(".") && kind == .badSignature))
        }
    }

    @Test("without a nonce, or for a client that is not ours, is refused")
    func binding() async throws {
        let token = try IDTokenGenerator.token(claims: IDTokenGenerator.claims(["nonce": #""""#]))
        #expect(try await Self.verify(IDTokenGenerator.signIn(token, nonce: "")) == .nonceMismatch)
        let stranger = SignIn(
            clientID: "com.example.other",
            idToken: Secret(
                try IDTokenGenerator.token(
                    claims: IDTokenGenerator.claims(["aud": #""com.example.other""#])
                )
            ),
            rawNonce: Secret(IDTokenGenerator.nonce)
        )
        #expect(try await Self.verify(stranger) == .wrongAudience)
    }

    @Test(
        "waits for keys that can be used",
        arguments: [
            ("", .keysUnavailable), ("{}", .keysUnavailable), (#"{"keys":[]}"#, .keysUnavailable),
            (#"{"keys":[\#(IDTokenGenerator.jwk),\#(IDTokenGenerator.jwk)]}"#, .keysUnavailable),
            (#"{"keys":[{"kty":"EC","kid":"key-1"},\#(IDTokenGenerator.jwk)]}"#, nil),
            (
                IDTokenGenerator.jwks.replacing(#""use":"sig""#, with: #""use":"enc""#),
                .keysUnavailable
            ),
            (IDTokenGenerator.jwks.replacing("RS256", with: "RS512"), .keysUnavailable),
            (IDTokenGenerator.jwks.replacing(Fixtures.modulus, with: "AQAB"), .keysUnavailable),
            (
                #"{"keys":["# + Array(repeating: "{}", count: 33).joined(separator: ",") + "]}",
                .keysUnavailable
            ),
        ] as [(String, SignInError.Kind?)]
    )
    func keys(_ jwks: String, kind: SignInError.Kind?) async throws {
        let token = try IDTokenGenerator.token()
        #expect(try await Self.verify(IDTokenGenerator.signIn(token), jwks: jwks) == kind)
    }

    /// The same signature with one of the spare bits of its last character set.
    private static func respelled(_ token: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = token.last, let index = alphabet.firstIndex(of: last) else { return token }
        return token.dropLast() + String(alphabet[index | 1])
    }
}

@Suite("The keys of a provider")
struct SigningKeyCacheTests {
    @Test("are fetched once for many, kept an hour, and again for an unknown id once a minute")
    func caching() async throws {
        let time = ManualTime()
        try await RawServer.with(answering: Golden.text(IDTokenGenerator.jwks)) { server in
            let settings = AppleHarness.settings("http://127.0.0.1:\(server.port)")
            try await AppleHarness.with(settings, now: { time.now }) { provider in
                let good = IDTokenGenerator.signIn(
                    try IDTokenGenerator.token(
                        claims: IDTokenGenerator.claims(["exp": "1900000000"])
                    )
                )
                let unknown = IDTokenGenerator.signIn(
                    try IDTokenGenerator.token(header: #"{"alg":"RS256","kid":"key-2"}"#)
                )
                await withTaskGroup(of: SignInError.Kind?.self) { group in
                    for _ in 0..<20 { group.addTask { await SignInTests.kind(provider, good) } }
                    for await kind in group { #expect(kind == nil) }
                }
                #expect(server.requests.count == 1)
                for _ in 0..<5 { #expect(await SignInTests.kind(provider, unknown) == .unknownKey) }
                #expect(server.requests.count == 1)
                time.advance(by: .seconds(61))
                for _ in 0..<5 { #expect(await SignInTests.kind(provider, unknown) == .unknownKey) }
                #expect(server.requests.count == 2)
                time.advance(by: .seconds(3599))
                #expect(await SignInTests.kind(provider, good) == nil)
                #expect(server.requests.count == 2)
                time.advance(by: .seconds(1))
                #expect(await SignInTests.kind(provider, good) == nil)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test("are asked for again some seconds after a failure, not at once")
    func failure() async throws {
        let time = ManualTime()
        let isDown = Mutex(true)
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            isDown.withLock { $0 } ? .http(500) : Golden.text(IDTokenGenerator.jwks)
        }
        try await RawServer.with(react: react) { server in
            let settings = AppleHarness.settings("http://127.0.0.1:\(server.port)")
            try await AppleHarness.with(settings, now: { time.now }) { provider in
                let good = IDTokenGenerator.signIn(try IDTokenGenerator.token())
                #expect(await SignInTests.kind(provider, good) == .keysUnavailable)
                isDown.withLock { $0 = false }
                #expect(await SignInTests.kind(provider, good) == .keysUnavailable)
                #expect(server.requests.count == 1)
                time.advance(by: .seconds(6))
                #expect(await SignInTests.kind(provider, good) == nil)
            }
        }
    }
}
