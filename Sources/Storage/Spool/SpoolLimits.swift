/// Bounds of the work on the spool, each with its unit and its reason.
package enum SpoolLimits {
    /// Rows of one import: one commit of the state.
    package static let batchMax = 500
    /// The first batch of a backlog, then twice as many each time: the first calls begin at once.
    static let firstBatchMax = 64
    /// A read stops taking rows after this time: writers wait for readers.
    static let readBudget = Duration.milliseconds(8)
    /// Rows that one read looks at to find submitted ones; a few hundred pages.
    static let scanMax = 4096
    /// Bytes of one batch, so that hostile rows do not fill the memory.
    static let batchByteCountMax = 4 << 20
    /// Longest value or row that SQLite hands out; the schema allows 12 KiB.
    static let valueByteCountMax: Int32 = 1_000_000
    /// A longer read or write is interrupted: the file was made to be slow.
    static let deadline = Duration.milliseconds(200)
    /// How long a commit waits for readers; new readers wait meanwhile.
    static let commitWait = Duration.milliseconds(20)
    /// First pause after BUSY: an unlock follows the journal's unlink by less than this.
    static let busyPauseMin = Duration.milliseconds(1)
    /// A pause is this part of the time waited so far: an application's commit locks us out for
    /// three syncs, and a slow disk may not make us late by as much again.
    static let busyPauseShare = 8
    /// Longest pause after BUSY: an application keeps the lock for long.
    static let busyPauseMax = Duration.milliseconds(50)
    /// A lock held longer than this is reported; longer than any sane transaction.
    package static let lockedAfter = Duration.seconds(5)
    /// How long an unlock may follow an event of a file that was locked for long.
    static let lockedPatience = Duration.milliseconds(200)
    /// Changes without an event are found after this time at the latest.
    package static let sweepInterval = Duration.seconds(30)
    /// How long requests wait for a spool that cannot be read; no sane transaction takes as long.
    package static let unreadablePatience = Duration.seconds(60)
    /// Commits of the mirror in any second.
    static let mirrorCommitsMax = 4
    /// Shortest time between two commits of the mirror while states change: two a second.
    package static let mirrorInterval = Duration.milliseconds(500)
    /// The spool is quiet after so long: the states of a backlog change every few milliseconds.
    static let mirrorQuiet = Duration.milliseconds(12)
    /// From a change to the commit that shows it: a request that goes right through shows its end
    /// and not every step, and its calls do not wait behind the three syncs.
    static let mirrorSettling = Duration.milliseconds(15)
    /// A mirror commit, from its lock to its end; so long may an application have to wait.
    static let mirrorHold = Duration.milliseconds(25)
    /// Some hundred rows: a slow disk slows the mirror down and never stops it.
    static let mirrorBuildMin = Duration.milliseconds(8)
    /// Building a mirror commit stops here, however quick the last one was.
    static let mirrorBuildMax = Duration.milliseconds(18)
    /// Rows that are read for a mirror commit at least.
    static let mirrorRowsMin = 512
    /// Rows of a mirror commit at most.
    static let mirrorRowsMax = 2500
    /// Settled credentials that wait for the lock before importing waits, too.
    static let settlementsMax = 2000
    /// A full rescan may take this share of the time at most: 1 %.
    static let rescanShare = 100
    /// Largest WAL, in bytes that SQLite would read, that is copied back, under an exclusive lock;
    /// SQLite begins a checkpoint by itself at 4 MiB.
    static let walByteCountMax = 64 << 20
    /// Longest text that is not a secret, and longest secret, in bytes; as over HTTP.
    static let textByteCountMax = 2048
    static let secretLengthMax = 8192
    static let nameByteCountMax = 64
    static let keyLengthMax = 255
    static let optionsLengthMax = 4096
}
