import GRDB
package import Ledger

/// What a copy of `state.db` says about itself, read without changing it.
package struct StateCopy: Sendable {
    package let facts: StartFacts
    /// The holds in force, by what they stop.
    package let holds: (users: Int, stores: Int, requests: Int)
    /// Its entries, compared with its signed checkpoints.
    package let audit: LedgerAudit

    /// Copies a state that a service may use meanwhile into the new file `copy`, mode 0600.
    ///
    /// It reads one snapshot. The service's commits go on; its scrubs wait until the copy is made.
    ///
    /// - Throws: ``StorageError``.
    package static func make(of path: String, at copy: String) throws(StorageError) {
        do {
            try GuardedVFS.install()
            let copy = try SQLiteState.realPath(copy)
            try SQLiteState.makePrivateFile(copy)
            let source = try open(path)
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                // Nobody reads half a copy, so it needs neither a journal nor a sync.
                try database.execute(sql: "PRAGMA journal_mode = OFF")
                try database.execute(sql: "PRAGMA synchronous = OFF")
                try database.wipeUnused()
            }
            let destination = try DatabaseQueue(path: copy, configuration: configuration)
            try source.read { from in
                try destination.writeWithoutTransaction { to in try from.backup(to: to) }
            }
            try destination.close()
            try source.close()
        } catch {
            throw StorageError(error, "copy the state", at: path)
        }
    }

    /// The bytes that a copy needs: those of all pages, with the ones in the WAL.
    ///
    /// - Throws: ``StorageError``.
    package static func byteCount(of path: String) throws(StorageError) -> UInt64 {
        try read(path) { database in
            let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            return UInt64(try database.int(sql))
        }
    }

    /// Checks a copy that no service uses: its pages, its schema and its ledger.
    ///
    /// - Throws: ``StorageError``: `corrupt`, `otherSchema`, `unopenable` for another file.
    package init(reading path: String) throws(StorageError) {
        self = try Self.read(path) { try StateCopy($0, path) }
    }

    fileprivate static func read<T>(
        _ path: String,
        _ body: (Database) throws -> T
    ) throws(StorageError) -> T {
        do {
            try GuardedVFS.install()
            let queue = try open(path)
            let value = try queue.read(body)
            try queue.close()
            return value
        } catch {
            throw StorageError(error, "check the state", at: path)
        }
    }

    private init(_ database: Database, _ path: String) throws {
        guard try StateSchema.check(database, path: path),
            case let facts = try StartFacts(database), facts.hashKey != nil,
            let key = facts.ledgerKey.flatMap({ NoteKey($0) })
        else {
            let cause = "the service never started with it"
            throw StorageError(.unopenable, "check the state", at: path, cause: cause)
        }
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
            throw StorageError(.corrupt, "check the state", at: path)
        }
        self.facts = facts
        holds = (
            users: try database.int("SELECT count(*) FROM user_holds"),
            stores: try database.int("SELECT count(*) FROM store_holds"),
            requests: try database.int(
                "SELECT count(*) FROM requests WHERE has_own_hold = 1 AND ended_at IS NULL"
            )
        )
        var ledger = StoredLedger(database: database, key: key)
        audit = try ledger.audited()
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(
            path: try SQLiteState.realPath(path),
            configuration: configuration
        )
    }
}

/// What a start compares with the configuration and the keys.
package struct StartFacts: Sendable {
    /// The fingerprint of `hash.key`; `nil` before the first start.
    package let hashKey: String?
    /// The name of the key that signs the ledger.
    package let ledgerKey: String?
    package let vaultKeyIDs: [String]
    /// As ``StateDatabase/enforcedScope()``.
    package let scope: String?

    init(_ connection: any StateConnection) throws {
        hashKey = try connection.fact("note:hash_key")
        ledgerKey = try connection.fact("note:ledger_key")
        vaultKeyIDs = try connection.all(StateDatabase.vaultKeyIDQuery) { $0.text() }
        scope = try connection.first(StateDatabase.enforcedScopeQuery) { $0.text() }
    }

    /// Checks a file that a service may use meanwhile; `nil` for an empty one.
    package static func read(_ path: String) throws(StorageError) -> StartFacts? {
        try StateCopy.read(path) { database in
            _ = try SQLiteState.check(database, path: path)
            return try database.tableExists("meta") ? StartFacts(database) : nil
        }
    }
}

/// The entries of a state, and the checkpoints that it stores about them.
private struct StoredLedger {
    private static let pageSize = 1000

    let database: Database
    private var audit: LedgerAudit
    private var position = 0
    private var page: ArraySlice<StoredCheckpoint> = []

    init(database: Database, key: NoteKey) {
        self.database = database
        audit = LedgerAudit(key: key)
    }

    mutating func audited() throws -> LedgerAudit {
        // Earlier checkpoints are of a state that an operator replaced.
        position = Int(try database.fact("note:ledger_accepted") ?? "0") ?? 0
        var due = try nextSize()
        try StateDatabase.eachLedgerRow(from: 0, database) { row in
            if row.first != audit.frontier.size || row.count != row.leaves.count {
                audit.add(.brokenRows, row.first)
            }
            for leaf in row.leaves {
                while let size = due, size <= audit.frontier.size { due = try nextSize() }
                audit.add(leaf: leaf)
            }
            return true
        }
        while let size = due, size <= audit.frontier.size { due = try nextSize() }
        audit.finish(rest: [])
        return audit
    }

    /// Settles the checkpoint before, and returns how many entries the next one covers.
    private mutating func nextSize() throws -> Int? {
        audit.settle()
        while true {
            if page.isEmpty {
                page = try database.all(
                    StoredCheckpoint.Column.self,
                    "FROM ledger_checkpoints WHERE host = '' AND id > ? ORDER BY id LIMIT ?",
                    [.int(position), .int(Self.pageSize)],
                    body: StoredCheckpoint.init
                )[...]
            }
            guard let row = page.popFirst() else { return nil }
            position = row.id
            if let size = audit.take(Array(row.note.utf8)) { return size }
        }
    }
}

/// Keeps the service from starting while its state is replaced.
package final class StateLock: Sendable {
    private let lock: DirectoryLock

    /// - Throws: ``StorageError``: `inUse` while the service runs, or `unopenable`.
    package init(ofStateAt path: String) throws(StorageError) {
        lock = try DirectoryLock(path: Self.path(path))
    }

    package static func path(_ state: String) -> String { state + ".lock" }

    package func release() { lock.release() }
}
