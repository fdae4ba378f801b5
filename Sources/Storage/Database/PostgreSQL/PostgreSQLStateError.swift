import PostgreSQL

/// An error of a server, without its message, which quotes values.
struct PostgreSQLStateError: DatabaseFailure {
    let kind: StorageError.Kind
    let reason: String
    let endsConnection: Bool

    init(_ kind: StorageError.Kind, _ reason: String, endsConnection: Bool = false) {
        (self.kind, self.reason, self.endsConnection) = (kind, reason, endsConnection)
    }

    /// A server took the place of one that had acknowledged more; the process must end.
    static let lostCommits = PostgreSQLStateError(
        .commitFailed,
        "the server has lost commits that it had acknowledged"
    )

    init(_ failure: PostgreSQLFailure, constraint: String? = nil) {
        switch failure {
        case .badConninfo:
            self.init(
                .unopenable,
                "the connection string is none, or has sslmode, sslrootcert, options, service,"
                    + " passfile or target_session_attrs"
            )
        case .unreachable:
            self.init(.unreachable, "no server answers", endsConnection: true)
        case .tls:
            self.init(.unreachable, "the server's certificate proves nothing", endsConnection: true)
        case .refused:
            self.init(.unreachable, "the server refuses the log-in", endsConnection: true)
        case .readOnly:
            self.init(.unreachable, "no server takes writes", endsConnection: true)
        case .lost, .oversized:
            self.init(.unreachable, "the connection was lost", endsConnection: true)
        case .timeout, .cancelled:
            self.init(.unreachable, "the server does not answer in time", endsConnection: true)
        case .state(let state):
            let (kind, endsConnection) = Self.classify(state)
            let name = constraint.map { " (\($0))" } ?? ""
            self.init(kind, "SQLSTATE \(state)\(name)", endsConnection: endsConnection)
        }
    }

    /// Classifies an SQLSTATE (PostgreSQL 15, appendix A).
    private static func classify(_ state: String) -> (StorageError.Kind, endsConnection: Bool) {
        switch (state, state.prefix(2)) {
        // A failover has made the server a standby: another one takes writes.
        case ("25006", _): (.unreachable, true)
        case ("57014", _): (.busy, false)
        case (_, "08"), (_, "57"), (_, "28"), ("3D000", _), ("53300", _): (.unreachable, true)
        case ("53100", _): (.diskFull, false)
        case (_, "40"), (_, "53"), ("55P03", _), ("55006", _): (.busy, false)
        // The server has ended the session of a transaction that said nothing.
        case ("25P03", _), ("25P04", _): (.unreachable, true)
        case (_, "23"), (_, "P0"), (_, "27"), (_, "44"): (.constraint, false)
        case ("XX001", _), ("XX002", _): (.corrupt, false)
        default: (.sqlite, false)
        }
    }
}
