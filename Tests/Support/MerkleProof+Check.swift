package import Ledger

extension MerkleProof {
    /// Whether `path` leads from the leaf to the root (RFC 9162 §2.1.3.2).
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
}
