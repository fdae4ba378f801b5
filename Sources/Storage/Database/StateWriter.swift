package import Lifecycle
import Synchronization

/// The only writer of the state: commits whatever mutations wait together (group commit).
///
/// ```
/// perform ──▶ waiting (bounded) ──▶ BEGIN IMMEDIATE, mutations, COMMIT ──▶ callers go on
/// ```
///
/// A mutation that throws is rolled back alone. It may run twice, so it changes nothing but the
/// database. A cancelled caller waits on: its mutation belongs to the batch. Nothing is resumed
/// before the commit is on disk. After a failed commit or an I/O error the content of the disk is
/// unknown: the writer refuses everything from then on, and the process must end. Where the
/// connection proves that nothing was committed, the callers learn that, and later ones are tried.
///
/// SQLite answers `SQLITE_FULL` before the sync and with an incomplete commit frame. After a
/// rollback the batch provably did not happen (sqlite.org/walformat.html, "WAL Frame Checksum").
package final class StateWriter: Sendable {
    /// Bounds of the writer.
    package enum Bounds {
        /// Mutations that may wait; more than all connections and lanes can have open.
        package static let waitingMax = 65_536
        /// Mutations in one commit: keeps the wait of the first one in the low milliseconds.
        package static let batchMax = 1024
    }

    struct Job: Sendable {
        /// Runs the mutation; the answer resumes its caller.
        let run: @Sendable (any WritingConnection) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
        /// Outside of any transaction, between two batches.
        let isAlone: Bool
        let leases: [PartitionClaim]
    }

    private struct Queue {
        var waiting: [Job] = []
        var isDraining = false
        var refusal: StorageError?
        var whenBroken: (@Sendable () -> Void)?
    }

    private let backend: any StateBackend
    private let appender: LedgerAppender
    private let place: String
    private let queue = Mutex(Queue())
    private let commits = Mutex(0)
    /// A point for tests to fail a commit at; does nothing otherwise.
    private let willCommit: @Sendable () throws -> Void

    /// Nothing else may write to `backend`.
    init(
        backend: any StateBackend,
        appender: LedgerAppender = LedgerAppender(first: 0),
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) {
        (self.backend, self.appender, self.willCommit) = (backend, appender, willCommit)
        place = backend.place
    }

    /// Runs a mutation inside the transaction of the next batch, and returns once that is on disk.
    ///
    /// Without `leases` those of ``WriteTerms`` must hold.
    /// - Throws: What `body` threw, but ``StorageError`` for an error of the database:
    ///   `overloaded`, `closed`, `diskFull`, `unreachable`, `lostPartition` (nothing happened),
    ///   `commitFailed` (the process must end).
    package func perform<T: Sendable>(
        under leases: [PartitionClaim]? = nil,
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        try await enqueue(isAlone: false, under: leases ?? WriteTerms.claims) { try body($0) }
    }

    func performAlone<T: Sendable>(
        _ body: @escaping @Sendable (any WritingConnection) throws -> T
    ) async throws -> T {
        try await enqueue(isAlone: true, body)
    }

    /// Called once the content of the disk is unknown: the process must end, and the call of an
    /// application that gets the error does not end it.
    func whenBroken(_ body: @escaping @Sendable () -> Void) {
        queue.withLock { $0.whenBroken = body }
    }

    private func breakOff(_ fatal: StorageError) {
        let whenBroken = queue.withLock { queue in
            queue.refusal = fatal
            return queue.whenBroken
        }
        whenBroken?()
    }

    /// Batches that are on disk.
    package var commitCount: Int { commits.withLock { $0 } }

    var isIdle: Bool { queue.withLock { !$0.isDraining } }

    /// Refuses everything from now on; what waits already is still done.
    func refuse(_ error: StorageError) {
        queue.withLock { $0.refusal = $0.refusal ?? error }
    }

    private func enqueue<T: Sendable>(
        isAlone: Bool,
        under leases: [PartitionClaim] = [],
        _ body: @escaping @Sendable (any WritingConnection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                run: { connection in
                    let value = try body(connection)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) },
                isAlone: isAlone,
                leases: leases
            )
            add(job)
        }
    }

    private func add(_ job: Job) {
        let (refusal, mustStart) = queue.withLock { queue -> (StorageError?, Bool) in
            if let refusal = queue.refusal { return (refusal, false) }
            guard queue.waiting.count < Bounds.waitingMax else {
                return (StorageError(.overloaded, "queue a mutation", at: place), false)
            }
            queue.waiting.append(job)
            defer { queue.isDraining = true }
            return (nil, !queue.isDraining)
        }
        if let refusal { return job.fail(refusal) }
        guard mustStart else { return }
        backend.enqueue { [self] connection in drain(connection) }
    }

    private func drain(_ connection: any WritingConnection) {
        while let jobs = takeWaiting() {
            var rest = jobs[...]
            while let first = rest.first {
                if first.isAlone {
                    runAlone(first, connection)
                    rest.removeFirst()
                } else {
                    let batch = rest.prefix(Bounds.batchMax).prefix { !$0.isAlone }
                    commit(batch, connection)
                    followCommit(connection)
                    rest = rest.dropFirst(batch.count)
                }
            }
        }
    }

    /// Everything that waits now; `nil` ends the draining.
    private func takeWaiting() -> [Job]? {
        queue.withLock { queue in
            guard !queue.waiting.isEmpty else {
                queue.isDraining = false
                return nil
            }
            let jobs = queue.waiting
            queue.waiting = []
            return jobs
        }
    }

    private func runAlone(_ job: Job, _ connection: any WritingConnection) {
        if let refusal = poison { return job.fail(refusal) }
        do {
            let resume = try job.run(connection)
            resume()
        } catch {
            job.fail(error)
        }
    }
}

