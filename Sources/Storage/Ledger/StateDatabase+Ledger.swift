import Engine
package import Ledger
package import Lifecycle

/// The leaves of one commit.
package struct LedgerRow: Hashable, Sendable {
    /// The index of the first leaf.
    package let first: Int
    /// How many leaves the row says it has.
    package let count: Int
    package let leaves: [[UInt8]]

    /// - Throws: ``StorageError`` of kind `malformed` for indexes that no ledger reaches.
    init(_ row: Row<Column>) throws {
        (first, count) = (row.int(.first), row.int(.count))
        leaves = row.blob(.leaves)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        guard (0..<Int(Int32.max) << 16).contains(first), (1...Int(Int32.max)).contains(count)
        else { throw StorageError.malformed("ledger") }
    }

    enum Column: Int32, Columns {
        case first, count, leaves

        static let insertion = insertion(of: allCases, into: "ledger")
    }
}

/// A leaf and why it is in the tree.
package struct LedgerProof: Hashable, Sendable {
    package let index: Int
    package let leaf: [UInt8]
    /// The hashes beside the way to the root (RFC 9162 §2.1.3).
    package let path: [[UInt8]]
}

extension StateDatabase {
    /// A page of rows ends when it has this much.
    private static let pageByteCount = 1 << 20

    /// Yields after new leaves; one signal may stand for many.
    package var ledgerSignals: AsyncStream<Void> { appender.signal.signals }

    /// The number of leaves.
    package var ledgerSize: Int { appender.size }

    /// Adds an entry that is no change of a request.
    package func writeLedger(_ entry: LedgerEntry) async throws {
        try await write { _, appender in _ = appender.write(entry) }
    }

    /// Rows from the one that holds leaf `index`, at most about a megabyte of them.
    package func ledgerRows(from index: Int) async throws -> [LedgerRow] {
        try await read { database in
            var rows: [LedgerRow] = []
            var byteCount = 0
            try Self.eachLedgerRow(from: index, database) { row in
                rows.append(row)
                byteCount += row.leaves.reduce(0) { $0 + $1.count }
                return byteCount < Self.pageByteCount
            }
            return rows
        }
    }

    /// Reads rows from the one that holds leaf `index` until `body` returns `false`.
    static func eachLedgerRow(
        from index: Int,
        _ database: any StateConnection,
        body: (LedgerRow) throws -> Bool
    ) throws {
        var next = index
        while true {
            // One row at a time: a row may be large, and a snapshot ends the sooner.
            let row = try database.first(
                LedgerRow.Column.self,
                """
                FROM ledger
                WHERE first >= coalesce((SELECT max(first) FROM ledger WHERE first <= ?1), ?1)
                  AND first + count > ?1 ORDER BY first
                """,
                [.int(next)],
                body: LedgerRow.init
            )
            guard let row, try body(row) else { return }
            next = row.first + row.count
        }
    }

    /// The edge of the tree as far as its nodes are stored.
    package func storedFrontier() async throws -> MerkleFrontier {
        try await read { database in
            let blocks = try database.int(
                "SELECT coalesce(max(position) + 1, 0) FROM ledger_nodes WHERE level = ?",
                [.int(LeafHashes.storedLevel)]
            )
            var roots: [[UInt8]] = []
            var start = 0
            for bit in (0..<Int.bitWidth - 2).reversed() where blocks >> bit & 1 == 1 {
                let level = LeafHashes.storedLevel + bit
                guard let root = try LeafHashes.node(level, start >> bit, database) else {
                    return MerkleFrontier()
                }
                roots.append(root)
                start += 1 << bit
            }
            let size = blocks << LeafHashes.storedLevel
            return MerkleFrontier(size: size, roots: roots) ?? MerkleFrontier()
        }
    }

    package static func keepsNode(_ subtree: MerkleFrontier.Subtree) -> Bool {
        subtree.level >= LeafHashes.storedLevel
    }

