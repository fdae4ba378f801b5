/// Makes the inclusion proof of a Merkle tree (RFC 9162 §2.1.3, the hashes of RFC 6962).
package struct MerkleProof: Sendable {
    /// The root of the complete subtree of `1 << level` leaves at `index << level`.
    package typealias SubtreeHash = (_ level: Int, _ index: Int) throws -> [UInt8]

    package init() {}

    /// The hashes beside the way from the leaf `index` to the root, from the leaf upwards: at most
    /// 63, one per level.
    ///
    /// - Throws: What `subtree` throws, which reads stored hashes.
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
