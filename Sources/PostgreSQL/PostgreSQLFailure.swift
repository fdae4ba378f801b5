/// Why a server could not be reached, or did not do what was asked.
package enum PostgreSQLFailure: Error, Sendable, Equatable {
    /// The connection string is none, or has a key that the configuration decides.
    case badConninfo
    case unreachable
    /// TLS with the server fails, or its certificate does not prove who it is.
    case tls
    /// The server refuses the log-in.
    case refused
    /// No server of the connection string can be written.
    case readOnly
    /// The connection ended.
    case lost
    /// The server sends more than the caller allows; the connection is of no more use.
    case oversized
    /// No answer came before the deadline.
    case timeout
    /// The caller's descriptor became readable.
    case cancelled
    /// The SQLSTATE of the server's answer (PostgreSQL 15, appendix A).
    case state(String)
}
