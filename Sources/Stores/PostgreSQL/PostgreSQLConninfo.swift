internal import CPostgres
internal import Glibc
internal import Lifecycle

/// A connection string, taken apart and completed with what the configuration decides.
struct PostgreSQLConninfo {
    /// Keys that the configuration or we decide; a connection string with one is refused.
    static let reserved: Set<String> = [
        "sslmode", "sslrootcert", "requiressl", "sslcompression", "service", "servicefile",
        "passfile", "options", "replication", "client_encoding", "target_session_attrs",
        "ssl_min_protocol_version",
    ]

    /// Debian's list of certificate authorities (ca-certificates).
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Keys and values in the order for `PQconnectStartParams`; secret.
    let options: [(key: String, value: String)]

    /// Reads the credential.
    ///
    /// - Throws: ``SQLError`` of kind `badConninfo`, without a word of the text.
    init(_ plan: PostgreSQLTargetPlan) throws(SQLError) {
        guard let given = Self.parse(plan.conninfo) else {
            throw SQLError(.badConninfo, target: plan.name)
        }
        guard given.allSatisfy({ !Self.reserved.contains($0.key) }) else {
            throw SQLError(.badConninfo, target: plan.name)
        }
        var options = given.filter { $0.key != "application_name" }
        if let database = plan.database {
            options.removeAll { $0.key == "dbname" }
            // Never read as a connection string: `PQconnectStartParams` is told not to expand it.
            options.append((key: "dbname", value: database))
        }
        let hosts = given.filter { $0.key == "host" || $0.key == "hostaddr" }
            .flatMap { $0.value.split(separator: ",") }
        let isRemote = hosts.contains { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
        if plan.tls == .off {
            let loopback: Set<Substring> = ["localhost", "127.0.0.1", "::1"]
            guard !isRemote || hosts.allSatisfy({ loopback.contains($0) || $0.hasPrefix("/") })
            else { throw SQLError(.badConninfo, target: plan.name) }
        }
        options += [
            (key: "sslmode", value: isRemote && plan.tls != .off ? plan.tls.rawValue : "disable"),
            (key: "sslrootcert", value: plan.caFile ?? Self.systemAuthorities),
            (key: "ssl_min_protocol_version", value: "TLSv1.2"),
            (key: "gssencmode", value: "disable"),
            (key: "application_name", value: "expunged"),
            (key: "client_encoding", value: "UTF8"),
            // With several hosts, the one that can be written.
            (key: "target_session_attrs", value: "read-write"),
            (
                key: "connect_timeout",
                value: "\(PostgreSQLLimits.connect.components.seconds)"
            ),
            (key: "keepalives", value: "1"),
            (key: "tcp_user_timeout", value: "15000"),
        ]
        self.options = options
    }

    /// Keys and values that a connection string gives; `nil` for a text that is none.
    static func parse(_ secret: Secret) -> [(key: String, value: String)]? {
        let text = secret.withBytes { String(validating: $0, as: UTF8.self) }
        guard let text = text?.trimmed, !text.isEmpty, !text.utf8.contains(0) else { return nil }
        guard let parsed = unsafe PQconninfoParse(text, nil) else { return nil }
        defer { unsafe PQconninfoFree(parsed) }
        var given: [(key: String, value: String)] = []
        var index = 0
        while let key = unsafe parsed[index].keyword {
            if let value = unsafe parsed[index].val {
                given.append(unsafe (key: String(cString: key), value: String(cString: value)))
            }
            index += 1
        }
        return given
    }
}

extension String {
    /// Without blanks and line ends around it; an editor may have added one.
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0.isWhitespace || $0.isNewline }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
