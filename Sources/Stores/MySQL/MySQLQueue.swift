package import Engine
import HTTP
import Lifecycle
package import Settings

/// A queue in a database of a MySQL or MariaDB server.
package struct MySQLQueue: QueueKind {
    package static let name = "mysql"
    package static let summary = "MySQL 8 or MariaDB 10.11 or later, tables expunged_…"

    package static let settings: [Setting] = [
        Setting(
            .queue,
            "socket",
            .text(.path),
            .optional(example: .text("/run/mysqld/mysqld.sock")),
            "Unix socket of the server; this or address."
        ).atRestart(),
        Setting(
            .queue,
            "address",
            .text(.host),
            .optional(example: .text("db.example.com:3306")),
            "Host and port of the server; this or socket. The default port is 3306."
        ).atRestart(),
        Setting(
            .queue,
            "database",
            .text(.identifier),
            .required(example: .text("app")),
            "The database with the tables of the queue."
        ).atRestart(),
        Setting(
            .queue,
            "tls",
            .choice(MySQLTargetPlan.TLS.allCases.map(\.rawValue)),
            .defaultsTo(.text(MySQLTargetPlan.TLS.verifyFull.rawValue)),
            """
            How the server authenticates over TCP: a certificate for this host, or none (loopback \
            only). A Unix socket needs none.
            """
        ).atRestart(),
        Setting(
            .queue,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/db-ca.pem")),
            "PEM file with the certificate authorities to trust instead of the system's."
        ).atRestart(),
        Setting(
            .queue,
            "username",
            .text(.clientID),
            .required(example: .text("expunged_queue")),
            "User of the server, who may use nothing but the queue."
        ).atRestart(),
        Setting(
            .queue,
            "password_credential",
            .text(.credential),
            .optional(example: .text("app-queue-password")),
            """
            Credential with the password, on one line. Not set: the server trusts the service's \
            system user (unix_socket, auth_socket).
            """
        ).atRestart(),
        Setting(
            .queue,
            "poll_interval",
            .duration(.milliseconds(100) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(1))),
            "How often the service looks for new rows."
        ).atRestart(),
    ]

    package let place: MySQLTargetPlan.Place
    package let database: String
    package let tls: MySQLTargetPlan.TLS
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let username: String
    package let passwordCredential: String?
    package let pollInterval: Duration?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        database = section.requiredText("database")
        tls = section.requiredChoice("tls")
        caFile = section.text("ca_file")
        username = section.requiredText("username")
        passwordCredential = section.text("password_credential")
        pollInterval = section.duration("poll_interval")
        place = MySQLTargetPlan.Place(section, isEncrypted: tls != .off, &problems)
    }

    package func open(_ environment: QueueEnvironment) -> any QueueServer {
        SQLQueue<MySQLSession>(name: environment.name, clock: environment.clock) {
            var plan = MySQLTargetPlan(
                name: TargetName(environment.name),
                place: place,
                username: username,
                database: database,
                rules: []
            )
            plan.password = try passwordCredential.map {
                try environment.adapters.line($0, of: environment.owner)
            }
            (plan.tls, plan.caFile) = (tls, caFile)
            return plan
        }
    }
}
