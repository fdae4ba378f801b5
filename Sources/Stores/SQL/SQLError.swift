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
        /// Another program damaged a file beside the database while it was in use.
        case indexLost = "index_lost"
        /// A value or an answer is larger than ``SQLLimits`` allow.
        case oversized
        /// Not a database, damaged, or SQL that the database does not accept.
        case unfit
        /// Anything else that a server answers.
        case failed

        /// The reason in words, where the kind of store knows no closer one.
        var reason: String {
            switch self {
            case .busy: "another process holds the database"
            case .locked: "another transaction holds a lock, or the server is short of resources"
            case .storage: "a disk is full or fails, or memory is short"
            case .constraint: "a constraint or trigger of the application refuses the change"
            case .timeout: "a statement ran longer than allowed"
            case .cancelled: "the work was stopped"
            case .lost: "the server closed the connection; check that it is running"
            case .unreachable: "no connection came about"
            case .moved: "the file at the path is another one than the one that is open"
            case .readOnly: "the server is a replica or read-only"
            case .schemaChanged: "the schema changed since the rules were checked"
            case .planRefused: "the rules do not fit the schema; run: expungectl targets check"
            case .refused: "access is refused"
            case .privilege: "the database user lacks a privilege; see the grants in the guide"
            case .tls:
                "the server offers no TLS, or its certificate is not good; check the host name,"
                    + " ca_file and certificate"
            case .badConninfo: "the credential is no connection string for this target"
            case .indexLost: "another program damaged a file beside the database"
            case .oversized:
                "the store sends a value or an answer \(SQLLimits.sizeText); delete or shorten"
                    + " what is that long, or stop what makes it"
            case .unfit: "the database cannot be worked with"
            case .failed: "the server refuses a statement"
            }
        }
    }

    /// The reason where a server says that it is no other.
    static let lockHeld = "another transaction holds a lock"

    /// What the database answered, without a value.
    struct Code: Hashable, Sendable {
        /// Whose list of codes it is from.
        let domain: String
        let value: String

        var text: String { "\(domain) \(value)" }
    }

    let kind: Kind
    let target: TargetName
    /// The database's own code; `nil` when the judgment is ours.
    let code: Code?
    /// A closer reason than that of the kind, and where to look.
    let advice: String?
    /// The constraint or trigger, once it is known.
    var obstacle: Obstacle?

    init(_ kind: Kind, target: TargetName, code: Code? = nil, advice: String? = nil) {
        (self.kind, self.target, self.code, self.advice) = (kind, target, code, advice)
    }

    init(_ kind: Kind, target: TargetName, _ obstacle: Obstacle) {
        self.init(kind, target: target)
        self.obstacle = obstacle
    }

    /// Adds the table to an error about a size.
    func sized(at table: String?) -> SQLError {
        guard kind == .oversized || isOutOfMemory, obstacle == nil, let table else { return self }
        let obstacle = Obstacle(.size, at: table, cause: SQLLimits.sizeText)
        return SQLError(.oversized, target: target, obstacle)
    }

    /// What the error means for the order that met it.
    ///
    /// A constraint is no wrong set-up: a user whose rows violate it could otherwise stop all
    /// deletions.
    var failure: EffectFailure {
        switch kind {
        case .busy, .locked, .schemaChanged, .readOnly: .throttled(retryAfter: nil)
        case .constraint: obstacle.map { .blocked($0) } ?? .unusable
        case .oversized: obstacle.map { .blocked($0) } ?? .misconfigured
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
        case .oversized: obstacle != nil
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
            .tls, .badConninfo, .indexLost, .oversized, .unfit:
            .nothing
        }
    }

    var description: String {
        "cannot purge target at '\(target)' (\(kind.rawValue)): \(cause)"
    }

    /// The reason in words, with the code.
    var cause: String {
        [advice ?? kind.reason, code?.text].compactMap(\.self).joined(separator: ", ")
    }
}