// MARK: - The batch

extension StateWriter {
    private var poison: StorageError? {
        queue.withLock { $0.refusal.flatMap { $0.kind.isFatal ? $0 : nil } }
    }

    /// Tries without savepoints first: they cost a copy of every page that a mutation writes.
    private func commit(_ batch: ArraySlice<Job>, _ connection: any WritingConnection) {
        if let poison { return fail(batch, poison) }
        var rest = commit(batch, inSavepoints: false, connection)
        while !rest.isEmpty { rest = commit(rest, inSavepoints: true, connection) }
    }

    /// - Returns: What is left to do: the whole batch, rolled back, when one of several mutations
    ///   failed and only savepoints can separate it; or what follows one that a full disk ended.
    private func commit(
        _ batch: ArraySlice<Job>,
        inSavepoints: Bool,
        _ connection: any WritingConnection
    ) -> ArraySlice<Job> {
        var done: [(job: Job, resume: @Sendable () -> Void)] = []
        done.reserveCapacity(batch.count)
        var failed: [(job: Job, error: any Error)] = []
        defer { for (job, error) in failed { job.fail(error) } }
        do {
            guard let lost = try begin(batch, inSavepoints, connection) else { return batch }
            for (index, job) in zip(batch.indices, batch) {
                if let error = refusal(of: job, lost) {
                    failed.append((job, error))
                    continue
                }
                do {
                    let resume = try run(job, of: batch, inSavepoints, connection)
                    done.append((job, resume))
                } catch {
                    let known = StorageError(error, "change the state", at: place)
                    guard !known.kind.isFatal else { throw known }
                    // A connection may have ended long before it was used: it is made anew once.
                    guard inSavepoints || batch.count == 1 && known.kind != .unreachable else {
                        try rollBack(connection)
                        failed = []
                        return batch
                    }
                    if !inSavepoints { try rollBack(connection) }
                    failed.append((job, error is any DatabaseFailure ? known : error))
                    guard connection.isInsideTransaction else {
                        // The database has rolled the whole transaction back
                        // (sqlite.org/lang_transaction.html), or the connection is lost.
                        failed += done.map { ($0.job, known) }
                        return batch[(index + 1)...]
                    }
                }
            }
            guard try settle(connection, inSavepoints) else {
                failed = []
                return batch
            }
            try appender.flush(connection)
            try willCommit()
            try connection.commitBatch()
            commits.withLock { $0 += 1 }
            appender.committed()
            for (_, resume) in done { resume() }
        } catch {
            let cause = recover(from: error, connection)
            let rest = batch.dropFirst(failed.count + done.count)
            failed += done.map { ($0.job, cause) } + rest.map { ($0, cause) }
        }
        return []
    }

