import Crypto
import Encoding
import HTTP

/// SHA-256 (FIPS 180-4), for the two hashes that the rules for id tokens ask for.
enum SHA256Digest {
    /// The 32 bytes of the digest.
    static func hash(_ message: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: message)) }

    /// The digest in lower-case hexadecimal.
    static func hexadecimal(_ message: [UInt8]) -> [UInt8] {
        Hexadecimal.encode(hash(message))
    }
}
