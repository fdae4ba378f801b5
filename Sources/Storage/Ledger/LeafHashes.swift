import Ledger

/// Hashes of subtrees within one snapshot: stored ones, and small ones from their leaves.
final class LeafHashes {
    /// Roots of complete subtrees are stored from here up, so that a proof reads few leaves.
    static let storedLevel = 8

    private enum Column: Int32, Columns {
        case level, position, hash

        static let insertion = insertion(of: allCases, into: "ledger_nodes")
    }

    private let database: any StateConnection
    private var blocks: [Int: [[UInt8]]] = [:]

    init(_ database: any StateConnection) { self.database = database }

    /// The root of a complete subtree (``Ledger/MerkleProof/SubtreeHash``).
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed` for what is not there.
    func subtree(_ level: Int, _ position: Int) throws -> [UInt8] {
        guard level < Self.storedLevel else {
            if let stored = try Self.node(level, position, database) { return stored }
            // The last nodes are stored with the next checkpoint.
            return MerkleHash.node(
                try subtree(level - 1, position * 2),
                try subtree(level - 1, position * 2 + 1)
            )
        }
        let low = position << level
        let block = try block(low >> Self.storedLevel)
        let start = low & (1 << Self.storedLevel - 1)
        guard start + 1 << level <= block.count else { throw StorageError.malformed("ledger") }
        var frontier = MerkleFrontier()
        for hash in block[start..<start + 1 << level] { _ = frontier.append(hash) }
        return frontier.root()
    }

    static func node(
        _ level: Int,
        _ position: Int,
        _ database: any StateConnection
    ) throws -> [UInt8]? {
        try database.first(
            Column.self,
            "FROM ledger_nodes WHERE level = ? AND position = ?",
            [.int(level), .int(position)]
        ) { $0.blob(.hash) }
    }

    /// Stores the root of a complete subtree, once.
    static func store(_ node: MerkleFrontier.Subtree, _ database: any StateConnection) throws {
        try database.run(
            Column.insertion + " ON CONFLICT DO NOTHING",
            Column.row([
                .level: .int(node.level), .position: .int(node.index), .hash: .blob(node.hash),
            ])
        )
    }

    private func block(_ number: Int) throws -> [[UInt8]] {
        if let known = blocks[number] { return known }
        let low = number << Self.storedLevel
        let high = low + 1 << Self.storedLevel
        var hashes: [[UInt8]] = []
        try StateDatabase.eachLedgerRow(from: low, database) { row in
            for (offset, leaf) in row.leaves.enumerated() where (low..<high) ~= row.first + offset {
                hashes.append(MerkleHash.leaf(leaf))
            }
            return row.first + row.count < high
        }
        blocks[number] = hashes
        return hashes
    }
}
