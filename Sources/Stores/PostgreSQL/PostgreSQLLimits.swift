/// Bounds of a PostgreSQL store, each with its reason.
enum PostgreSQLLimits {
    /// Longest way to a usable session, TLS and log-in included; name resolution comes on top.
    static let connect = Duration.seconds(10)

    /// How much longer than the server's own `statement_timeout` we wait for an answer.
    static let grace = Duration.seconds(5)

    /// Longest statement that sets up a session.
    static let setUp = Duration.seconds(5)

    /// Bytes of the values to be masked that are read at once, but for one row's; some times as
    /// much is in memory meanwhile.
    static let maskBytes = 4 << 20

    /// Rows counted per table and user; "at least so many" is enough for a receipt.
    static let countRows = 1_000_000

    /// Tables and columns of the catalogs that are read, 50 MiB at the very most.
    static let catalogRows = 200_000

    /// The first server that we know: 12 plans scans by the place of a row in joins.
    static let serverVersion: Int32 = 120_000
}
