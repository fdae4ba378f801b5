import Lifecycle
import PostgreSQL

extension SQLError.Code {
    /// An SQLSTATE, five characters.
    static func sqlState(_ state: String) -> Self { Self(domain: "SQLSTATE", value: state) }
}

extension SQLError {
    init(_ failure: PostgreSQLFailure, store: StoreName) {
        // With the type: by its name alone a case would be one of the failure, and this call
        // itself.
        let kind: Kind
        switch failure {
        case .badConninfo: kind = .badConninfo
        case .unreachable: kind = .unreachable
        case .tls: kind = .tls
        case .refused: kind = .refused
        case .readOnly: kind = .readOnly
        case .lost:
            let advice = "PostgreSQL closed the connection; is the server running?"
            self.init(.lost, store: store, advice: advice)
            return
        case .timeout: kind = .timeout
        case .cancelled: kind = .cancelled
        case .oversized: kind = .oversized
        case .state(let state):
            self.init(sqlState: state, store: store)
            return
        }
        self.init(kind, sqlState: "", store: store)
    }

    private init(_ kind: Kind, sqlState: String, store: StoreName) {
        self.init(
            kind,
            store: store,
            code: sqlState.isEmpty ? nil : .sqlState(sqlState),
            advice: sqlState == "55P03" ? Self.lockHeld : Self.advice(kind)
        )
    }

    /// Where to look.
    private static func advice(_ kind: Kind) -> String? {
        switch kind {
        case .badConninfo:
            "conninfo_credential must hold a connection string such as 'host=… dbname=… user=…',"
                + " without sslmode, sslrootcert, options, service, passfile and"
                + " target_session_attrs"
        case .unreachable: "no server answers; check host and port of conninfo_credential"
        case .refused: "check user, password and dbname of conninfo_credential, and pg_hba.conf"
        case .busy, .locked, .storage, .constraint, .timeout, .cancelled, .lost, .moved, .readOnly,
            .privilege, .schemaChanged, .planRefused, .tls, .indexLost, .oversized, .unfit, .failed:
            nil
        }
    }

    /// Classifies an SQLSTATE (PostgreSQL 15, appendix A).
    init(sqlState: String, store: StoreName) {
        let kind: Kind =
            switch (sqlState, sqlState.prefix(2)) {
            case ("", _), (_, "08"), ("57P01", _), ("57P02", _), ("57P05", _): .lost
            case ("57P03", _): .unreachable
            case ("57014", _): .timeout
            case ("55P03", _), ("55006", _), (_, "40"), (_, "53"): .locked
            case ("25006", _): .readOnly
            case (_, "23"), (_, "P0"), (_, "27"), (_, "44"): .constraint
            case ("42501", _): .privilege
            case ("42P01", _), ("42703", _), ("3F000", _): .schemaChanged
            case (_, "28"), ("3D000", _): .refused
            default: .failed
            }
        self.init(kind, sqlState: sqlState, store: store)
    }

    /// Reads what the server answered instead of a result: codes and names of the schema.
    ///
    /// A message may quote values, unless it says which name is unknown (PostgreSQL 15, 34.3.1 and
    /// 55.8).
    init(_ result: PostgreSQLResult, store: StoreName) {
        let field = result.field
        let state = field("C") ?? ""
        let context = field("W") ?? ""
        let function = Self.function(context)
        let known = SQLError(sqlState: state, store: store)
        // What a function of the application raises, names or may not do is no wrong set-up of
        // ours. The context of another server's language has no name that we know.
        let isInside =
            known.kind == .failed && function != nil
            || !context.isEmpty && [.privilege, .schemaChanged].contains(known.kind)
        self = isInside ? SQLError(.constraint, sqlState: state, store: store) : known
        guard kind == .constraint else { return }
        let (constraint, table) = (field("n"), field("t"))
        switch state {
        case "23503": obstacle = Obstacle(.foreignKey, at: table, name: constraint)
        case "42501": obstacle = Obstacle(.permission, name: function)
        default:
            obstacle =
                state.hasPrefix("23") && (constraint ?? table) != nil
                ? Obstacle(.constraint, at: table, name: constraint ?? field("c"))
                : Obstacle(
                    .trigger,
                    at: table,
                    name: function,
                    cause: field("p").flatMap { _ in Self.unknownName(field("M"), state, context) }
                )
        }
    }

    /// The message about a name that a function has in its text, such as `relation "log" does not
    /// exist`.
    ///
    /// A position in the text (`p`) shows that the statement was not even begun. What RAISE or
    /// EXECUTE composes may quote anything, also under these codes, and so may what another
    /// language's context does not tell apart from it.
    private static func unknownName(
        _ message: String?,
        _ state: String,
        _ context: String
    ) -> String? {
        let states = ["42P01", "42703", "42883", "3F000"]
        let innermost = context.prefix { $0 != "\n" }
        let ends = [" at SQL statement", " at PERFORM", " at assignment", " at IF", " at RETURN"]
        let isFixed =
            innermost.hasPrefix("SQL function ")
            || innermost.hasPrefix("PL/pgSQL function ")
                && ends.contains { innermost.hasSuffix($0) }
        guard states.contains(state), isFixed else { return nil }
        return message.map { String($0.prefix { $0 != "\n" }.prefix(200)) }
    }

    /// The function of the innermost line of a context that names one, such as
    /// `PL/pgSQL function app.guard() line 3 at RAISE` or `SQL function "note" statement 1`.
    ///
    /// Other lines quote statements, so nothing but a name is taken.
    private static func function(_ context: String) -> String? {
        let starts = ["PL/pgSQL function ", "SQL function "]
        for line in context.split(separator: "\n") {
            guard let start = starts.first(where: { line.hasPrefix($0) }) else { continue }
            let name = line.dropFirst(start.count).drop { $0 == "\"" }
                .prefix { $0.isLetter || $0.isNumber || "_.$".contains($0) }
            return name.isEmpty ? nil : String(name)
        }
        return nil
    }
}
