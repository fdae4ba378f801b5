import Cryptography
import Encoding

/// The challenge that a code was asked for with (RFC 7636).
struct ProofKey: Sendable {
    /// The `S256` challenge.
    let challenge: String

    /// Tells whether `verifier` is what the challenge was made from (RFC 7636 §4.6).
    func accepts(_ verifier: String?) -> Bool {
        verifier.map { Self.challenge(of: $0) == challenge } ?? false
    }

    static func challenge(of verifier: String) -> String {
        Base64URL.text(SHA256.hash(Array(verifier.utf8)))
    }
}
