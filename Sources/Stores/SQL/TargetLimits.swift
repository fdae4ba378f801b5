import Lifecycle

/// Bounds of a SQLite target, each with its reason.
package enum TargetLimits {
    /// Longest write transaction without its commit.
    ///
    /// The application's writers wait no longer than this for one of ours.
    package static let transaction = Duration.milliseconds(25)

    /// Stop taking more work here, so that the last piece and the commit fit in ``transaction``.
    package static let transactionSoft = Duration.milliseconds(20)

    /// Gap after ``transaction`` of holding the lock without one.
    ///
    /// SQLite's busy handler sleeps up to
    /// 100 ms between tries and is not queued, so back-to-back transactions would starve it.
    package static let rest = Duration.milliseconds(5)

    /// Stop taking more chunks of one user here, and before another one and the commit would pass
    /// ``transactionSoft``.
    ///
    /// A writer that tries after 0, 1, 3, 8, 18 and 33 ms, as SQLite's own busy handler does, then
    /// meets a gap within 33 ms.
    package static let chunkTransactionSoft = Duration.milliseconds(10)

    /// Shortest gap between the transactions of one user who has more rows than fit one.
    ///
    /// Nobody waits for them. A transaction that took longer has a gap as long as itself.
    package static let restBetweenChunks = Duration.milliseconds(15)

    /// Rows of a first chunk; 500 rows with three indexes take a few milliseconds.
    package static let chunkRows = 500

    /// Bounds of the rows of a later chunk, which follow the time that the last one took: rows with
    /// large blobs that are overwritten one by one, and rows of two integers.
    package static let chunkRowsRange = 10...4000

    /// What a chunk is to take, well below ``chunkTransactionSoft``.
    package static let chunkGoal = Duration.milliseconds(4)

    /// Chunks of one table and user before we call it endless (a trigger that undoes our change).
    package static let chunks = 1_000_000

    /// How long we wait for another writer before the answer is "throttled".
    package static let busyTimeout = Duration.seconds(2)

    /// Pause between two tries for the lock; SQLite's own handler sleeps up to 100 ms and loses
    /// against an application that writes all the time.
    package static let busyPause = Duration.milliseconds(1)

    /// Longest run of our statements in one transaction, whatever the application's triggers do;
    /// enough to read a table of ten million rows that has no index.
    package static let statementDeadline = Duration.seconds(5)

    /// Longest check of the stored types of all tables; beyond it the check is skipped and said so.
    ///
    /// In a rollback-journal database the application cannot commit meanwhile.
    package static let diagnosisDeadline = Duration.seconds(1)

    /// Rows read to see whether a creation column holds plausible times.
    package static let sampleRows = 1000

    /// A creation time later than now by more than this is not plausible: the diagnosis says so,
    /// since the cutoff keeps such rows for ever.
    package static let clockSkew = Duration.seconds(86_400)

    /// A creation time from 2200 on is one of another unit, whatever the clock shows.
    ///
    /// Rows of a clock that was ahead must not pause the target: they are the ones to be erased.
    static let unitHorizon = WallTime(unixMilliseconds: 7_258_118_400_000)

    /// Rows with ids of another type, and none of the right one, that make the rule wrong.
    ///
    /// Fewer are odd rows, which must not stop everybody.
    package static let strangeRows = 10

    /// Times the plan is rebuilt in one call because the application changed its schema meanwhile.
    package static let schemaRetries = 3

    /// Remaining rows counted per table; "at least so many" is enough to go back to purging.
    package static let remainingRows = 10_000

    /// Rows that name one shared id and are told apart from the user's own: by an index some 30 ms,
    /// in which a database with a rollback journal cannot be written.
    package static let ownerRows = 100_000

    /// Free pages given back to the file system in one transaction; a few milliseconds.
    package static let vacuumPages = 100

    /// Such transactions after one purge, 40 MiB with pages of 4 KiB; the rest waits for the next.
    package static let vacuumPieces = 100

    /// Page cache of one target, in KiB.
    package static let cacheKibibytes = 16_384
}
