/// A leaf and why it is in the tree.
package struct LedgerProof: Hashable, Sendable {
    package let index: Int
    package let leaf: [UInt8]
    /// The hashes beside the way to the root (RFC 9162 §2.1.3).
    package let path: [[UInt8]]
}
