/// Makes and checks the two proofs of a Merkle tree (RFC 9162 §2.1.3 and §2.1.4, the hashes of
/// RFC 6962).
package struct MerkleProof: Sendable {
    /// The root of the complete subtree of `1 << level` leaves at `index << level`.
    package typealias SubtreeHash = (_ level: Int, _ index: Int) throws -> [UInt8]

    package init() {}

    /// The hashes beside the way from a leaf to the root, from the leaf upwards.
    ///
    /// - Parameters:
    ///   - index: The leaf, from 0, below `size`.
    ///   - size: The tree's number of leaves.
    ///   - subtree: Reads stored hashes.
    /// - Returns: At most 63 hashes, one per level.
    /// - Throws: What `subtree` throws.
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

    /// The hashes that show that the tree of `old` leaves is the beginning of the one of `size`.
    ///
    /// - Parameters:
    ///   - old: 0 … `size`; both of these need no hash.
    ///   - size: The larger tree's number of leaves.
    ///   - subtree: Reads stored hashes.
    /// - Returns: At most 64 hashes.
    /// - Throws: What `subtree` throws.
    package func consistency(
        from old: Int,
        to size: Int,
        subtree: SubtreeHash
    ) throws -> [[UInt8]] {
        precondition(old >= 0 && old <= size, "the old tree is not a beginning of the new one")
        guard old > 0, old < size else { return [] }
        var path: [[UInt8]] = []
        var (low, high) = (0, size)
        while high != old {
            let middle = low + Self.split(high - low)
            if old <= middle {
                path.append(try root(from: middle, to: high, subtree: subtree))
                high = middle
            } else {
                path.append(try root(from: low, to: middle, subtree: subtree))
                low = middle
            }
        }
        // The old root itself is known to whoever checks, unless the walk went to the right.
        if low > 0 { path.append(try root(from: low, to: high, subtree: subtree)) }
        return path.reversed()
    }

    /// Whether `path` leads from the leaf to the root.
    package func isIncluded(
        _ leafHash: [UInt8],
        at index: Int,
        in size: Int,
        root: [UInt8],
        path: [[UInt8]]
    ) -> Bool {
        guard index >= 0, index < size else { return false }
        var (first, last) = (index, size - 1)
        var hash = leafHash
        for sibling in path {
            guard last > 0 else { return false }
            if first & 1 == 1 || first == last {
                hash = MerkleHash.node(sibling, hash)
                while first & 1 == 0, first != 0 { (first, last) = (first >> 1, last >> 1) }
            } else {
                hash = MerkleHash.node(hash, sibling)
            }
            (first, last) = (first >> 1, last >> 1)
        }
        return last == 0 && hash == root
    }

    /// Whether `path` shows that the tree with `oldRoot` is the beginning of the one with `root`.
    package func isConsistent(
        from old: (size: Int, root: [UInt8]),
        to new: (size: Int, root: [UInt8]),
        path: [[UInt8]]
    ) -> Bool {
        guard old.size >= 0, old.size <= new.size else { return false }
        if old.size == new.size { return path.isEmpty && old.root == new.root }
        if old.size == 0 { return path.isEmpty && old.root == MerkleHash.empty }
        var hashes = path[...]
        if old.size.nonzeroBitCount == 1 { hashes.insert(old.root, at: hashes.startIndex) }
        guard let seed = hashes.popFirst() else { return false }
        var (first, last) = (old.size - 1, new.size - 1)
        while first & 1 == 1 { (first, last) = (first >> 1, last >> 1) }
        var (oldHash, newHash) = (seed, seed)
        for sibling in hashes {
            guard last > 0 else { return false }
            if first & 1 == 1 || first == last {
                oldHash = MerkleHash.node(sibling, oldHash)
                newHash = MerkleHash.node(sibling, newHash)
                while first & 1 == 0, first != 0 { (first, last) = (first >> 1, last >> 1) }
            } else {
                newHash = MerkleHash.node(newHash, sibling)
            }
            (first, last) = (first >> 1, last >> 1)
        }
        return last == 0 && oldHash == old.root && newHash == new.root
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
