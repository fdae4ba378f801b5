import Ledger

/// A tree that keeps every hash, as storage does.
struct KeptTree {
    private(set) var frontier = MerkleFrontier()
    private(set) var hashes: [[Int]: [UInt8]] = [:]
    private(set) var roots: [[UInt8]] = [MerkleHash.empty]

    init(leaves: [[UInt8]]) {
        for leaf in leaves { append(leaf) }
    }

    mutating func append(_ leaf: [UInt8]) {
        for subtree in frontier.append(MerkleHash.leaf(leaf)) {
            hashes[[subtree.level, subtree.index]] = subtree.hash
        }
        roots.append(frontier.root())
    }

    func subtree(_ level: Int, _ index: Int) -> [UInt8] { hashes[[level, index]] ?? [] }
}
