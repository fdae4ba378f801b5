package import Lifecycle

/// The server and the database that a connection string leads to, to tell a copy from the store.
package struct PostgreSQLPlace: Hashable, Sendable {
    private static let serverKeys: Set<String> = ["host", "hostaddr", "port"]

    private let server: [String: String]
    private let database: String

    /// Reads a connection string; `nil` for a text that is none, or names no database: libpq would
    /// look for it in places that we do not know (PostgreSQL 15, 34.1.2).
    ///
    /// - Parameters:
    ///   - conninfo: Secret.
    ///   - database: In the place of the one that it names.
    package init?(_ conninfo: Secret, database: String?) {
        guard let given = PostgreSQLConninfo.parse(conninfo),
            let named = given.first(where: { $0.key == "dbname" })?.value, !named.isEmpty
        else { return nil }
        server = given.filter { Self.serverKeys.contains($0.key) }.reduce(into: [:]) {
            $0[$1.key] = $1.value
        }
        self.database = database ?? named
    }

    /// Whether both are one database; the same server may have more than one name.
    package func isDatabase(of other: Self) -> Bool { self == other }
}
