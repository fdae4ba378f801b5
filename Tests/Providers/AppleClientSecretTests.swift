import Encoding
import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Apple's client secret")
struct AppleClientSecretTests {
    private static func make(
        teamID: String = "ABCDE12345",
        keyID: String = "KEY1234567",
        clientID: String = AppleHarness.clientID,
        signer: BlankSigner = BlankSigner()
    ) throws(SetupError) -> AppleClientSecret {
        try AppleClientSecret(
            AppleHarness.kind("https://stand-in.example", teamID: teamID, keyID: keyID),
            of: ProviderName("apple"),
            clientIDs: [clientID],
            signer: signer
        )
    }

    @Test("says who we are, to whom, and for how long")
    func claims() throws {
        let secret = try Self.make()
        let now = WallTime(unixMilliseconds: 1_800_000_000_999)
        let token = try #require(try secret.make(for: AppleHarness.clientID, now: now))
        let parts = token.split(separator: UInt8(ascii: "."))
        let decoded = try parts.map { try #require(Base64URL.decode($0)) }
        #expect(decoded.count == 3)
        #expect(
            String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"ES256","kid":"KEY1234567"}"#
        )
        let claims = try #require(JSONValue(decoded[1]))
        #expect(claims["iss"]?.string == "ABCDE12345")
        #expect(claims["sub"]?.string == AppleHarness.clientID)
        #expect(claims["aud"]?.string == "https://appleid.apple.com")
        #expect(claims["iat"]?.number == 1_799_999_400)
        #expect(claims["exp"]?.number == 1_800_000_900)
        #expect(decoded[2] == [UInt8](repeating: 7, count: 64))
    }

    @Test("serves all calls of five minutes, and none before the time it was made")
    func reuse() throws {
        let secret = try Self.make()
        let start = WallTime(unixMilliseconds: 1_800_000_000_000)
        func issuedAt(_ now: WallTime) throws -> Int64 {
            let token = try #require(try secret.make(for: AppleHarness.clientID, now: now))
            let claims = token.split(separator: UInt8(ascii: "."))[1]
            let number = JSONValue(try #require(Base64URL.decode(claims)))?["iat"]?.number
            return Int64(try #require(number)) + 600
        }
        #expect(try issuedAt(start) == 1_800_000_000)
        #expect(try issuedAt(start + .milliseconds(299_999)) == 1_800_000_000)
        #expect(try issuedAt(start + .seconds(300)) == 1_800_000_300)
        // The clock was set back: a secret of the future is refused at once.
        #expect(try issuedAt(start) == 1_800_000_000)
    }

    @Test("is not made for a client id that is not configured")
    func stranger() throws {
        let secret = try Self.make()
        #expect(try secret.make(for: "com.example.stranger", now: .distantPast) == nil)
    }

    @Test(
        "needs ids that can stand in JSON as they are",
        arguments: ["", "a\"b", "a\\b", "a b", "a\r\nb", "é", String(repeating: "a", count: 256)]
    )
    func malformedIDs(_ id: String) {
        for ids in [(id, "K", "c"), ("T", id, "c"), ("T", "K", id)] {
            let error = #expect(throws: SetupError.self) {
                try Self.make(teamID: ids.0, keyID: ids.1, clientID: ids.2)
            }
            #expect(error?.kind == .malformedClient)
        }
    }

    @Test("needs an ES256 key")
    func wrongAlgorithm() {
        let error = #expect(throws: SetupError.self) {
            try Self.make(signer: BlankSigner(algorithm: .rs256))
        }
        #expect(error?.kind == .wrongKeyAlgorithm)
    }
}
