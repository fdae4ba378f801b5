import Lifecycle

/// The connection that makes commits; ``StateWriter`` alone uses it.
protocol WritingConnection: StateConnection {
    /// `false` also when the database has rolled back by itself, or the connection was lost.
    var isInsideTransaction: Bool { get }

    func beginBatch() throws

    /// Returns once the commit is on disk.
    ///
    /// - Throws: An error of a kind that ``StorageError/Kind/provesNoCommit`` holds for when
    ///   nothing was committed; any other says nothing about the disk.
    func commitBatch() throws

    func rollBackBatch() throws

    /// The leases that hold until the end of the transaction; without partitions all do.
    func check(_ leases: Set<PartitionClaim>) throws -> Set<PartitionClaim>

    /// The number of leaves in the ledger, where others may have written since the last batch; the
    /// transaction keeps them off until its end.
    func ledgerSizeNow() throws -> Int?

    /// Waits for the statements that were sent (``StateConnection/send(_:_:)``).
    func settle() throws
}

/// The database that holds the state: one connection that writes, and others that only read.
protocol StateBackend: AnyObject, Sendable {
    /// A file or a server, for errors; never personal.
    var place: String { get }

    /// This host among those that write; `nil` where no other does.
    var host: String? { get }

    /// Runs `body` on the thread of the writing connection, after what was enqueued before.
    func enqueue(_ body: @escaping @Sendable (any WritingConnection) -> Void)

    /// Waits for `body` on that thread; only while the state is opened.
    func writeNow<T: Sendable>(
        _ body: @Sendable (any WritingConnection) throws -> T
    ) throws -> T

    /// Reads in one snapshot.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T

    /// Follows each commit, on the thread of the writing connection.
    func followCommit(_ connection: any WritingConnection) throws

    // MARK: Scrubs

    /// Does beside the writer what a scrub need not do on its thread.
    ///
    /// - Returns: How many requests had ended before, when nothing is left to do on it.
    func scrubBeside() async throws -> Int?

    /// Removes what was deleted from our own files, outside of any transaction.
    func scrub(_ connection: any WritingConnection) throws

    /// The last part of a scrub, in the commit that records it.
    func finishScrub(_ connection: any StateConnection) throws

    /// Frees what readers keep in memory.
    func forgetReadPages() async throws

    /// Later uses throw ``StorageError`` of kind `closed`.
    func close() throws
}

extension StateBackend {
    /// Whether other hosts write, too: then partitions begin one by one.
    var isShared: Bool { host != nil }
}
