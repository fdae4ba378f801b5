import Cryptography

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

/// Makes the inclusion proof of a Merkle tree (RFC 9162 §2.1.3, the hashes of RFC 6962).
package struct MerkleProof: Sendable {
    /// The root of the complete subtree of `1 << level` leaves at `index << level`.
    package typealias SubtreeHash = (_ level: Int, _ index: Int) throws -> [UInt8]

    package init() {}

    /// The hashes beside the way from the leaf `index` to the root, from the leaf upwards: at most
    /// 63, one per level.
    package func inclusion(
        of index: Int,
        in size: Int,
        subtree: SubtreeHash
    ) throws -> [[UInt8]] {
        precondition(index >= 0 && index < size, "the leaf is not in the tree")
        var path: [[UInt8]] = []
        var (low, high) = (0, size)
        while high - low > 1 {
            let middle = low + Self.split(high - low)
            if index < middle {
                path.append(try root(from: middle, to: high, subtree: subtree))
                high = middle
            } else {
                path.append(try root(from: low, to: middle, subtree: subtree))
                low = middle
            }
        }
        return path.reversed()
    }

    /// The root over the leaves `low ..< high`, which begin where a subtree of their size begins.
    package func root(from low: Int, to high: Int, subtree: SubtreeHash) throws -> [UInt8] {
        let count = high - low
        if count.nonzeroBitCount == 1 {
            let level = count.trailingZeroBitCount
            return try subtree(level, low >> level)
        }
        let middle = low + Self.split(count)
        return MerkleHash.node(
            try root(from: low, to: middle, subtree: subtree),
            try root(from: middle, to: high, subtree: subtree)
        )
    }

    /// The largest power of two below `count`, which is at least 2.
    private static func split(_ count: Int) -> Int {
        1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount)
    }
}
