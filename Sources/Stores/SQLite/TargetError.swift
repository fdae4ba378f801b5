internal import CSQLiteGuard
internal import GRDB
internal import GRDBSQLite
package import Lifecycle

/// Why a SQLite target could not do its work.
///
/// Carries a result code, never a value of a row.
package struct TargetError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// Another process held the database for the whole busy timeout.
        case busy
        /// Disk full, I/O error or no memory.
        case storage
        /// A constraint or a trigger of the application forbids the change.
        case constraint
        /// A statement ran longer than allowed.
        case interrupted
        /// The calling task was cancelled.
        case cancelled
        /// Missing or not permitted: a mount, or rights that somebody changes, since the start saw
        /// the file. Found again without anybody's help.
        case away
        /// The file at the path is another one than the one that is open.
        case moved
        /// The schema changed since the plan was made.
        case schemaChanged = "schema_changed"
        /// The rules do not fit the schema.
        case planRefused = "plan_refused"
        /// The guarded VFS refused an access (a planted journal, a link).
        case refused
        /// Another program has cut the index of the WAL short while it was in use.
        case indexLost = "index_lost"
        /// Not a database, damaged, or SQL the database does not accept.
        case unfit
    }

    package let kind: Kind
    package let target: TargetName
    /// SQLite's extended result code; 0 when SQLite was not asked.
    package let resultCode: Int32
    /// What a constraint or trigger is called; `nil` as long as nobody looked.
    package var obstacle: Obstacle?

    package init(kind: Kind, target: TargetName, resultCode: Int32 = 0) {
        self.kind = kind
        self.target = target
        self.resultCode = resultCode
    }

    /// `SQLITE_READONLY_DBMOVED`, whose macro Swift does not import.
    private static let movedCode = SQLITE_READONLY | 4 << 8

    /// `SQLITE_CANTOPEN_SYMLINK`, whose macro Swift does not import either.
    private static let symlinkCode = SQLITE_CANTOPEN | 6 << 8

    /// Classifies a result code (sqlite.org/rescode.html).
    init(resultCode: Int32, target: TargetName) {
        let kind: Kind =
            switch resultCode & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_IOERR where Int(resultCode) == Int(CSQLITEGUARD_IOERR_INDEX): .indexLost
            case SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM: .storage
            case SQLITE_CANTOPEN: resultCode == Self.symlinkCode ? .refused : .away
            case SQLITE_READONLY: resultCode == Self.movedCode ? .moved : .away
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_INTERRUPT: Task.isCancelled ? .cancelled : .interrupted
            case SQLITE_SCHEMA: .schemaChanged
            case SQLITE_PERM: .refused
            default: .unfit
            }
        self.init(kind: kind, target: target, resultCode: resultCode)
    }

    /// Classifies whatever a connection threw.
    init(_ error: any Error, target: TargetName) {
        switch error {
        case let error as TargetError: self = error
        case let error as DatabaseError:
            self.init(resultCode: error.extendedResultCode.rawValue, target: target)
        case is CancellationError: self.init(kind: .cancelled, target: target)
        default: self.init(kind: .unfit, target: target)
        }
    }

    /// What the error means for the order that met it.
    ///
    /// A constraint is not a wrong set-up: one user's rows can violate it, and pausing the target
    /// for everyone on that ground would let a user stop all deletions.
    package var failure: EffectFailure {
        switch kind {
        case .busy, .schemaChanged: .throttled(retryAfter: nil)
        case .constraint: obstacle.map { .blocked($0) } ?? .unusable
        case .storage, .interrupted: .unusable
        case .away: .unreachable
        case .moved, .cancelled: .lost
        case .planRefused, .refused, .indexLost, .unfit: .misconfigured
        }
    }

    /// Whether the error belongs to one order, so that its neighbours may still succeed.
    var concernsOneOrder: Bool {
        switch kind {
        case .constraint, .interrupted: true
        case .busy, .storage, .away, .cancelled, .moved, .schemaChanged, .planRefused, .refused,
            .indexLost, .unfit:
            false
        }
    }

    /// Whether the rules are held against the schema again before the next transaction.
    var endsPlan: Bool {
        switch kind {
        case .schemaChanged, .planRefused: true
        case .busy, .constraint, .interrupted, .cancelled: false
        case .storage, .away, .moved, .refused, .indexLost, .unfit: true
        }
    }

    /// Whether the connection is given up, so that the next call opens the file afresh.
    var endsConnection: Bool {
        switch kind {
        case .storage, .away, .moved, .refused, .indexLost, .unfit: true
        case .busy, .constraint, .interrupted, .cancelled, .schemaChanged, .planRefused: false
        }
    }

    package var description: String {
        let cause = resultCode == 0 ? "" : ": \(words)SQLite result \(resultCode)"
        return "cannot purge target at '\(target)' (\(kind.rawValue))\(cause)"
    }

    /// What the codes mean that a wrong path or wrong permissions lead to.
    private var words: String {
        if kind == .indexLost { return "another program cut the '-shm' file short, " }
        return switch resultCode & 0xff {
        case SQLITE_NOTADB: "the file is no SQLite database, or an encrypted one, "
        case SQLITE_CANTOPEN: "the service may not open the file, or write into its directory, "
        case SQLITE_READONLY: "the service may not write the file, "
        case SQLITE_CORRUPT: "the database is damaged, "
        case SQLITE_FULL: "the disk is full, "
        default: ""
        }
    }
}
