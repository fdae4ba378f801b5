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
        let keys = try hashes(of: request, isLate: isLate).map {
            Tombstone(hash: $0, erasedAt: time, request: request, isKey: true)
        }
        let new = try Self.unknown(keys, database)
        for key in new { try key.insert(database) }
        for start in stride(from: 0, to: new.count, by: Self.leafHashesMax) {
            let some = new[start..<min(start + Self.leafHashesMax, new.count)].map(\.hash)
            appender.write(
                "erased_keys",
                [(.keys, .hashes(some)), (.request, .id(request.value))],
                at: time
            )
        }
    }

    /// Those of keys that are not in the state yet, each once; one query for each request.
    static func unknown(
        _ keys: [Tombstone],
        _ database: any StateConnection
    ) throws -> [Tombstone] {
        var known: [RequestID: Set<[UInt8]>] = [:]
        for request in Set(keys.map(\.request)) {
            let hashes = try database.all(
                """
                SELECT user_hash FROM tombstones INDEXED BY tombstones_keys
                WHERE request_id = ? AND is_key = 1
                """,
                [.id(request)]
            ) { $0.blob() }
            known[request] = Set(hashes)
        }
        return keys.filter { known[$0.request, default: []].insert($0.hash).inserted }
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
