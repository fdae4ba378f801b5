import Encoding
package import Engine

/// The compact form of a signed JWT (RFC 7515 §3.1).
package enum CompactToken {
    /// Signs `claims`.
    ///
    /// - Parameters:
    ///   - claims: The payload.
    ///   - members: Header members beside `alg` and `typ`, such as `kid`; plain text.
    ///   - signer: Holds the key.
    /// - Returns: Header, payload and signature with dots between them.
    /// - Throws: ``VaultError`` when the key does not sign.
    package static func sign(
        _ claims: JSONBody,
        header members: [(StaticString, String)],
        by signer: any MessageSigner
    ) throws(VaultError) -> [UInt8] {
        var header = JSONBody()
        header.add("alg", signer.algorithm.rawValue)
        header.add("typ", "JWT")
        for (name, value) in members { header.add(name, value) }
        var token: [UInt8] = []
        Base64URL.append(header.bytes, to: &token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(claims.bytes, to: &token)
        let signature = try signer.sign(token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return token
    }
}
