package import Lifecycle

/// The values of a target's `kind`.
///
/// A new family is a case here, rows in the table, and a reader.
package enum TargetFamily: String, Sendable, CaseIterable {
    case sqlite, files, postgresql, redis, command, webhook, s3, firestore
    case cloudStorage = "google-cloud-storage"
    case realtimeDatabase = "realtime-database"
    case firebaseAuth = "firebase-auth"

    /// Whether it is purged after all others: once the account is gone nobody can sign in to say
    /// whose the rest was.
    package var goesLast: Bool { self == .firebaseAuth }

    /// Whether its files hold what was deleted for a while, and it does not say until when.
    package var hasResidualCopies: Bool {
        switch self {
        case .sqlite, .postgresql, .redis: true
        case .files, .command, .webhook, .s3, .firestore, .cloudStorage, .realtimeDatabase,
            .firebaseAuth:
            false
        }
    }

    /// Whether the store dates what it has itself, and so anew when a backup is put back; a column
    /// of a database comes back with its rows.
    package var datesByRestoration: Bool {
        switch self {
        case .files, .s3, .cloudStorage, .firestore, .firebaseAuth: true
        case .sqlite, .postgresql, .redis, .command, .webhook, .realtimeDatabase: false
        }
    }
}

/// One `[[target]]` section.
package struct TargetConfiguration: Hashable, Sendable {
    package let name: TargetName
    package let kind: TargetKind
    /// How long erased data survives in backups; `nil` when nobody said.
    package let backupsKept: Duration?
    /// How long the store's own files hold what was deleted; `nil` when nobody said.
    package let residualCopiesKept: Duration?
    /// The ids that its rows hold for other targets; only of a database.
    package let keys: [KeyConfiguration]
    /// Where its own ids are found; `nil` when it knows the user by the user id.
    package let keyedBy: KeyReference?
    /// What happens when no id is found there.
    package var withoutKeys = WithoutKeys.proceed

    /// The same target with another store.
    package func with(_ kind: TargetKind) -> TargetConfiguration {
        TargetConfiguration(
            name: name,
            kind: kind,
            backupsKept: backupsKept,
            residualCopiesKept: residualCopiesKept,
            keys: keys,
            keyedBy: keyedBy,
            withoutKeys: withoutKeys
        )
    }
}

/// A target family with what only that family needs.
package enum TargetKind: Hashable, Sendable {
    case sqlite(SQLiteTargetConfiguration)
    case files(FilesTargetConfiguration)
    case postgresql(PostgreSQLTargetConfiguration)
    case redis(RedisTargetConfiguration)
    case command(CommandTargetConfiguration)
    case webhook(WebhookTargetConfiguration)
    case s3(S3TargetConfiguration)
    case cloudStorage(CloudStorageTargetConfiguration)
    case firestore(FirestoreTargetConfiguration)
    case realtimeDatabase(RealtimeDatabaseTargetConfiguration)
    case firebaseAuth(FirebaseAuthTargetConfiguration)

    /// How the store is reached, for those that are Google's.
    package var access: GoogleAccess? {
        switch self {
        case .sqlite, .files, .postgresql, .redis, .command, .webhook, .s3: nil
        case .cloudStorage(let storage): storage.access
        case .firestore(let firestore): firestore.access
        case .realtimeDatabase(let database): database.access
        case .firebaseAuth(let firebase): firebase.access
        }
    }

    /// The value of `kind`.
    package var family: TargetFamily {
        switch self {
        case .sqlite: .sqlite
        case .files: .files
        case .postgresql: .postgresql
        case .firebaseAuth: .firebaseAuth
        case .redis: .redis
        case .command: .command
        case .webhook: .webhook
        case .s3: .s3
        case .cloudStorage: .cloudStorage
        case .firestore: .firestore
        case .realtimeDatabase: .realtimeDatabase
        }
    }
}

/// What `kind = "files"` has.
package struct FilesTargetConfiguration: Hashable, Sendable {
    /// Absolute.
    package internal(set) var root: String
    /// Not empty; each below the root with `{user_id}` once.
    package let paths: [String]
}

