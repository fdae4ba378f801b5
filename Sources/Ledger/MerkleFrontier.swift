/// The right edge of a growing Merkle tree: all that appending and the root need.
///
/// It holds the roots of the complete subtrees that the leaves fall into, the largest first: one
/// per one-bit of `size` (RFC 6962 §2.1), so at most 63 hashes for any number of leaves.
package struct MerkleFrontier: Hashable, Sendable {
    /// A complete subtree that an append finished.
    package struct Subtree: Hashable, Sendable {
        /// It spans `1 << level` leaves.
        package let level: Int
        /// Its place among the subtrees of its level, from 0.
        package let index: Int
        package let hash: [UInt8]
    }

    package private(set) var size = 0
    /// The roots of the complete subtrees, the largest first.
    package private(set) var roots: [[UInt8]] = []

    package init() {}

    /// Takes up a stored edge; `nil` when there is not one root per one-bit of `size`.
    package init?(size: Int, roots: [[UInt8]]) {
        guard size >= 0, roots.count == size.nonzeroBitCount,
            roots.allSatisfy({ $0.count == 32 })
        else { return nil }
        self.size = size
        self.roots = roots
    }

    /// Adds a leaf, and returns every subtree that is complete with it, from the leaf upwards.
    package mutating func append(_ leafHash: [UInt8]) -> [Subtree] {
        var finished = [Subtree(level: 0, index: size, hash: leafHash)]
        var hash = leafHash
        for level in 0..<size.trailingOneBitCount {
            hash = MerkleHash.node(roots.removeLast(), hash)
            finished.append(Subtree(level: level + 1, index: size >> (level + 1), hash: hash))
        }
        roots.append(hash)
        size += 1
        return finished
    }

    /// The root over all leaves (RFC 6962 §2.1).
    package func root() -> [UInt8] {
        guard var root = roots.last else { return MerkleHash.empty }
        for left in roots.dropLast().reversed() { root = MerkleHash.node(left, root) }
        return root
    }
}

extension Int {
    /// How many of the lowest bits are one before the first zero.
    fileprivate var trailingOneBitCount: Int { (~self).trailingZeroBitCount }
}
