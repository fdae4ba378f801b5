import CSQLiteGuard
import Engine
import GRDB
import GRDBSQLite
import Lifecycle

/// What a transaction sees of the spool before it looks at rows.
struct SpoolProbe: Hashable, Sendable {
    let schemaCookie: Int
    let spoolID: String
    /// The highest id that each table ever gave (sqlite.org/autoinc.html).
    let sequences: [SpoolTable: Int]
    /// Changes with every commit of another connection
    /// (sqlite.org/pragma.html#pragma_data_version).
    let dataVersion: Int
    /// Objects that are not ours; they were counted when the schema changed last.
    let foreignCount: Int

    /// Inside a transaction; compares the schema when its cookie has changed.
    ///
    /// `host` is this one among several that each have a spool.
    init(_ database: Database, known: SpoolProbe?, host: String?) throws {
        schemaCookie = try database.int("PRAGMA schema_version")
        let version = try database.int("PRAGMA user_version")
        guard version <= SpoolSchema.version else { throw SpoolFailure.newerVersion }
        guard version == SpoolSchema.version else { throw SpoolFailure.wrongSchema }
        if let known, known.schemaCookie == schemaCookie {
            foreignCount = known.foreignCount
        } else {
            foreignCount = try SpoolSchema.check(database)
        }
        let ids = try database.all("SELECT spool_id FROM spool_meta LIMIT 2") { $0.text() }
        guard let id = ids.first, ids.count == 1,
            (1...SpoolLimits.nameByteCountMax).contains(id.utf8.count),
            // An id with a colon is one of a queue's.
            SpoolSource(spoolID: id) == .file
        else { throw SpoolFailure.wrongSchema }
        spoolID = host.map { SpoolSource.spoolID(host: $0, id: id) } ?? id
        var sequences: [SpoolTable: Int] = [:]
        try database.each("SELECT name, seq FROM sqlite_sequence") { row in
            if let table = SpoolTable(rawValue: row.text("name")) {
                sequences[table] = row.int("seq")
            }
        }
        self.sequences = sequences
        dataVersion = try database.int("PRAGMA data_version")
    }

    /// Whether an older content took the place of `known`: sequences only ever grow.
    func isOlder(than known: SpoolProbe) -> Bool {
        known.sequences.contains { table, highest in (sequences[table] ?? 0) < highest }
    }
}

extension Database {
    /// From now on this thread waits for a lock; SQLite tries again from 1 ms on.
    func waitForLock(_ wait: Duration) throws {
        let milliseconds = Int32(clamping: wait.milliseconds)
        try GuardedVFS.check(unsafe sqlite3_busy_timeout(sqliteConnection, milliseconds))
    }
}
