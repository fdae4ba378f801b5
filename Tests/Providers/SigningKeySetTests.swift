import Encoding
import Engine
import Lifecycle
import Testing
import Vault

@testable import HTTP
@testable import Providers

@Suite("The key set of a provider")
struct SigningKeySetTests {
    private static func keys(
        modulus: String = Fixtures.modulus,
        exponent: String = "AQAB"
    ) -> SigningKeySet? {
        let key = #"{"kty":"RSA","kid":"key-1","n":"\#(modulus)","e":"\#(exponent)"}"#
        return SigningKeySet(Array(#"{"keys":[\#(key)]}"#.utf8))
    }

    /// A token that says RS256, whatever signed it.
    private static func token(_ algorithm: SigningAlgorithm) throws -> IDToken {
        let key = try SigningKey(
            pem: Secret(Fixtures.rsaKey),
            credential: "test",
            algorithm: algorithm
        )
        var text: [UInt8] = []
        Base64URL.append(Array(#"{"alg":"RS256","kid":"key-1"}"#.utf8), to: &text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(Array("{}".utf8), to: &text)
        let signature = try key.sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return try #require(IDToken(Secret(text)))
    }

    @Test("verifies the signature of PKCS #1 1.5 that RS256 means")
    func valid() throws {
        let keys = try #require(Self.keys())
        #expect(keys.verify(try Self.token(.rs256)))
    }

    @Test("refuses a signature of the same key by PSS")
    func otherPadding() throws {
        let keys = try #require(Self.keys())
        #expect(!keys.verify(try Self.token(.ps256)))
    }

    @Test(
        "refuses a signature with one bit changed, cut short, extended or empty",
        arguments: [0, 1, 2, 3]
    )
    func wrongSignature(change: Int) throws {
        let keys = try #require(Self.keys())
        let token = try Self.token(.rs256)
        var signature = token.signature
        switch change {
        case 0: signature[100] ^= 1
        case 1: signature.removeLast()
        case 2: signature.append(0)
        default: signature = []
        }
        var text = token.signedPart + [UInt8(ascii: ".")]
        Base64URL.append(signature, to: &text)
        let changed = try #require(IDToken(Secret(text)))
        #expect(!keys.verify(changed))
    }

    @Test(
        "refuses a modulus that is even, below 2048 or above 8192 bits",
        arguments: [
            String(Fixtures.modulus.dropLast(2)), "AA" + Fixtures.modulus.dropFirst(2), "",
            Fixtures.modulus.dropLast() + "g", String(repeating: "_", count: 1368),
            "not base64url!",
        ]
    )
    func modulus(text: String) {
        #expect(Self.keys(modulus: text) == nil)
    }

    @Test(
        "refuses an exponent that is even, 0, 1, or longer than 33 bits",
        arguments: ["", "AA", "AQ", "Ag", "AQAA", "AgAAAAE", "not base64url!"]
    )
    func exponent(text: String) { #expect(Self.keys(exponent: text) == nil) }

    @Test("takes an exponent of 2 to 33 bits, and a modulus of 8192")
    func longest() {
        #expect(Self.keys(exponent: "Aw") != nil)
        #expect(Self.keys(exponent: "AQAAAAE") != nil)
        // 1,366 digits are 8,196 bits, of which the last four are spare.
        #expect(Self.keys(modulus: String(repeating: "_", count: 1365) + "w") != nil)
    }
}
