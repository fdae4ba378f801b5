import Cryptography
import Encoding
import Lifecycle

/// How an application's raw nonce becomes the `nonce` of an id token.
package enum NonceRule: String, Sendable, CaseIterable {
    case plain
    /// SHA-256, in lower-case hexadecimal or base64url.
    case sha256
    case any

    /// Whether `nonce` is bound to `rawNonce`; an empty or missing one never is.
    func binds(_ nonce: String?, to rawNonce: Secret) -> Bool {
        guard let nonce, rawNonce.count > 0 else { return false }
        let claimed = Secret(nonce)
        let isRaw = claimed.isEqual(to: rawNonce)
        let hash = rawNonce.withBytes { SHA256.hash($0) }
        let isEncoded = claimed.isEqual(to: Secret(Base64URL.text(hash)))
        let isHashed = claimed.isEqual(to: Secret(Hexadecimal.text(hash))) || isEncoded
        switch self {
        case .plain: return isRaw
        case .sha256: return isHashed
        case .any: return isRaw || isHashed
        }
    }
}
