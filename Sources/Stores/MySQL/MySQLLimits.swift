/// Bounds of a MySQL store, each with its reason.
enum MySQLLimits {
    /// Longest way to a usable session, TLS and log-in included; name resolution comes on top.
    static let connect = Duration.seconds(10)

    /// How long a server may take to end a statement that we asked it to end.
    static let grace = Duration.seconds(5)

    /// Bytes of the values to be masked that are read at once, but for one row's.
    static let maskBytes = 4 << 20

    /// Rows of one chunk: each key column is a parameter, of which a statement has 65,535 at most
    /// (MySQL protocol, COM_STMT_PREPARE), and the optimizer reads each.
    static let chunkRows = 1000

    /// Rows named by their keys of which a server looks up how many there are, for its choice of an
    /// index: more than the values of a condition, and fewer than a chunk has.
    static let divedRanges = 32

    /// Rows counted per table and user; "at least so many" is enough for a receipt.
    static let countRows = 1_000_000

    /// Tables and columns of the catalogs that are read, 50 MiB at the very most.
    static let catalogRows = 200_000

    /// Statements that a session keeps prepared; a server allows 16,382 of all its clients.
    static let statements = 256

    /// The stack of a call that waits: name resolution and TLS need some 100 KiB.
    static let stackBytes = 512 << 10

    /// Bytes of a value that are read without a second look: numbers, times, ids.
    static let shortValue = 64

    /// The first servers that pass over locked rows and that we know.
    static let mysqlVersion = 80_001
    static let mariaDBVersion = 101_100
}
