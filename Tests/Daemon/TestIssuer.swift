import Encoding
import Lifecycle

@testable import Sandbox

/// Signs tokens as an issuer does, and publishes the key for that.
struct TestIssuer: Sendable {
    let keyID: String
    private let key: CryptoKey

    /// Signs with RSA as RS256, or with P-256 as ES256.
    init(keyID: String = "key-1", isElliptic: Bool = false) throws {
        self.keyID = keyID
        key = isElliptic ? try CryptoKey.makeP256() : try CryptoKey.makeRSA()
    }

    /// The key as a member of a key set (RFC 7517).
    func jwk() throws -> String {
        guard !key.isP256 else {
            let x = Base64URL.text(padded(try key.number("qx")))
            let y = Base64URL.text(padded(try key.number("qy")))
            return #"{"kty":"EC","crv":"P-256","kid":"\#(keyID)","use":"sig","alg":"ES256","#
                + #""x":"\#(x)","y":"\#(y)"}"#
        }
        let modulus = Base64URL.text(try key.number("n"))
        let exponent = Base64URL.text(try key.number("e"))
        return #"{"kty":"RSA","kid":"\#(keyID)","use":"sig","alg":"RS256","#
            + #""n":"\#(modulus)","e":"\#(exponent)"}"#
    }

    /// A coordinate has 32 bytes (RFC 7518 §6.2.1.2).
    private func padded(_ number: [UInt8]) -> [UInt8] {
        Array(repeating: 0, count: max(0, 32 - number.count)) + number
    }

    func keySet() throws -> String { #"{"keys":[\#(try jwk())]}"# }

    /// A token with these members, whose values are JSON; `nil` leaves one out.
    func token(_ claims: [String: String?], type: String? = nil) throws -> String {
        let members = claims.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
        return try JSONWebToken.signed(
            Array(("{" + members.sorted().joined(separator: ",") + "}").utf8),
            header: JSONWebToken.Header(
                alg: key.isP256 ? "ES256" : "RS256",
                kid: keyID,
                typ: type
            ),
            key: key
        )
    }
}
