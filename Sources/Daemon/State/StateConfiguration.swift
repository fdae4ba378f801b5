import PostgreSQL
import Settings

/// The `[state]` section.
package struct StateConfiguration: Hashable, Sendable {
    /// The databases that can hold the state.
    package enum Kind: String, Sendable, CaseIterable {
        case sqlite, postgresql
    }

    package let kind: Kind
    /// The credential with libpq's connection string; only and always with `postgresql`.
    package let conninfoCredential: String?
    let tls: PostgreSQLTLS
    /// `nil` for the system's authorities.
    let caFile: String?
    /// `nil` for the machine's name.
    let host: String?

    /// The keys of `[state]`.
    static let settings = Setting.keys(
        .state,
        (
            "kind", .choice(Kind.allCases.map(\.rawValue)),
            .defaultsTo(.text(Kind.sqlite.rawValue)),
            """
            The database: a file of the state directory, or PostgreSQL 13 or later \
            (docs/guides/state-in-postgresql.md).
            """
        ),
        (
            "conninfo_credential", .text(.credential), .optional(example: .text("state-conninfo")),
            """
            With postgresql: connection string or URI of libpq, password included. It may name \
            several hosts; the service uses the one that takes writes.
            """
        ),
        (
            "tls", .choice(PostgreSQLTLS.allCases.map(\.rawValue)),
            .defaultsTo(.text(PostgreSQLTLS.verifyFull.rawValue)),
            "With postgresql: as tls of a [[store]] of this kind."
        ),
        (
            "ca_file", .text(.path), .optional(example: .text("/etc/expunged/state-ca.pem")),
            """
            With postgresql: PEM file of the authorities to trust instead of the system's.
            """
        ),
        (
            "host", .text(.name), .optional(example: .text("host-a")),
            """
            With postgresql: a name of this host that no other with the same state has. Default: \
            the machine's name, up to its first dot.
            """
        )
    ).map { $0.atRestart() }
}

extension ConfigurationReader {
    mutating func state() -> StateConfiguration {
        var section = single(.state)
        return read(&section) { section, problems in
            let kind: StateConfiguration.Kind = section.requiredChoice("kind")
            switch kind {
            case .postgresql:
                if !problems.isWritten("conninfo_credential") {
                    problems.report(
                        .missingKey,
                        "conninfo_credential",
                        "kind \"postgresql\" needs it: the credential with the connection string"
                    )
                }
            case .sqlite:
                for key in ["conninfo_credential", "ca_file", "host"]
                where problems.isWritten(key) {
                    problems.report(
                        .contradiction,
                        key,
                        "only kind \"postgresql\" has it; set state.kind, or remove it"
                    )
                }
            }
            return StateConfiguration(
                kind: kind,
                conninfoCredential: section.text("conninfo_credential"),
                tls: section.requiredChoice("tls"),
                caFile: section.text("ca_file"),
                host: section.text("host")
            )
        }
    }
}
