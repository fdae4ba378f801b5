import Lifecycle

/// Bounds of every database with tables, each with its reason.
enum SQLLimits {
    /// Rows of a first chunk; a few milliseconds with three indexes and no slow trigger.
    static let chunkRows = 500

    /// Rows of a later chunk: rows with large blobs, and rows of two integers.
    static let chunkRowsRange = 10...4000

    /// What a chunk is to take, well below ``SQLiteLimits/chunkTransactionSoft``.
    static let chunkGoal = Duration.milliseconds(4)

    /// The same at a server, where a writer waits for rows of the very user only, and where each
    /// transaction has the log flushed.
    static let serverChunkGoal = Duration.milliseconds(15)

    /// A chunk at a server that takes longer has fewer rows next time than ``chunkRows``.
    static let serverChunkMax = Duration.milliseconds(100)

    /// When a transaction with the rows of several users takes no further user, so that a writer
    /// that waits for one of the rows hardly notices.
    static let groupGoal = Duration.milliseconds(40)

    /// Chunks of one table and user after which a trigger must have undone our changes.
    static let chunks = 1_000_000

    /// Shortest gap between the transactions of one user: other writers, the disk and replicas
    /// catch up.
    static let restBetweenChunks = Duration.milliseconds(15)

    /// The same at a server, which serves other writers meanwhile.
    static let serverRest = Duration.milliseconds(3)

    /// How long a plan is used before the schema is read again: a change between is not noticed.
    static let planLifetime = Duration.seconds(1)

    /// The same for a schema that takes long to read, which is to cost a twentieth of the time.
    static func planLifetime(afterReadingFor time: Duration) -> Duration {
        min(max(planLifetime, time * 20), .seconds(60))
    }

    /// Rows read to see whether a creation column holds plausible times.
    static let sampleRows = 1000

    /// Rows read to see whether any has what a rule asks for.
    static let presenceRows = 10_000

    /// A creation time later than now by more is not plausible: the cutoff keeps such rows forever.
    static let clockSkew = Duration.seconds(86_400)

    /// A creation time from 2200 on is one of another unit, whatever the clock shows.
    ///
    /// Rows of a clock that was ahead must not pause the store: they are the ones to be erased.
    static let unitHorizon = WallTime(unixMilliseconds: 7_258_118_400_000)

    /// No creation time is older than 1990.
    static let unitStart = WallTime(unixMilliseconds: 631_152_000_000)

    /// Rows with ids of another type, and none of the right one, that make the rule wrong.
    ///
    /// Fewer are odd rows, which must not stop all users.
    static let strangeRows = 10

    /// Times a plan is made again in one call because the application changed its schema.
    static let schemaRetries = 3

    /// Remaining rows counted per table; "at least so many" is enough to purge again.
    static let remainingRows = 10_000

    /// Longest value that a list of users reads, several times as long as any id.
    static let idBytes = 4096

    /// Longest value that is read: ids, times and texts with ids inside are shorter.
    ///
    /// What an action only deletes is not read.
    static let valueBytes = 16 << 20

    /// What the rows of one answer may need in memory; the catalogs of 100,000 columns need less.
    static let answerBytes = 64 << 20

    /// What a client library may hold for one connection: a value in buffers that double, on its
    /// way from the server and back.
    static let libraryBytes = 6 * valueBytes

    /// The bounds in words.
    static let sizeText =
        "longer than the service reads (\(valueBytes >> 20) MiB, all rows \(answerBytes >> 20) MiB)"

    /// Counts a row of an answer, with what arrays and texts need besides their bytes.
    static func add(
        rowOf columns: Int,
        bytes: Int,
        to sum: inout Int,
        of store: StoreName
    ) throws(SQLError) {
        sum += 64 + 32 * columns + bytes
        guard sum <= answerBytes else { throw SQLError(.oversized, store: store) }
    }

    /// Rows that name one shared id and are compared with the user's own: by an index some 30 ms,
    /// in which a SQLite database with a rollback journal cannot be written.
    static let ownerRows = 100_000

    /// User ids of a page; some milliseconds.
    static let pageRows = 2000
}
