import Encoding
package import Engine

/// The compact form of a signed JWT (RFC 7515 §3.1).
package enum CompactToken {
    /// Signs `claims`; `members` of the header stand beside `alg` and `typ`.
    ///
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
