package import Engine
package import Lifecycle
package import PostgreSQL

/// Which database a PostgreSQL store purges, and how.
package struct PostgreSQLStorePlan: Sendable {
    package typealias TLS = PostgreSQLTLS

    package let name: StoreName
    /// libpq's connection string or URI, with the password (PostgreSQL 15, 34.1.1).
    package let conninfo: Secret
    /// In the place of the one that `conninfo` names: a copy on the same server.
    package var database: String?
    /// Where tables without a schema in their name are looked for; the first one's are named
    /// without it.
    package let schemas: [String]
    package let rules: [TableRule]
    package var keys: [KeyRule] = []
    package var residualCopiesKept: Duration?
    package var neighbours = SchemaClaims()
    package var notes: (any NoteStore)?
    package var tls = TLS.verifyFull
    /// The authorities; `nil` for the system's.
    package var caFile: String?
    package var statementTimeout = Duration.seconds(5)
    package var lockTimeout = Duration.seconds(1)
}

extension PostgreSQLStorePlan: SQLConfiguration {
    var location: String {
        let given = PostgreSQLConninfo.parse(conninfo) ?? []
        let value = { (name: String) in given.last { $0.key == name }?.value }
        let parts = ["host", "hostaddr", "port"].map { "\($0)=\(value($0) ?? "")" }
        // The user's name is the default (PostgreSQL 15, 34.1.2).
        let name = database ?? value("dbname") ?? value("user") ?? ""
        return (parts + ["dbname=\(name)"]).joined(separator: " ")
    }
}
