import Cryptography

/// The hashes of a Merkle tree (RFC 6962 §2.1): SHA-256, 32 bytes.
///
/// The prefixes keep a leaf from passing for a node: without them, two different trees could have
/// one root.
package enum MerkleHash {
    /// The root of the tree without leaves: the hash of nothing.
    package static var empty: [UInt8] { SHA256.hash([]) }

    package static func leaf(_ bytes: [UInt8]) -> [UInt8] { SHA256.hash([0x00] + bytes) }

    package static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        SHA256.hash([0x01] + left + right)
    }
}
