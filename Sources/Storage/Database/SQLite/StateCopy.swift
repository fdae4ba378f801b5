import GRDB
package import Ledger

/// What a copy of `state.db` says about itself, read without changing it.
package struct StateCopy: Sendable {
    /// The fingerprint of the `hash.key` that it was written with.
    package let hashKey: String
    /// The vault keys that its sealed values need.
    package let vaultKeyIDs: [String]
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
            let target = try DatabaseQueue(path: copy, configuration: configuration)
            try source.read { from in
                try target.writeWithoutTransaction { to in try from.backup(to: to) }
            }
            try target.close()
            try source.close()
        } catch {
            throw StorageError(error, "copy the state", at: path)
        }
    }

    /// Checks a copy that no service uses: its pages, its schema and its ledger.
    ///
    /// - Throws: ``StorageError``: `corrupt`, `otherSchema`, `unopenable` for another file.
    package init(reading path: String) throws(StorageError) {
        do {
            try GuardedVFS.install()
            let queue = try Self.open(path)
            self = try queue.read { try StateCopy($0, path) }
            try queue.close()
        } catch {
            throw StorageError(error, "check the state", at: path)
        }
    }

    private init(_ database: Database, _ path: String) throws {
        guard try StateSchema.check(database, path: path),
            let hashKey = try database.fact("note:hash_key"),
            let key = try database.fact("note:ledger_key").flatMap({ NoteKey($0) })
        else {
            let cause = "the service never started with it"
            throw StorageError(.unopenable, "check the state", at: path, cause: cause)
        }
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
            throw StorageError(.corrupt, "check the state", at: path)
        }
        self.hashKey = hashKey
        vaultKeyIDs = try database.all(StateDatabase.vaultKeyIDQuery) { $0.text() }
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
