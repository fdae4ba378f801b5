package import Engine
import HTTP
import Lifecycle
package import Settings

/// A database of a MySQL or MariaDB server.
package struct MySQLKind: TableKind, DrillCopying {
    package static let name = "mysql"
    package static let summary = "MariaDB 10.11 or later, or MySQL 8 (untested)"
    package static let traits = StoreTraits(
        residualCopies: "InnoDB's undo log and the binary log",
        residualPhrases: [.undoLog, .laggingReplicas, .unknownReplicas]
    )

    package static let settings: [Setting] = server(.store) + database + access + SQLSettings.all

    /// Where the server is, for a store or a queue.
    static func server(_ scope: SettingScope) -> [Setting] {
        [
            .unixSocket(scope, example: "/run/mysqld/mysqld.sock"),
            Setting(
                scope,
                "address",
                .text(.host),
                .optional(example: .text("db.example.com:3306")),
                "Host and port of the server; this or socket. The default port is 3306."
            ),
        ]
    }

    private static let database: [Setting] = [
        Setting(
            .store,
            "database",
            .text(.identifier),
            .required(example: .text("app")),
            "The database."
        ),
        Setting(
            .store,
            "tls",
            .choice(MySQLStorePlan.TLS.allCases.map(\.rawValue)),
            .defaultsTo(.text(MySQLStorePlan.TLS.verifyFull.rawValue)),
            """
            How the server authenticates over TCP: a certificate for this host, or none (loopback \
            only); a Unix socket needs none.
            """
        ).outsidePlans(),
        .caFile(.store, example: "/etc/expunged/db-ca.pem").outsidePlans(),
    ]

    private static let access: [Setting] = [
        Setting(
            .store,
            "username",
            .text(.clientID),
            .required(example: .text("expunged")),
            "User of the server."
        ).outsidePlans(),
        Setting(
            .store,
            "password_credential",
            .text(.credential),
            .optional(example: .text("app-db-password")),
            """
            Password, on one line; without it, the server trusts the service's system user \
            (unix_socket, auth_socket).
            """
        ).outsidePlans(),
        SQLSettings.statementTimeout,
        Setting(
            .store,
            "lock_timeout",
            .duration(.seconds(1) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(1))),
            "Time to wait for a lock, in whole seconds."
        ).outsidePlans(),
    ]

    package let place: MySQLStorePlan.Place
    package private(set) var database: String
    package let tls: MySQLStorePlan.TLS
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let username: String
    package let passwordCredential: String?
    package let statementTimeout: Duration
    package let lockTimeout: Duration
    package let claims: SchemaClaims

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        database = section.requiredText("database")
        tls = section.requiredChoice("tls")
        caFile = section.text("ca_file")
        username = section.requiredText("username")
        passwordCredential = section.text("password_credential")
        statementTimeout = section.duration("statement_timeout")
        lockTimeout = section.duration("lock_timeout")
        place = MySQLStorePlan.Place(section, isEncrypted: tls != .off, &problems)
        claims = SchemaClaims(&section, &problems)
    }

    package var naming: TableNaming { TableNaming(ignoresCase: false, schemas: [database]) }

    package func sharesDatabase(with other: any StoreKind) -> Bool {
        guard let other = other as? Self else { return false }
        return (other.place, other.database) == (place, database)
    }

    /// Reads the password from its credential.
    package func open(
        _ environment: StoreEnvironment
    ) throws -> some KeySource & UserListing & RowHolding & CoverageSearching & RuleSuggesting {
        var plan = MySQLStorePlan(
            name: environment.name,
            place: place,
            username: username,
            database: database,
            rules: claims.rules
        )
        plan.password = try passwordCredential.map(environment.line)
        plan.keys = claims.keys
        plan.residualCopiesKept = environment.store.residualCopiesKept
        (plan.neighbours, plan.notes) = (environment.neighbours, environment.notes)
        (plan.tls, plan.caFile) = (tls, caFile)
        (plan.statementTimeout, plan.lockTimeout) = (statementTimeout, lockTimeout)
        return MySQLStore(plan: plan, hasher: environment.hasher, clock: environment.clock)
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.database = try TextRule.identifier.check(place)
        return copy
    }

    /// A server has more names than can be compared, and some compare names without regard to case.
    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        (other as? Self)?.database.lowercased() == database.lowercased()
    }
}

extension MySQLStorePlan.Place {
    /// `socket` or `address`.
    init(
        _ section: SettingsSection,
        isEncrypted: Bool,
        _ problems: inout SectionProblems
    ) {
        let plainKey = isEncrypted ? nil : "tls"
        let example = "/run/mysqld/mysqld.sock"
        switch ServerPlace(section, plainKey: plainKey, example: example, &problems) {
        case .socket(let path)?: self = .socket(path)
        // The port that MySQL registered (iana.org/assignments/service-names-port-numbers).
        case .address(let url)?: self = .tcp(host: url.host, port: url.port ?? 3306)
        case nil: self = .socket("")
        }
    }
}

extension ResidualPhrase {
    static let undoLog = ResidualPhrase(
        "undo_log",
        "deleted rows in InnoDB's undo log and pages, until the purge threads have passed and their"
            + " space is written over, and in the binary log, until it expires"
    )
}
