import Lifecycle

@testable import Sandbox

/// Signs tokens as an issuer does, and publishes the key for that.
struct TestIssuer: Sendable {
    let keyID: String
    private let key: CryptoKey

    init(keyID: String = "key-1") throws {
        self.keyID = keyID
        key = try CryptoKey.makeRSA()
    }

    /// The key as a member of a key set (RFC 7517).
    func jwk() throws -> String {
        let modulus = Base64URL.text(try key.number("n"))
        let exponent = Base64URL.text(try key.number("e"))
        return #"{"kty":"RSA","kid":"\#(keyID)","use":"sig","alg":"RS256","#
            + #""n":"\#(modulus)","e":"\#(exponent)"}"#
    }

    func keySet() throws -> String { #"{"keys":[\#(try jwk())]}"# }

    /// A token with these members, whose values are JSON; `nil` leaves one out.
    func token(_ claims: [String: String?], type: String? = nil) throws -> String {
        let members = claims.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
        return try JSONWebToken.signed(
            Array(("{" + members.sorted().joined(separator: ",") + "}").utf8),
            header: JSONWebToken.Header(alg: "RS256", kid: keyID, typ: type),
            key: key
        )
    }
}
