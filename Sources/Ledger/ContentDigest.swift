import Crypto

/// SHA-256 over bytes that come in pieces.
package struct ContentDigest: Sendable {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { hash.update(data: bytes) }

    /// 32 bytes.
    package var bytes: [UInt8] { Array(hash.finalize()) }
}
