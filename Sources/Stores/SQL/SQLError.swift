import Lifecycle

/// Why a database could not do its work.
///
/// Holds codes and names of the schema, never the text of a server, which quotes values of rows.
struct SQLError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes; ``reason`` says what each is.
    enum Kind: String, Sendable, CaseIterable {
        case busy, locked, storage, constraint, timeout, cancelled, lost
        /// Also a file that is missing or not permitted; it can come back.
        case unreachable
        case moved
        case readOnly = "read_only"
        case schemaChanged = "schema_changed"
        case planRefused = "plan_refused"
        /// Of a log-in, or of an access beside the file: a planted journal, or a link.
        case refused
        case privilege, tls
        /// Also one that says what the configuration decides.
        case badConninfo = "bad_conninfo"
        case indexLost = "index_lost"
        case oversized, unfit, failed

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
            case .unreachable: "the database cannot be reached"
            case .moved: "another file is at the path than the one that is open"
            case .readOnly: "the server is a replica or read-only"
            case .schemaChanged: "the schema changed since the rules were checked"
            case .planRefused: "the rules do not fit the schema; run: expungectl stores check"
            case .refused: "access is refused"
            case .privilege: "the database user lacks a privilege; see the grants in the guide"
            case .tls:
                "the server offers no TLS, or its certificate is not good; check the host name,"
                    + " ca_file and certificate"
            case .badConninfo: "the credential is no connection string for this store"
            case .indexLost: "another program damaged a file beside the database"
            case .oversized:
                "a value or an answer is \(SQLLimits.sizeText); delete or shorten it, and keep the"
                    + " application from writing such values"
            case .unfit: "it is not a database, is damaged, or refuses SQL of the service"
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
    let store: StoreName
    /// The database's own code; `nil` when the judgment is ours.
    let code: Code?
    /// A closer reason than that of the kind, and where to look.
    let advice: String?
    /// The constraint or trigger, once it is known.
    var obstacle: Obstacle?

    init(_ kind: Kind, store: StoreName, code: Code? = nil, advice: String? = nil) {
        (self.kind, self.store, self.code, self.advice) = (kind, store, code, advice)
    }

    init(_ kind: Kind, store: StoreName, _ obstacle: Obstacle) {
        self.init(kind, store: store)
        self.obstacle = obstacle
    }

    /// Adds the table to an error about a size.
    func sized(at table: String?) -> SQLError {
        guard kind == .oversized || isOutOfMemory, obstacle == nil, let table else { return self }
        let cause = isOutOfMemory ? Self.heapText : SQLLimits.sizeText
        let obstacle = Obstacle(.size, at: table, cause: cause)
        return SQLError(.oversized, store: store, obstacle)
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
        "cannot purge store at '\(store)' (\(kind.rawValue)): \(cause)"
    }

    /// The reason in words, with the code.
    var cause: String {
        [advice ?? kind.reason, code?.text].compactMap(\.self).joined(separator: ", ")
    }
}
