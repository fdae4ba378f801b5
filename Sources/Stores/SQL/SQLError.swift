import Lifecycle

/// Why a database could not do its work.
///
/// Holds codes and names of the schema, never the text of a server, which quotes values of rows.
struct SQLError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    enum Kind: String, Sendable, CaseIterable {
        /// Another process held the whole database for too long.
        case busy
        /// A lock, a deadlock, too many connections.
        case locked
        /// Disk full, I/O error or no memory.
        case storage
        /// A constraint or a trigger of the application forbids the change.
        case constraint
        /// A statement ran longer than allowed.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The connection broke.
        case lost
        /// No connection came about, or a file is missing or not permitted. It can come back.
        case unreachable
        /// The file at the path is another one than the one that is open.
        case moved
        /// The server is a replica or read-only.
        case readOnly = "read_only"
        /// The schema changed since the plan was made.
        case schemaChanged = "schema_changed"
        /// The rules do not fit the schema.
        case planRefused = "plan_refused"
        /// The log-in failed, or an access beside the file was refused (a planted journal, a link).
        case refused
        /// The role lacks a privilege.
        case privilege
        /// The server's certificate is not good enough, or it speaks no TLS.
        case tls
        /// The credential is no connection string, or says what the configuration decides.
        case badConninfo = "bad_conninfo"
        /// Another program has cut the index of the WAL short while it was in use.
        case indexLost = "index_lost"
        /// Not a database, damaged, or SQL that the database does not accept.
        case unfit
        /// Anything else that a server answers.
        case failed
    }

    let kind: Kind
    let target: TargetName
    /// The database's own code.
    let code: Code
    /// The constraint or trigger, once it is known.
    var obstacle: Obstacle?

    /// What the database says, without a value.
    enum Code: Hashable, Sendable {
        case none
        /// SQLite's extended result code.
        case sqlite(Int32)
        /// A table, index or the like of a SQLite schema, and the function that it may not call.
        case unreadableSchema(String, function: String?)
        /// An SQLSTATE, five characters.
        case state(String)
        /// A number of MySQL or MariaDB, or of libmariadb; 0 for our own judgment.
        case mysql(UInt32)

        /// In words; `nil` when there is none.
        var text: String? {
            switch self {
            case .none, .mysql(0), .state(""): nil
            case .sqlite(let result): "SQLite result \(result)"
            case .unreadableSchema(let object, let function?):
                "the schema of '\(object)' calls \(function), which SQLite allows to no schema"
            case .unreadableSchema(let object, nil):
                "SQLite cannot read the schema of '\(object)'; it is damaged, or calls a function"
                    + " that only the application may"
            case .state(let state): "SQLSTATE \(state)"
            case .mysql(let number): "MySQL error \(number)"
            }
        }
    }

    init(_ kind: Kind, target: TargetName, code: Code = .none) {
        self.kind = kind
        self.target = target
        self.code = code
    }

    /// Adds the obstacle.
    init(_ kind: Kind, target: TargetName, _ obstacle: Obstacle) {
        self.init(kind, target: target)
        self.obstacle = obstacle
    }

    /// What the error means for the order that met it.
    ///
    /// A constraint is no wrong set-up: a user whose rows violate it could otherwise stop all
    /// deletions.
    var failure: EffectFailure {
        switch kind {
        case .busy, .locked, .schemaChanged, .readOnly: .throttled(retryAfter: nil)
        case .constraint: obstacle.map { .blocked($0) } ?? .unusable
        case .storage, .timeout, .failed: .unusable
        case .unreachable: .unreachable
        case .moved, .cancelled, .lost: .lost
        case .planRefused, .refused, .indexLost, .unfit, .badConninfo, .tls, .privilege:
            .misconfigured
        }
    }

    /// Whether the error belongs to one order, so that its neighbours may still succeed.
    var concernsOneOrder: Bool {
        switch kind {
        case .constraint, .timeout, .failed, .locked: true
        case .busy, .storage, .cancelled, .lost, .unreachable, .moved, .readOnly, .schemaChanged,
            .planRefused, .refused, .privilege, .tls, .badConninfo, .indexLost, .unfit:
            false
        }
    }

    /// What is still good after it.
    enum Rest { case planAndConnection, connection, nothing }

    var rest: Rest {
        switch kind {
        case .constraint, .timeout, .busy, .locked: .planAndConnection
        case .schemaChanged, .planRefused, .failed: .connection
        case .storage, .cancelled, .lost, .unreachable, .moved, .readOnly, .refused, .privilege,
            .tls, .badConninfo, .indexLost, .unfit:
            .nothing
        }
    }

    var description: String {
        let causes = [advice, code.text].compactMap(\.self).joined(separator: ", ")
        return "cannot purge target at '\(target)' (\(kind.rawValue))"
            + (causes.isEmpty ? "" : ": " + causes)
    }

    /// Where to look.
    private var advice: String? {
        if case .sqlite(let result) = code { return sqliteAdvice(result) }
        if case .mysql(let number) = code { return mysqlAdvice(number) }
        return switch kind {
        case .badConninfo:
            "conninfo_credential must hold a connection string such as 'host=… dbname=… user=…',"
                + " without sslmode, sslrootcert, options, service, passfile and"
                + " target_session_attrs"
        case .unreachable: "no server answers; check host and port of conninfo_credential"
        case .tls:
            "the server offers no TLS, or its certificate is not good; check the host name, ca_file"
                + " and certificate"
        case .refused: "check user, password and dbname of conninfo_credential, and pg_hba.conf"
        case .readOnly: "the server is a replica, or told to be read-only"
        case .privilege: "the role may not do it; see the grants in the guide"
        case .busy, .locked, .storage, .constraint, .timeout, .cancelled, .lost, .moved,
            .schemaChanged, .planRefused, .indexLost, .unfit, .failed:
            nil
        }
    }
}
