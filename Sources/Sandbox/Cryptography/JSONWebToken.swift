import FoundationEssentials

/// A JSON Web Token taken apart (RFC 7515 §7.1): nothing in it is trusted before its signature is.
struct JSONWebToken: Sendable {
    /// The protected header, as far as the sandbox looks at it.
    struct Header: Codable, Sendable {
        var alg: String
        var kid: String?
    }

    let header: Header
    let payload: [UInt8]
    let signature: [UInt8]
    let signedPart: [UInt8]

    /// Splits `text`; `nil` when it is not three base64url parts with a JSON header.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.bytes(parts[0]),
            let payload = Base64URL.bytes(parts[1]), let signature = Base64URL.bytes(parts[2]),
            let header = Self.decode(Header.self, from: head)
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedPart = Array((parts[0] + "." + parts[1]).utf8)
    }

    /// The claims as `type`; `nil` when they are not of that form.
    func claims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        Self.decode(type, from: payload)
    }

    /// Signs `claims` with an RSA key as RS256 or a P-256 key as ES256.
    static func signed(
        _ claims: some Encodable,
        algorithm: String,
        kid: String,
        key: CryptoKey
    ) throws -> String {
        let header = try JSONEncoder().encode(Header(alg: algorithm, kid: kid))
        let part = Base64URL.text(header) + "." + Base64URL.text(try JSONEncoder().encode(claims))
        var signature = try key.signature(over: Array(part.utf8))
        if algorithm == "ES256" {
            guard let jose = ECDSASignature.jose(fromDER: signature) else {
                throw SandboxError(.cryptography, cannot: "sign token", at: "ES256")
            }
            signature = jose
        }
        return part + "." + Base64URL.text(signature)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value?
    {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            return nil
        }
    }
}