    /// Begins, and returns the leases that do not hold any more; the others hold until the end.
    ///
    /// - Returns: `nil` when the connection had ended before, and a new one must be made.
    private func begin(
        _ batch: ArraySlice<Job>,
        _ inSavepoints: Bool,
        _ connection: any WritingConnection
    ) throws -> Set<PartitionClaim>? {
        do {
            try connection.beginBatch()
            appender.begin(at: try connection.ledgerSizeNow())
            // Before the first savepoint nothing may fail: it could not be gone back to.
            if inSavepoints { try connection.settle() }
            let leases = Set(batch.flatMap(\.leases))
            return leases.isEmpty ? leases : leases.subtracting(try connection.check(leases))
        } catch {
            let known = StorageError(error, "begin a commit", at: place)
            guard known.kind == .unreachable, !inSavepoints else { throw known }
            try rollBack(connection)
            return nil
        }
    }

    private func refusal(of job: Job, _ lost: Set<PartitionClaim>) -> StorageError? {
        guard !lost.isEmpty, job.leases.contains(where: lost.contains) else { return nil }
        var error = StorageError(.lostPartition, "commit", at: place)
        error.lostClaims = job.leases.filter(lost.contains)
        return error
    }

    /// A statement that was sent may fail only here, and nothing says of which mutation it is.
    ///
    /// - Returns: Whether the batch may be committed; otherwise it was rolled back, and savepoints
    ///   must separate its mutations.
    private func settle(_ connection: any WritingConnection, _ inSavepoints: Bool) throws -> Bool {
        guard !inSavepoints else { return true }
        do {
            try connection.settle()
            return true
        } catch {
            let known = StorageError(error, "change the state", at: place)
            guard !known.kind.isFatal else { throw known }
            try rollBack(connection)
            return false
        }
    }

    private func rollBack(_ connection: any WritingConnection) throws {
        guard connection.isInsideTransaction else { return }
        try connection.rollBackBatch()
    }

    private func run(
        _ job: Job,
        of batch: ArraySlice<Job>,
        _ inSavepoints: Bool,
        _ connection: any WritingConnection
    ) throws -> @Sendable () -> Void {
        guard !inSavepoints else { return try runInSavepoint(job, connection) }
        let resume = try job.run(connection)
        if batch.count == 1 { try connection.settle() }
        return resume
    }

    private func runInSavepoint(
        _ job: Job,
        _ connection: any WritingConnection
    ) throws -> @Sendable () -> Void {
        let mark = appender.mark
        try connection.send("SAVEPOINT mutation")
        do {
            let resume = try job.run(connection)
            try connection.send("RELEASE mutation")
            try connection.settle()
            return resume
        } catch {
            appender.goBack(to: mark)
            if connection.isInsideTransaction {
                try connection.run("ROLLBACK TO mutation")
                try connection.run("RELEASE mutation")
            }
            throw error
        }
    }

    /// - Returns: The error for the callers; it ends the writer unless it proves that nothing was
    ///   committed.
    private func recover(
        from error: any Error,
        _ connection: any WritingConnection
    ) -> StorageError {
        let cause = StorageError(error, "commit the batch", at: place)
        do {
            try rollBack(connection)
            if cause.kind.provesNoCommit { return cause }
        } catch {
            // The first error says more; either way the connection is not used again.
        }
        let fatal = StorageError(
            cause.kind == .corrupt ? .corrupt : .commitFailed,
            "commit the batch",
            at: place,
            cause: cause.cause ?? cause.kind.rawValue
        )
        breakOff(fatal)
        return fatal
    }

    private func fail(_ batch: ArraySlice<Job>, _ error: StorageError) {
        for job in batch { job.fail(error) }
    }

    /// What follows a commit may fail and be done later.
    private func followCommit(_ connection: any WritingConnection) {
        do {
            try backend.followCommit(connection)
        } catch {
            let known = StorageError(error, "follow a commit", at: place)
            guard known.kind.isFatal, poison == nil else { return }
            breakOff(known)
        }
    }
}

/// What must hold for every write of a task that names no leases of its own.
///
/// Work that one host does for all runs under its claim, so that a host that stood still meanwhile
/// writes nothing: each write then throws ``StorageError`` of kind `lostPartition`.
package enum WriteTerms {
    @TaskLocal package static var claims: [PartitionClaim] = []
}
