import Engine
import Lifecycle

/// Where an application puts rows, and sees what became of them: a file, or a queue in a database.
///
/// Nothing that it holds is believed. No access takes longer than some seconds, and each says how
/// it ended.
protocol SpoolAccess: AnyObject, Sendable {
    var isOpen: Bool { get }
    /// An application switched the file to WAL, and it was not switched back yet.
    var isInWAL: Bool { get }
    /// A rescan has begun and not reached its end.
    var isRescanning: Bool { get }

    func open() async -> SpoolAnswer<Void>
    /// A later ``open()`` reads from the first row on.
    func close()

    /// Reads the next rows that wait: credentials first, requests once no credential is left.
    func read(
        _ range: SpoolDatabase.Range,
        _ tables: SpoolDatabase.Tables,
        limit: Int
    ) async -> SpoolAnswer<SpoolDatabase.Reading>

    /// Offers rows again that were read and could not be taken.
    func rewind()
    /// The next read looks although nothing seems to have changed.
    func readAgain()
    /// Begins to read everything again; returns whether there is something to read with `all`.
    func beginRescan(isForced: Bool) -> Bool

    /// Shows that requests were accepted, so that their rows are not read again.
    func mark(_ rows: [AcceptedRow]) async -> SpoolAnswer<Void>
    /// Shows what became of credentials and removes their secrets, in one commit; returns how many
    /// rows had changed since they were read.
    func settle(_ settlements: [CredentialSettlement]) async -> SpoolAnswer<Int>
    /// Shows states, as many rows as can be written in `time`, and at least a few.
    func mirror(
        _ rows: ArraySlice<MirrorRow>,
        within time: Duration
    ) async -> SpoolAnswer<SpoolDatabase.MirrorCommit>

    /// Notices changes of applications from now on.
    ///
    /// - Throws: ``StorageError`` when the kernel has no descriptor or thread left.
    func watch(every sweepInterval: Duration) throws(StorageError) -> any SpoolWaker
}

/// A row that became a request.
struct AcceptedRow: Hashable, Sendable {
    let row: SpoolRow
    let request: RequestID
}

/// Wakes the reader when rows may have come.
protocol SpoolWaker: Sendable {
    /// Yields once or more after something happened; finishes after ``stop()``.
    var wakes: AsyncStream<Void> { get }

    /// Works until the task is cancelled, where it has no thread of its own.
    func watch() async
    func stop()
    /// Whether every sweep wakes the reader, because something failed.
    func setAlert(_ isAlert: Bool)
    /// Whether a sweep woke the reader since the last call.
    func takeSweep() -> Bool
}

extension SpoolWatcher: SpoolWaker {
    /// Its thread runs since it was made.
    func watch() async {}
}

extension SpoolDatabase: SpoolAccess {
    /// Its reads never come back to rows below the last one.
    func mark(_ rows: [AcceptedRow]) async -> SpoolAnswer<Void> { .done(()) }

    func watch(every sweepInterval: Duration) throws(StorageError) -> any SpoolWaker {
        try SpoolWatcher(path: givenPath, sweepInterval: sweepInterval)
    }
}
