import Encoding
import HTTP
import Lifecycle

/// How an application's raw nonce becomes the `nonce` of an id token.
package enum NonceRule: String, Sendable, CaseIterable {
    /// As it is.
    case plain
    /// SHA-256, in lower-case hexadecimal or base64url.
    case sha256
    /// Either of them.
    case any

    /// Whether `nonce` is bound to `rawNonce`; an empty or missing one never is.
    func binds(_ nonce: String?, to rawNonce: Secret) -> Bool {
        guard let nonce, rawNonce.count > 0 else { return false }
        let claimed = Secret(nonce)
        let isRaw = claimed.isEqual(to: rawNonce)
        let isHashed = rawNonce.withBytes { bytes in
            var encoded: [UInt8] = []
            Base64URL.append(SHA256Digest.hash(bytes), to: &encoded)
            let isEncoded = claimed.isEqual(to: Secret(encoded))
            let isHexadecimal = claimed.isEqual(to: Secret(SHA256Digest.hexadecimal(bytes)))
            return isEncoded || isHexadecimal
        }
        switch self {
        case .plain: return isRaw
        case .sha256: return isHashed
        case .any: return isRaw || isHashed
        }
    }
}
