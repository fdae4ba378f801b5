import Ledger
import Lifecycle

/// Makes tombstones of the hashes beside found ids, with leaves that take them off the machine.
struct KeyTombstoneWriter {
    /// So a leaf has some 3 kB, and many of them fit into a note.
    static let leafHashesMax = 64
    private static let hashByteCount = 32

    let database: any StateConnection
    let appender: LedgerAppender

    /// Of what was found before the end of a request, or late, by a replay.
    func bury(_ request: RequestID, isLate: Bool, at time: WallTime) throws {
        let hashes = try hashes(of: request, isLate: isLate).filter { hash in
            try insert(hash, of: request, at: time)
        }
        for start in stride(from: 0, to: hashes.count, by: Self.leafHashesMax) {
            let some = hashes[start..<min(start + Self.leafHashesMax, hashes.count)]
            appender.write(
                "erased_keys",
                [(.keys, .hashes(Array(some))), (.request, .id(request.value))],
                at: time
            )
        }
    }

    /// Returns `false` for a known one.
    func insert(_ hash: [UInt8], of request: RequestID, at time: WallTime) throws -> Bool {
        guard try !Self.isKnown(hash, of: request, database) else { return false }
        try Tombstone(hash: hash, erasedAt: time, request: request, isKey: true).insert(database)
        return true
    }

    static func isKnown(
        _ hash: [UInt8],
        of request: RequestID,
        _ database: any StateConnection
    ) throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM tombstones INDEXED BY tombstones_keys
            WHERE request_id = ? AND user_hash = ? AND is_key = 1
            """,
            [.id(request), .blob(hash)]
        )
    }

    private func hashes(of request: RequestID, isLate: Bool) throws -> [[UInt8]] {
        try database.all(
            """
            SELECT hashes FROM found_keys
            WHERE request_id = ? AND is_late = ? AND hashes IS NOT NULL ORDER BY id
            """,
            [.id(request), .bool(isLate)]
        ) { row in
            let bytes = row.blob()
            return stride(from: 0, to: bytes.count, by: Self.hashByteCount).map { start in
                Array(bytes[start..<min(start + Self.hashByteCount, bytes.count)])
            }
        }.flatMap { $0 }
    }
}
