/// Bounds of a PostgreSQL target, each with its reason.
package enum PostgreSQLLimits {
    /// Longest way to a usable session, TLS and log-in included; name resolution comes on top.
    package static let connect = Duration.seconds(10)

    /// How much longer than the server's own `statement_timeout` we wait for an answer.
    package static let grace = Duration.seconds(5)

    /// Rows of a first chunk; a few milliseconds without slow triggers.
    package static let chunkRows = 500

    /// Bytes of the values to be masked that are read at once, but for one row's; some times as
    /// much is in memory meanwhile.
    package static let maskBytes = 4 << 20

    /// Chunks of one table and user before we call it endless (a trigger that undoes our change).
    package static let chunks = 1_000_000

    /// Gap between two transactions of one user: the disk and the replicas catch up.
    package static let restBetweenChunks = Duration.milliseconds(15)

    /// How long replicas may take to follow before the receipt says that they did not; most take
    /// some milliseconds.
    package static let replicaWait = Duration.seconds(1)

    /// Rows counted per table and user; "at least so many" is enough for a receipt.
    package static let countRows = 1_000_000

    /// Remaining rows counted per table; "at least so many" is enough to go back to purging.
    package static let remainingRows = 10_000

    /// How long a plan is used before the catalogs are read anew, some milliseconds of work.
    package static let planLifetime = Duration.seconds(60)

    /// How long a session may stand idle before it is replaced: a firewall may have cut it.
    package static let sessionIdle = Duration.seconds(60)

    /// Rows read to see whether a creation column holds plausible times.
    package static let sampleRows = 1000

    /// Tables and columns of the catalogs that are read, 50 MiB at the very most.
    package static let catalogRows = 200_000

    /// The first server that we know: 12 plans scans by the place of a row in joins.
    package static let serverVersion: Int32 = 120_000
}
