package import Engine
package import Lifecycle

/// Which database of a MySQL or MariaDB server a store purges, and how.
package struct MySQLStorePlan: Sendable {
    /// Where the server listens.
    package enum Place: Hashable, Sendable {
        case socket(String)
        case tcp(host: String, port: Int)
    }

    /// How the server proves who it is over TCP; a Unix socket needs no proof.
    package enum TLS: String, Hashable, Sendable, CaseIterable {
        /// A certificate of a known authority for the very host.
        case verifyFull = "verify-full"
        /// No encryption; for a loopback address only.
        case off
    }

    /// Debian's list of certificate authorities (ca-certificates).
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    package let name: StoreName
    package let place: Place
    package let username: String
    /// `nil` where the server trusts the user of the process (`unix_socket`, `auth_socket`).
    package var password: Secret?
    package let database: String
    package let rules: [TableRule]
    package var keys: [KeyRule] = []
    package var residualCopiesKept: Duration?
    package var neighbours = SchemaClaims()
    package var notes: (any NoteStore)?
    package var tls = TLS.verifyFull
    /// The authorities; `nil` for the system's.
    package var caFile: String?
    package var statementTimeout = Duration.seconds(5)
    /// The server counts in seconds.
    package var lockTimeout = Duration.seconds(1)
}

extension MySQLStorePlan: SQLConfiguration {
    var location: String { "\(place) \(database)" }
}

extension MySQLStorePlan.Place {
    var host: String? {
        guard case .tcp(let host, _) = self else { return nil }
        return host
    }

    var socket: String? {
        guard case .socket(let path) = self else { return nil }
        return path
    }

    var port: Int {
        guard case .tcp(_, let port) = self else { return 0 }
        return port
    }
}
