import Ledger
import TestSupport
import Testing

@Suite("Merkle tree")
struct MerkleTests {
    private let proof = MerkleProof()

    /// The leaves of the reference implementation of RFC 6962.
    private static let knownLeaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
        Array(0x50...0x57), Array(0x60...0x6f),
    ]
    private static let knownRoots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test("the roots are those of RFC 6962's reference implementation")
    func roots() {
        let tree = KeptTree(leaves: Self.knownLeaves)
        let digits = Array("0123456789abcdef")
        let texts = tree.roots.map { root in
            String(root.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        }
        #expect(texts == Self.knownRoots)
    }

    @Test("every leaf of every tree up to 70 leaves has a proof, and nothing else passes for it")
    func inclusion() throws {
        let leaves = (0..<70).map { [UInt8($0)] }
        let tree = KeptTree(leaves: leaves)
        for size in 1...70 {
            for index in 0..<size {
                let path = try proof.inclusion(of: index, in: size, subtree: tree.subtree)
                let leaf = MerkleHash.leaf(leaves[index])
                func holds(_ leaf: [UInt8], _ index: Int, _ path: [[UInt8]]) -> Bool {
                    proof.isIncluded(leaf, at: index, in: size, root: tree.roots[size], path: path)
                }
                #expect(holds(leaf, index, path))
                #expect(!holds(MerkleHash.leaf([0xff]), index, path))
                #expect(!holds(leaf, index + 1, path))
                #expect(!holds(leaf, index, path + [leaf]))
                if !path.isEmpty { #expect(!holds(leaf, index, Array(path.dropLast()))) }
            }
        }
    }

    @Test("an edge that was stored goes on where it stopped")
    func resuming() throws {
        var tree = KeptTree(leaves: (0..<11).map { [UInt8($0)] })
        var resumed = try #require(
            MerkleFrontier(size: tree.frontier.size, roots: tree.frontier.roots)
        )
        tree.append([0x77])
        _ = resumed.append(MerkleHash.leaf([0x77]))
        #expect(resumed == tree.frontier)
        #expect(MerkleFrontier(size: 3, roots: [tree.roots[1]]) == nil)
    }
}
