package import Lifecycle

/// Why a PostgreSQL target could not do its work.
///
/// Carries an SQLSTATE (PostgreSQL 15, appendix A), never the server's text, which quotes values of
/// rows.
package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// The credential is no connection string, or says what the configuration decides.
        case badConninfo = "bad_conninfo"
        /// No connection came about.
        case unreachable
        /// The server's certificate is not good enough, or it speaks no TLS.
        case tls
        /// The server refuses the log-in or the database.
        case refused
        /// A lock, a deadlock, too many connections: later.
        case busy
        /// The server is a replica or is told to be read-only.
        case readOnly = "read_only"
        /// A constraint or a trigger of the application forbids the change.
        case constraint
        /// A statement ran longer than allowed.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The connection broke.
        case lost
        /// The role lacks a privilege.
        case privilege
        /// A table or column of the plan is gone.
        case schemaChanged = "schema_changed"
        /// The rules do not fit the schema.
        case planRefused = "plan_refused"
        /// Anything else that the server says.
        case failed
    }

    package let kind: Kind
    package let target: TargetName
    /// Five characters, or empty when the server was not asked.
    package let sqlState: String
    /// The constraint or trigger that the server names.
    package var obstacle: Obstacle?

    package init(_ kind: Kind, target: TargetName, sqlState: String = "") {
        self.kind = kind
        self.target = target
        self.sqlState = sqlState
    }

    /// Classifies what the server answered.
    init(sqlState: String, target: TargetName) {
        let kind: Kind =
            switch (sqlState, sqlState.prefix(2)) {
            case ("", _), (_, "08"), ("57P01", _), ("57P02", _), ("57P05", _): .lost
            case ("57P03", _): .unreachable
            case ("57014", _): .timeout
            case ("55P03", _), ("55006", _), (_, "40"), (_, "53"): .busy
            case ("25006", _): .readOnly
            case (_, "23"), (_, "P0"), (_, "27"), (_, "44"): .constraint
            case ("42501", _): .privilege
            case ("42P01", _), ("42703", _), ("3F000", _): .schemaChanged
            case (_, "28"), ("3D000", _): .refused
            default: .failed
            }
        self.init(kind, target: target, sqlState: sqlState)
    }

    /// What the error means for the order that met it.
    ///
    /// A constraint is not a wrong set-up: one user's rows can violate it, and pausing the target
    /// for everyone on that ground would let a user stop all deletions.
    package var failure: EffectFailure {
        switch kind {
        case .unreachable: .unreachable
        case .busy, .schemaChanged, .readOnly: .throttled(retryAfter: nil)
        case .constraint: obstacle.map { .blocked($0) } ?? .unusable
        case .timeout, .failed: .unusable
        case .cancelled, .lost: .lost
        case .badConninfo, .tls, .refused, .privilege, .planRefused: .misconfigured
        }
    }

    /// Whether the error belongs to one order, so that its neighbours may still succeed.
    var concernsOneOrder: Bool {
        switch kind {
        case .constraint, .timeout, .failed, .busy: true
        case .badConninfo, .unreachable, .tls, .refused, .readOnly, .cancelled, .lost, .privilege,
            .schemaChanged, .planRefused:
            false
        }
    }

    /// Whether the catalogs are read anew before the next transaction.
    var endsPlan: Bool {
        switch kind {
        case .constraint, .timeout, .busy, .cancelled: false
        case .badConninfo, .unreachable, .tls, .refused, .readOnly, .lost, .privilege,
            .schemaChanged, .planRefused, .failed:
            true
        }
    }

    /// Whether the session is given up.
    var endsSession: Bool {
        switch kind {
        case .constraint, .timeout, .busy, .schemaChanged, .planRefused, .failed: false
        case .badConninfo, .unreachable, .tls, .refused, .readOnly, .cancelled, .lost, .privilege:
            true
        }
    }

    package var description: String {
        let state = sqlState.isEmpty ? nil : "SQLSTATE \(sqlState)"
        let causes = [advice, state].compactMap(\.self).joined(separator: ", ")
        return "cannot purge target at '\(target)' (\(kind.rawValue))"
            + (causes.isEmpty ? "" : ": " + causes)
    }

    /// Where to look when the way to the server is at fault.
    private var advice: String? {
        switch kind {
        case .badConninfo:
            "conninfo_credential must hold a connection string such as 'host=… dbname=… user=…',"
                + " without sslmode, sslrootcert, options, service, passfile and"
                + " target_session_attrs"
        case .unreachable: "no server answers; check host and port of conninfo_credential"
        case .tls: "check the host name, ca_file and the server's certificate"
        case .refused: "check user, password and dbname of conninfo_credential, and pg_hba.conf"
        case .readOnly: "the server is a replica, or told to be read-only"
        case .privilege: "the role may not do it; see the grants in the guide"
        case .busy, .constraint, .timeout, .cancelled, .lost, .schemaChanged, .planRefused, .failed:
            nil
        }
    }
}
