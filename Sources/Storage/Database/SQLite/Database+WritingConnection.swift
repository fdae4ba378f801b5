import GRDB
import Lifecycle

extension Database: WritingConnection {
    /// SQLite runs what is sent at once.
    package func send(_ sql: String, _ values: [SQLValue]) throws { try run(sql, values) }

    func settle() {}

    /// One process has the file, and with it all partitions.
    func check(_ leases: Set<PartitionClaim>) -> Set<PartitionClaim> { leases }

    /// As its only process has left it.
    func ledgerSizeNow() -> Int? { nil }

    func beginBatch() throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
    }

    func commitBatch() throws {
        try cachedStatement(sql: "COMMIT TRANSACTION").execute()
    }

    func rollBackBatch() throws {
        try cachedStatement(sql: "ROLLBACK TRANSACTION").execute()
    }
}

extension DatabaseError: DatabaseFailure {
    var kind: StorageError.Kind {
        switch resultCode {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_CONSTRAINT: .constraint
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY: .unopenable
        case .SQLITE_IOERR: .commitFailed
        default: .sqlite
        }
    }

    /// SQLite's own message holds names of the schema, never values.
    var reason: String {
        "SQLite \(extendedResultCode.rawValue): \(message ?? "no message")"
    }
}
