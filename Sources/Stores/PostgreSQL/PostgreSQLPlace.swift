package import Lifecycle
import PostgreSQL

/// The database that a connection string leads to, to tell a copy from the store.
///
/// Not the server: it has more names than anybody can compare (a socket, an address, an alias, a
/// port or host that is left out).
package struct PostgreSQLPlace: Hashable, Sendable {
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
        self.database = database ?? named
    }

    /// Whether both may be one database.
    package func isDatabase(of other: Self) -> Bool { self == other }
}
