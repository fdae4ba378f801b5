package import Lifecycle

/// What one PostgreSQL target is told to do: which database, which tables, in which way.
package struct PostgreSQLTargetPlan: Sendable {
    /// How the server proves who it is over TCP; a Unix socket needs no proof.
    package enum TLS: String, Hashable, Sendable, CaseIterable {
        /// A certificate of a known authority for the very host.
        case verifyFull = "verify-full"
        /// A certificate of a known authority for whatever host.
        case verifyCA = "verify-ca"
        /// No encryption; for a loopback address only.
        case off
    }

    package let name: TargetName
    /// libpq's connection string or URI, with the password (PostgreSQL 15, 34.1.1).
    package let conninfo: Secret
    /// In the place of the one that `conninfo` names: a copy on the same server.
    package var database: String?
    /// Where tables without a schema in their name are looked for; the first one's are named
    /// without it.
    package let schemas: [String]
    package let rules: [TableRule]
    /// What its rows hold for other targets.
    package var keys: [KeyRule] = []
    /// How long its files hold what was deleted; `nil` when nobody said.
    package var residualCopiesKept: Duration?
    /// What other targets do in the same store; the coverage check counts it.
    package var neighbours = SchemaClaims()
    package let tls: TLS
    /// The authorities; `nil` for the system's.
    package let caFile: String?
    package let statementTimeout: Duration
    package let lockTimeout: Duration

    package init(
        name: TargetName,
        conninfo: Secret,
        schemas: [String],
        rules: [TableRule],
        tls: TLS = .verifyFull,
        caFile: String? = nil,
        timeouts: (statement: Duration, lock: Duration) = (.seconds(5), .seconds(1))
    ) {
        self.name = name
        self.conninfo = conninfo
        self.schemas = schemas
        self.rules = rules
        self.tls = tls
        self.caFile = caFile
        statementTimeout = timeouts.statement
        lockTimeout = timeouts.lock
    }
}

extension PostgreSQLTargetPlan {
    /// What is dealt with in the store, by whichever target.
    var claims: SchemaClaims { SchemaClaims(rules: rules, keys: keys).joined(with: neighbours) }

    /// What plans are made of.
    func workRules(holds: [RowFilter] = []) -> WorkRules {
        WorkRules(tables: rules, keys: keys, holds: holds)
    }
}
