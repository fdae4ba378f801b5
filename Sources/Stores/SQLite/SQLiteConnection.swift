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

    /// Opens and hardens the one connection of a store; never creates the file.
    static func open(
        _ plan: SQLiteStorePlan,
        hasher: any KeyedHasher,
        clock: StoreClock
    ) throws -> DatabaseQueue {
        let code = csqliteguard_install()
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: plan.name) }
        _ = unsafe csqliteguard_never_create(plan.path)
        var configuration = Configuration()
        configuration.label = "expunged.store"
        configuration.busyMode = .callback { triesBefore in
            // SQLite's own handler sleeps up to 100 ms.
            let pause = RetryPolicy.lockedFile.first
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
            let code = unsafe addFunctions(to: db.sqliteConnection, hasher, clock)
            guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: name) }
        }
        return try DatabaseQueue(path: plan.path, configuration: configuration)
    }

    private static func prepare(_ db: Database, triggers: TriggerPolicy, name: StoreName) throws {
        let allowed: Int32 = triggers == .off ? 0 : 1
        // Triggers of the application may read its views.
        var code = unsafe csqliteguard_harden(db.sqliteConnection, allowed, allowed)
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: name) }
        // An error of the statement from here on (sqlite.org/c3ref/c_limit_attached.html).
        unsafe sqlite3_limit(
            db.sqliteConnection,
            SQLITE_LIMIT_LENGTH,
            Int32(SQLLimits.valueBytes)
        )
        code = unsafe csqliteguard_add_functions(
            db.sqliteConnection,
            SQLiteDialect.Function.bytes,
            SQLiteDialect.Function.holds,
            SQLiteDialect.Function.unescaped
        )
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: name) }
        // Before anything reads the schema.
        code = unsafe csqliteguard_trust_json(db.sqliteConnection)
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: name) }
        code = unsafe csqliteguard_no_checkpoint_on_close(db.sqliteConnection)
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: name) }
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
            throw SQLError(resultCode: SQLITE_READONLY, store: name)
        }
    }

    /// `expunged_hash(value, label)` and `expunged_random(value)`; `NULL` stays `NULL`.
    ///
    /// `expunged_is_mask(value)` and `expunged_is_read_as(value, key)` recognize them and ids.
    private static func addFunctions(
        to connection: OpaquePointer?,
        _ hasher: any KeyedHasher,
        _ clock: StoreClock
    ) -> Int32 {
        let key = MaskText.proofKey(hasher)
        let codes = unsafe [
            SQLiteFunction.add(SQLiteDialect.Function.hash, argumentCount: 2, to: connection) {
                guard let text = hashed($0[0]), let label = hashed($0[1]) else { return nil }
                return .text(Array(MaskText.hash(text, label: label, hasher).utf8))
            },
            SQLiteFunction.add(
                SQLiteDialect.Function.random,
                argumentCount: 1,
                isPure: false,
                to: connection
            ) { values in
                guard values[0] != nil else { return nil }
                return .text(Array(MaskText.random(clock.entropy, hasher).utf8))
            },
            SQLiteFunction.add(SQLiteDialect.Function.isMask, argumentCount: 1, to: connection) {
                guard case .text(let bytes)? = $0[0] else { return nil }
                let isMask = MaskText.isMask(String(decoding: bytes, as: UTF8.self), key: key)
                return .integer(isMask ? 1 : 0)
            },
            SQLiteFunction.add(SQLiteDialect.readingFunction, argumentCount: 2, to: connection) {
                guard let value = $0[0], let key = $0[1] else { return .integer(0) }
                return .integer(value.isRead(as: key) ? 1 : 0)
            },
            SQLiteFunction.add(
                SQLiteDialect.Function.mention,
                argumentCount: 4,
                to: connection,
                mention
            ),
        ]
        return codes.first { $0 != SQLITE_OK } ?? SQLITE_OK
    }

    /// `expunged_mention(text, needle, replacement, bounds)`.
    ///
    /// Bytes are a text, too, and stay bytes. What is no UTF-8 is only found, when it is asked for.
    private static func mention(_ values: [BoundValue?]) -> BoundValue? {
        guard case .text(let needle)? = values[1], case .text(let replacement)? = values[2],
            case .integer(let bounds)? = values[3]
        else { return nil }
        let (bytes, isBlob): ([UInt8], Bool)
        switch values[0] {
        case .text(let text): (bytes, isBlob) = (text, false)
        case .blob(let blob): (bytes, isBlob) = (blob, true)
        case .integer, .real, nil: return nil
        }
        let text = String(validating: bytes, as: UTF8.self)
        guard (text == nil) == (bounds & 4 != 0) else { return nil }
        let replaced = Mentions.replace(
            String(decoding: needle, as: UTF8.self),
            in: text ?? String(decoding: bytes, as: UTF8.self),
            by: String(decoding: replacement, as: UTF8.self),
            beginsWord: bounds & 1 != 0,
            endsWord: bounds & 2 != 0,
            foldsCase: bounds & 8 != 0
        )
        guard let replaced else { return nil }
        return isBlob ? .blob(Array(replaced.utf8)) : .text(Array(replaced.utf8))
    }

    private static func hashed(_ value: BoundValue?) -> String? {
        switch value {
        case nil: nil
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes): "x'" + Hexadecimal.text(bytes)
        }
    }
}