/// What `kind = "firebase-auth"` has.
package struct FirebaseAuthTargetConfiguration: Hashable, Sendable {
    package let project: String
    package internal(set) var tenant: String?
    package let access: GoogleAccess
}

/// What `kind = "sqlite"` has.
package struct SQLiteTargetConfiguration: Hashable, Sendable {
    /// Absolute.
    package internal(set) var path: String
    /// Whether the application's own triggers run when its rows change.
    package let triggers: TriggerSetting
    /// Whether the file shrinks after a purge.
    package let vacuum: VacuumSetting
    /// Not empty, in the order of purging; no (table, column) twice.
    package let tables: [TableConfiguration]
}

/// What `kind = "postgresql"` has.
package struct PostgreSQLTargetConfiguration: Hashable, Sendable {
    /// The credential with libpq's connection string.
    package let conninfoCredential: String
    /// Not empty.
    package let schemas: [String]
    package let tls: TLSSetting
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let statementTimeout: Duration
    package let lockTimeout: Duration
    /// Not empty, in the order of purging; no (table, column) twice.
    package let tables: [TableConfiguration]
    /// In the place of the database that the connection string names; only of a copy.
    package internal(set) var database: String?
}

/// What proof a server gives of its name; `target.tls`.
package enum TLSSetting: String, Sendable, CaseIterable {
    case verifyFull = "verify-full"
    case verifyCA = "verify-ca"
    case off
}

/// What happens to free pages; `target.vacuum`.
package enum VacuumSetting: String, Sendable, CaseIterable {
    case off, incremental
}

extension TargetKind {
    /// The tables of a database; empty for a store of another kind.
    package var tables: [TableConfiguration] {
        switch self {
        case .sqlite(let sqlite): sqlite.tables
        case .postgresql(let postgresql): postgresql.tables
        case .files, .redis, .command, .webhook, .s3, .cloudStorage, .firestore,
            .realtimeDatabase, .firebaseAuth:
            []
        }
    }
}

/// One `[[target.table]]` section.
package struct TableConfiguration: Hashable, Sendable {
    package let table: String
    /// The column that holds the user id.
    package let column: String
    package let action: Action
    package let idType: IDType
    /// `nil`: no cutoff, which the receipt says.
    package let createdAt: CreatedAtColumn?
}

/// What replaces the value of one column.
package struct ColumnChange: Hashable, Sendable {
    /// The values of `strategy`.
    package enum Strategy: String, Sendable, CaseIterable {
        case null, constant, hash, random, truncate
    }

    /// A strategy with what it needs.
    package enum Replacement: Hashable, Sendable {
        case null
        /// The constant, when it is a text.
        case text(String)
        /// The constant, when it is a number.
        case integer(Int64)
        case hash
        case random
        /// Keeps this many characters.
        case truncate(length: Int)
    }

    package let column: String
    package let replacement: Replacement
}

/// What a creation column holds; `created_at_unit`.
package enum CreatedAtUnit: String, Sendable, CaseIterable {
    case unixSeconds = "unix_s"
    case unixMilliseconds = "unix_ms"
    case iso8601
    case timestamp
}

/// The column that the time cutoff compares.
package struct CreatedAtColumn: Hashable, Sendable {
    package let column: String
    package let unit: CreatedAtUnit
}

extension TableConfiguration {
    /// What happens to a user's rows of one table.
    package enum Action: Hashable, Sendable {
        /// The values of `action`.
        package enum Name: String, Sendable, CaseIterable {
            case delete, anonymize, keep
        }

        case delete
        /// The changes are not empty and sorted by column.
        case anonymize([ColumnChange], keepReason: String)
        case keep(reason: String)

        /// The value of `action`.
        package var name: Name {
            switch self {
            case .delete: .delete
            case .anonymize: .anonymize
            case .keep: .keep
            }
        }
    }

    /// How a column stores user ids; `id_type`.
    package enum IDType: String, Sendable, CaseIterable {
        case text, integer, blob, uuid
    }
}

/// Whether triggers of the application's database run; `target.triggers`.
package enum TriggerSetting: String, Sendable, CaseIterable {
    case off, checked, trusted
}
