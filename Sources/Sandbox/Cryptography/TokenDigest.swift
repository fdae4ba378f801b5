import Cryptography
import Encoding

/// SHA-256 of a token or code: how the sandbox keeps and logs them, so that neither its memory nor
/// its log holds one in the clear.
struct TokenDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The first 128 bits identify a token; the rest would only cost memory.
    init(_ token: String) {
        let bytes = SHA256.hash(Array(token.utf8))
        high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The first 64 bits in hexadecimal: enough to match log lines, useless to guess from.
    var prefix: String {
        let text = String(high, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// `c_hash` and `at_hash` (OpenID Connect Core 1.0 §3.3.2.11).
    static func half(_ text: String) -> String {
        Base64URL.text(SHA256.hash(Array(text.utf8)).prefix(16))
    }

    /// Decimal digits that follow from a text: the user ids of most providers.
    static func digits(of text: String, count: Int) -> String {
        hexadecimal(text).utf8.prefix(count).map { String(Int($0) % 10) }.joined()
    }

    /// SHA-256 in lower-case hexadecimal, the usual form of a nonce claim.
    static func hexadecimal(_ text: String) -> String {
        Hexadecimal.text(SHA256.hash(Array(text.utf8)))
    }
}
