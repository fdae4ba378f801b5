import Crypto

/// SHA-256 (FIPS 180-4).
enum SHA256Digest {
    static func hash(_ message: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: message)) }
}
