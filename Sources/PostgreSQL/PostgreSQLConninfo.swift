internal import CPostgres
package import Lifecycle

/// How a server proves who it is over TCP; a Unix socket needs no proof.
package enum PostgreSQLTLS: String, Hashable, Sendable, CaseIterable {
    /// A certificate of a known authority for the very host.
    case verifyFull = "verify-full"
    /// A certificate of a known authority for whatever host.
    case verifyCA = "verify-ca"
    /// No encryption; for a loopback address only.
    case off
}

/// A connection string, taken apart and completed with what the configuration decides.
package struct PostgreSQLConninfo: Sendable {
    /// Keys that the configuration or we decide; a connection string with one is refused.
    package static let reserved: Set<String> = [
        "sslmode", "sslrootcert", "requiressl", "sslcompression", "service", "servicefile",
        "passfile", "options", "replication", "client_encoding", "target_session_attrs",
        "ssl_min_protocol_version",
    ]

    /// Debian's list of certificate authorities (ca-certificates).
    package static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Keys and values in the order for `PQconnectStartParams`; secret.
    package let options: [(key: String, value: String)]

    /// Reads a connection string or URI (PostgreSQL 15, 34.1.1).
    ///
    /// `database` replaces the one that the text names. `caFile` has the authorities; `nil` is for
    /// the system's. One host is tried for `limit`.
    ///
    /// - Throws: `badConninfo`, without a word of the text.
    package init(
        _ conninfo: Secret,
        database: String? = nil,
        tls: PostgreSQLTLS,
        caFile: String?,
        limit: Duration
    ) throws(PostgreSQLFailure) {
        guard let given = Self.parse(conninfo),
            given.allSatisfy({ !Self.reserved.contains($0.key) })
        else { throw .badConninfo }
        var options = given.filter { $0.key != "application_name" }
        if let database {
            options.removeAll { $0.key == "dbname" }
            // Never read as a connection string: `PQconnectStartParams` is told not to expand it.
            options.append((key: "dbname", value: database))
        }
        let hosts = given.filter { $0.key == "host" || $0.key == "hostaddr" }
            .flatMap { $0.value.split(separator: ",") }
        let isRemote = hosts.contains { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
        if tls == .off {
            let loopback: Set<Substring> = ["localhost", "127.0.0.1", "::1"]
            guard !isRemote || hosts.allSatisfy({ loopback.contains($0) || $0.hasPrefix("/") })
            else { throw .badConninfo }
        }
        options += [
            (key: "sslmode", value: isRemote && tls != .off ? tls.rawValue : "disable"),
            (key: "sslrootcert", value: caFile ?? Self.systemAuthorities),
            (key: "ssl_min_protocol_version", value: "TLSv1.2"),
            (key: "gssencmode", value: "disable"),
            (key: "application_name", value: "expunged"),
            (key: "client_encoding", value: "UTF8"),
            // With several hosts, the one that can be written.
            (key: "target_session_attrs", value: "read-write"),
            (key: "connect_timeout", value: "\(limit.components.seconds)"),
            (key: "keepalives", value: "1"),
            (key: "tcp_user_timeout", value: "15000"),
        ]
        self.options = options
    }

    /// Keys and values that a connection string gives; `nil` for a text that is none.
    package static func parse(_ secret: Secret) -> [(key: String, value: String)]? {
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
