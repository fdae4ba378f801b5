internal import CSQLiteGuard
import Encoding
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Opens the application's database the way a file of others must be opened.
enum SQLiteConnection {
    /// The first SQLite whose checkpoints are safe beside other writers (the WAL-reset bug,
    /// sqlite.org/wal.html).
    private static let safeCheckpointVersion: Int32 = 3_051_003

    /// Opens and hardens the one connection of a target; never creates the file.
    static func open(
        _ plan: SQLiteTargetPlan,
        hasher: any KeyedHasher,
        clock: TargetClock
    ) throws -> DatabaseQueue {
        let code = csqliteguard_install()
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, target: plan.name) }
        _ = unsafe csqliteguard_never_create(plan.path)
        var configuration = Configuration()
        configuration.label = "expunged.target"
        configuration.busyMode = .callback { triesBefore in
            let pause = SQLiteLimits.busyPause
            guard pause * triesBefore < SQLiteLimits.busyTimeout else { return false }
            sqlite3_sleep(Int32(pause.milliseconds))
            return true
        }
        configuration.foreignKeysEnabled = true
        configuration.publicStatementArguments = false
        // Else GRDB ends the process when a ROLLBACK is interrupted.
        configuration.allowsUnsafeTransactions = true
        let triggers = plan.triggers
        let name = plan.name
        configuration.prepareDatabase { db in
            try prepare(db, triggers: triggers, name: name)
            for function in maskFunctions(hasher, clock) { db.add(function: function) }
        }
        return try DatabaseQueue(path: plan.path, configuration: configuration)
    }

    private static func prepare(_ db: Database, triggers: TriggerPolicy, name: TargetName) throws {
        let allowed: Int32 = triggers == .off ? 0 : 1
        // Triggers of the application may read its views.
        var code = unsafe csqliteguard_harden(db.sqliteConnection, allowed, allowed)
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, target: name) }
        code = unsafe csqliteguard_no_checkpoint_on_close(db.sqliteConnection)
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, target: name) }
        // EXTRA: without it, a power cut can bring a rollback journal back and undo the deletion
        // (sqlite.org/pragma.html#pragma_synchronous). mmap: a file cut short would kill us.
        try db.execute(
            sql: """
                PRAGMA secure_delete = ON;
                PRAGMA synchronous = EXTRA;
                PRAGMA temp_store = MEMORY;
                PRAGMA mmap_size = 0;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(SQLiteLimits.cacheKibibytes);
                """
        )
        if triggers == .trusted { try db.execute(sql: "PRAGMA trusted_schema = ON") }
        if sqlite3_libversion_number() < safeCheckpointVersion {
            // The application's own connection checkpoints instead.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        }
        guard unsafe sqlite3_db_readonly(db.sqliteConnection, "main") == 0 else {
            throw SQLError(resultCode: SQLITE_READONLY, target: name)
        }
    }

    /// `expunged_hash(value, label)` and `expunged_random(value)`; `NULL` stays `NULL`.
    ///
    /// `expunged_is_mask(value)` and `expunged_is_read_as(value, key)` recognize them and ids.
    private static func maskFunctions(
        _ hasher: any KeyedHasher,
        _ clock: TargetClock
    ) -> [DatabaseFunction] {
        let hash = DatabaseFunction(SQLiteDialect.Function.hash, argumentCount: 2, pure: true) {
            values in
            guard let text = text(values[0]), let label = String.fromDatabaseValue(values[1]) else {
                return nil
            }
            return MaskText.hash(text, label: label, hasher)
        }
        let random = DatabaseFunction(SQLiteDialect.Function.random, argumentCount: 1) { values in
            values[0].isNull ? nil : MaskText.random(clock.entropy, hasher)
        }
        let key = MaskText.proofKey(hasher)
        let isMask = DatabaseFunction(SQLiteDialect.Function.isMask, argumentCount: 1, pure: true) {
            String.fromDatabaseValue($0[0]).map { MaskText.isMask($0, key: key) }
        }
        let isReadAs = DatabaseFunction(
            SQLiteDialect.readingFunction,
            argumentCount: 2,
            pure: true
        ) { values in
            guard let value = bound(values[0]), let key = bound(values[1]) else { return false }
            return value.isRead(as: key)
        }
        return [hash, random, isMask, isReadAs]
    }

    private static func bound(_ value: DatabaseValue) -> BoundValue? {
        switch value.storage {
        case .null: nil
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .string(let text): .text(Array(text.utf8))
        case .blob(let data): .blob(Array(data))
        }
    }

    private static func text(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        case .blob(let data): "x'" + Hexadecimal.text(Array(data))
        }
    }
}
