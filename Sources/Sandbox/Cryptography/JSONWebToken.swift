import Cryptography
import Encoding

/// A JSON Web Token taken apart (RFC 7515 §7.1): nothing in it is trusted before its signature is.
struct JSONWebToken: Sendable {
    struct Header: Codable, Sendable {
        var alg: String
        var kid: String?
        var typ: String?
        /// SHA-256 of the signer's certificate (RFC 7515 §4.1.8).
        var thumbprint: String?
        /// SHA-1 of the signer's certificate (RFC 7515 §4.1.7).
        var oldThumbprint: String?

        private enum CodingKeys: String, CodingKey {
            case alg, kid, typ
            case thumbprint = "x5t#S256"
            case oldThumbprint = "x5t"
        }
    }

    let header: Header
    let payload: [UInt8]
    let signature: [UInt8]
    let signedPart: [UInt8]

    /// Splits `text`; `nil` when it is not three base64url parts with a JSON header.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0].utf8),
            let payload = Base64URL.decode(parts[1].utf8),
            let signature = Base64URL.decode(parts[2].utf8),
            let header = Self.decode(Header.self, from: head)
        else { return nil }
        (self.header, self.payload, self.signature) = (header, payload, signature)
        signedPart = Array((parts[0] + "." + parts[1]).utf8)
    }

    func claims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        Self.decode(type, from: payload)
    }

    /// Signs a payload with an RSA key as RS256 or PS256 or a P-256 key as ES256.
    static func signed(_ payload: [UInt8], header: Header, key: CryptoKey) throws -> String {
        let part = Base64URL.text(try TypedJSON.bytes(header)) + "." + Base64URL.text(payload)
        var signature = try key.signature(over: Array(part.utf8), isPSS: header.alg == "PS256")
        if header.alg == "ES256" {
            guard let jose = ECDSASignature.jose(fromDER: signature) else {
                throw SandboxError(.cryptography, cannot: "sign token", at: "ES256")
            }
            signature = jose
        }
        return part + "." + Base64URL.text(signature)
    }

    /// Whether the signature is the key's, by an algorithm that fits the key.
    func isSigned(by key: CryptoKey) -> Bool {
        switch header.alg {
        case "RS256", "PS256":
            return key.isRSA
                && key.verifies(signature, over: signedPart, isPSS: header.alg == "PS256")
        case "ES256":
            guard key.isP256, let der = ECDSASignature.der(fromJOSE: signature) else {
                return false
            }
            return key.verifies(der, over: signedPart)
        default: return false
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value?
    {
        do { return try TypedJSON.value(type, from: bytes) } catch { return nil }
    }
}