    /// Stores a signed checkpoint and the subtrees that became complete since the last.
    package func saveCheckpoint(
        _ checkpoint: StoredCheckpoint,
        nodes: [MerkleFrontier.Subtree]
    ) async throws {
        try await writer.perform { [host] database in
            for node in nodes { try LeafHashes.store(node, database) }
            let id = try database.int(
                "SELECT coalesce(max(id), 0) + 1 FROM ledger_checkpoints WHERE host = ?",
                [.text(host)]
            )
            try database.run(
                StoredCheckpoint.Column.insertion,
                StoredCheckpoint.Column.row([
                    .host: .text(host), .id: .int(id), .size: .int(checkpoint.size),
                    .note: .text(checkpoint.note), .endsAt: .int(checkpoint.endsAt),
                ])
            )
        }
    }

    /// The newest one of this host.
    package func lastCheckpoint() async throws -> StoredCheckpoint? {
        try await checkpoints(after: 0, limit: 1, isNewestFirst: true).first
    }

    /// Of this host.
    package func checkpoints(
        after id: Int,
        limit: Int,
        isNewestFirst: Bool = false
    ) async throws -> [StoredCheckpoint] {
        let order = isNewestFirst ? "ORDER BY id DESC" : "ORDER BY id"
        return try await read { [host] database in
            try database.all(
                StoredCheckpoint.Column.self,
                "FROM ledger_checkpoints WHERE host = ? AND id > ? \(order) LIMIT ?",
                [.text(host), .int(id), .int(limit)],
                body: StoredCheckpoint.init
            )
        }
    }

    /// A stored root of a complete subtree.
    package func ledgerNode(level: Int, position: Int) async throws -> [UInt8]? {
        try await read { try LeafHashes.node(level, position, $0) }
    }

    /// The root over the first `size` leaves; `nil` when there are not as many.
    package func ledgerRoot(at size: Int) async throws -> [UInt8]? {
        guard size <= ledgerSize else { return nil }
        guard size > 0 else { return MerkleHash.empty }
        return try await read { database in
            let hashes = LeafHashes(database)
            return try MerkleProof().root(from: 0, to: size, subtree: hashes.subtree)
        }
    }

    /// The leaves of a request with their places in the tree of `size` leaves.
    package func ledgerProofs(of id: RequestID, in size: Int) async throws -> [LedgerProof] {
        try await read { database in
            let hashes = LeafHashes(database)
            return try Self.leafIndexes(of: id, database).filter { $0 < size }.map { index in
                var leaf: [UInt8] = []
                try Self.eachLedgerRow(from: index, database) { row in
                    if row.leaves.indices.contains(index - row.first) {
                        leaf = row.leaves[index - row.first]
                    }
                    return false
                }
                return LedgerProof(
                    index: index,
                    leaf: leaf,
                    path: try MerkleProof().inclusion(of: index, in: size, subtree: hashes.subtree)
                )
            }
        }
    }

    /// How many leaves a checkpoint must cover to cover those of a request; 0 without any.
    package func ledgerSize(covering id: RequestID) async throws -> Int {
        try await read { (try Self.leafIndexes(of: id, $0).max() ?? -1) + 1 }
    }

    private static func leafIndexes(
        of id: RequestID,
        _ database: any StateConnection
    ) throws -> [Int] {
        let text = try database.first(
            "SELECT leaves FROM requests WHERE id = ?",
            [.id(id.value)]
        ) { $0.text() }
        return (text ?? "").split(separator: " ").compactMap { Int($0) }
    }
}

/// A signed checkpoint as state.db knows it.
package struct StoredCheckpoint: Hashable, Sendable {
    /// 0 until it is stored.
    package let id: Int
    /// Leaves that it covers.
    package let size: Int
    package let note: String
    /// The length of the checkpoint file with it.
    package let endsAt: Int

    package init(size: Int, note: String, endsAt: Int) {
        id = 0
        (self.size, self.note, self.endsAt) = (size, note, endsAt)
    }

    init(_ row: Row<Column>) {
        id = row.int(.id)
        size = row.int(.size)
        note = row.text(.note)
        endsAt = row.int(.endsAt)
    }

    enum Column: Int32, Columns {
        case host, id, size, note, endsAt

        static let insertion = insertion(of: allCases, into: "ledger_checkpoints")
    }
}
