package import Engine
import HTTP
import Lifecycle
import PostgreSQL
package import Settings

/// A queue in a PostgreSQL database, 12 or later.
package struct PostgreSQLQueue: QueueKind {
    package static let name = "postgresql"
    package static let summary = "PostgreSQL 12 or later, schema expunged"

    package static let settings: [Setting] = [
        Setting(
            .queue,
            "conninfo_credential",
            .text(.credential),
            .required(example: .text("app-queue-conninfo")),
            "Connection string or URI of libpq, of a role that may use nothing but the queue."
        ).atRestart(),
        QueueConfiguration.tls(PostgreSQLStorePlan.TLS.verifyFull),
        .caFile(.queue, example: "/etc/expunged/db-ca.pem").atRestart(),
    ]

    /// The credential with libpq's connection string.
    package let conninfoCredential: String
    package let tls: PostgreSQLStorePlan.TLS
    /// `nil` for the system's authorities.
    package let caFile: String?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        conninfoCredential = section.requiredText("conninfo_credential")
        tls = section.requiredChoice("tls")
        caFile = section.text("ca_file")
    }

    package var pollInterval: Duration? { nil }

    package func open(_ environment: QueueEnvironment) -> any QueueServer {
        SQLQueue<PostgreSQLSession>(name: environment.name, clock: environment.clock) {
            PostgreSQLStorePlan(
                name: StoreName(environment.name),
                conninfo: try environment.adapters.credential(
                    conninfoCredential,
                    of: environment.owner
                ),
                schemas: [],
                rules: [],
                tls: tls,
                caFile: caFile
            )
        }
    }
}
