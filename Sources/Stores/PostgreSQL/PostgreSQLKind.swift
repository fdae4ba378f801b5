package import Engine
import HTTP
import Lifecycle
import PostgreSQL
package import Settings

/// A database of a PostgreSQL server, 12 or later.
package struct PostgreSQLKind: TableKind, DrillCopying {
    package static let name = "postgresql"
    package static let summary = "PostgreSQL 12 or later"
    package static let traits = StoreTraits(
        residualCopies: "PostgreSQL's dead rows and log",
        residualPhrases: [.deadRows, .laggingReplicas, .unknownReplicas]
    )

    package static let settings: [Setting] =
        [
            Setting(
                .store,
                "conninfo_credential",
                .text(.credential),
                .required(example: .text("app-db-conninfo")),
                """
                Connection string or URI of libpq, password included. sslmode, options and similar \
                parameters are refused: the other keys set them.
                """
            ),
            Setting(
                .store,
                "schemas",
                .texts(.identifier, 1...16),
                .defaultsTo(.texts(["public"])),
                """
                Schemas for tables that are named without one, in this order, and for the coverage \
                check.
                """
            ),
            Setting(
                .store,
                "tls",
                .choice(PostgreSQLStorePlan.TLS.allCases.map(\.rawValue)),
                .defaultsTo(.text(PostgreSQLStorePlan.TLS.verifyFull.rawValue)),
                """
                How the server authenticates over TCP: a certificate for this host, one for any \
                host, or none (loopback only); a Unix socket needs none.
                """
            ).outsidePlans(),
            .caFile(.store, example: "/etc/expunged/db-ca.pem").outsidePlans(),
            SQLSettings.statementTimeout,
            Setting(
                .store,
                "lock_timeout",
                .duration(.milliseconds(10) ... .seconds(60)),
                .defaultsTo(.duration(.seconds(1))),
                "Time to wait for a table lock."
            ).outsidePlans(),
        ] + SQLSettings.all

    /// The credential with libpq's connection string.
    package let conninfoCredential: String
    /// Not empty.
    package let schemas: [String]
    package let tls: PostgreSQLStorePlan.TLS
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let statementTimeout: Duration
    package let lockTimeout: Duration
    package let claims: SchemaClaims
    /// In the place of the database that the connection string names; only of a copy.
    package private(set) var database: String?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        conninfoCredential = section.requiredText("conninfo_credential")
        schemas = section.texts("schemas")
        tls = section.requiredChoice("tls")
        caFile = section.text("ca_file")
        statementTimeout = section.duration("statement_timeout")
        lockTimeout = section.duration("lock_timeout")
        claims = SchemaClaims(&section, &problems)
    }

    package var naming: TableNaming { TableNaming(ignoresCase: false, schemas: schemas) }

    package func sharesDatabase(with other: any StoreKind) -> Bool {
        (other as? Self)?.conninfoCredential == conninfoCredential
    }

    /// Reads the connection string, which holds the password, from its credential.
    package func open(
        _ environment: StoreEnvironment
    ) throws -> some KeySource & UserListing & RowHolding & CoverageSearching & RuleSuggesting {
        var plan = PostgreSQLStorePlan(
            name: environment.name,
            conninfo: try environment.adapters.credential(
                conninfoCredential,
                of: environment.owner
            ),
            schemas: schemas,
            rules: claims.rules,
            tls: tls,
            caFile: caFile,
            statementTimeout: statementTimeout,
            lockTimeout: lockTimeout
        )
        plan.database = database
        plan.keys = claims.keys
        plan.residualCopiesKept = environment.store.residualCopiesKept
        (plan.neighbours, plan.notes) = (environment.neighbours, environment.notes)
        return PostgreSQLStore(plan: plan, hasher: environment.hasher, clock: environment.clock)
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.database = try TextRule.identifier.check(place)
        return copy
    }

    /// One connection string leads to one database, whatever its server is called.
    package func overlaps(
        _ other: any StoreKind,
        _ environment: StoreEnvironment
    ) throws -> Bool {
        guard let other = other as? Self else { return false }
        return try databaseName(environment) == other.databaseName(environment)
    }

    private func databaseName(_ environment: StoreEnvironment) throws -> String {
        let owner = environment.owner
        let conninfo = try environment.adapters.credential(conninfoCredential, of: owner)
        guard let name = Self.databaseName(conninfo, database) else {
            throw StoreSetupError(
                "credential '\(conninfoCredential)' must hold a connection string with"
                    + " dbname: without it a copy cannot be distinguished from the store"
            )
        }
        return name
    }

    /// The database that a connection string leads to, or `database` in its place; `nil` for a text
    /// that names none: libpq would look for it in places that we do not know (PostgreSQL 15,
    /// 34.1.2).
    ///
    /// Not the server: it has more names than anybody can compare (a socket, an address, an alias,
    /// a port or host that is left out).
    static func databaseName(_ conninfo: Secret, _ database: String?) -> String? {
        let named = PostgreSQLConninfo.parse(conninfo)?.first { $0.key == "dbname" }?.value ?? ""
        return named.isEmpty ? nil : database ?? named
    }
}

extension ResidualPhrase {
    static let deadRows = ResidualPhrase(
        "dead_rows",
        "dead rows, until VACUUM has passed and their space is written over, and the write-ahead"
            + " log, until it is recycled"
    )
}
