package import Engine
import HTTP
import Lifecycle
package import Settings

/// A queue in a database of a MySQL or MariaDB server.
package struct MySQLQueue: QueueKind {
    package static let name = "mysql"
    package static let summary = "MariaDB 10.11 or later, or MySQL 8 (untested), tables expunged_…"

    package static let settings: [Setting] =
        MySQLKind.server(.queue).map { $0.atRestart() } + access

    private static let access: [Setting] = [
        Setting(
            .queue,
            "database",
            .text(.identifier),
            .required(example: .text("app")),
            "The database with the tables of the queue."
        ).atRestart(),
        QueueConfiguration.tls(MySQLStorePlan.TLS.verifyFull),
        .caFile(.queue, example: "/etc/expunged/db-ca.pem").atRestart(),
        Setting(
            .queue,
            "username",
            .text(.clientID),
            .required(example: .text("expunged_queue")),
            "User of the server, with rights on the queue only."
        ).atRestart(),
        Setting(
            .queue,
            "password_credential",
            .text(.credential),
            .optional(example: .text("app-queue-password")),
            "As password_credential of a [[store]] of this kind."
        ).atRestart(),
        Setting(
            .queue,
            "poll_interval",
            .duration(.milliseconds(100) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(1))),
            "Time between two searches for new rows."
        ).atRestart(),
    ]

    package let place: MySQLStorePlan.Place
    package let database: String
    package let tls: MySQLStorePlan.TLS
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
        place = MySQLStorePlan.Place(section, isEncrypted: tls != .off, &problems)
    }

    package func open(_ environment: QueueEnvironment) -> any QueueServer {
        SQLQueue<MySQLSession>(name: environment.name, clock: environment.clock) {
            var plan = MySQLStorePlan(
                name: StoreName(environment.name),
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
