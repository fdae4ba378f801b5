import GRDB
import Synchronization

/// The only writer of `state.db`: commits whatever mutations wait together (group commit).
///
/// ```
/// perform ──▶ waiting (bounded) ──▶ BEGIN IMMEDIATE, mutations, COMMIT ──▶ callers go on
/// ```
///
/// A mutation that throws is rolled back alone. It may run twice, so it changes nothing but the
/// database. A cancelled caller waits on: its mutation belongs to the batch. Nothing is resumed
/// before the commit is on disk. After a failed commit or an I/O error the content of the disk is
/// unknown: the writer refuses everything from then on, and the process must end.
///
/// SQLite answers `SQLITE_FULL` before the sync and with an incomplete commit frame. After a
/// rollback the batch provably did not happen (sqlite.org/walformat.html, "WAL Frame Checksum"):
/// its callers get `diskFull`, and later ones are tried.
package final class StateWriter: Sendable {
    /// Bounds of the writer.
    package enum Bounds {
        /// Mutations that may wait; more than all connections and lanes can have open.
        package static let waitingMax = 65_536
        /// Mutations in one commit: keeps the wait of the first one in the low milliseconds.
        package static let batchMax = 1024
        /// Size of the WAL at which its pages are copied into the database: replayed in < 0.4 s,
        /// and more than a busy service writes between two scrubs.
        package static let walByteCountMax = 64 << 20
    }

    struct Job: Sendable {
        /// Runs the mutation; the answer resumes its caller.
        let run: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
        /// Outside of any transaction, between two batches.
        let isAlone: Bool
    }

    private struct Queue {
        var waiting: [Job] = []
        var isDraining = false
        var refusal: StorageError?
        var whenBroken: (@Sendable () -> Void)?
    }

    private let connection: DatabaseQueue
    private let appender: LedgerAppender
    private let place: String
    private let queue = Mutex(Queue())
    let copies = WALCopies()
    /// A point for tests to fail a commit at; does nothing otherwise.
    private let willCommit: @Sendable () throws -> Void

    /// Nothing else may use `connection`.
    init(
        queue connection: DatabaseQueue,
        appender: LedgerAppender = LedgerAppender(first: 0),
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) {
        self.connection = connection
        self.appender = appender
        self.willCommit = willCommit
        place = WALFile.name(ofPath: connection.path)
    }

    /// Runs a mutation inside the transaction of the next batch, and returns once that is on disk.
    ///
    /// - Throws: What `body` threw, or ``StorageError``: `overloaded`, `closed`, `diskFull`
    ///   (nothing happened), `commitFailed` (the process must end).
    package func perform<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        try await enqueue(isAlone: false) { try body($0) }
    }

    func performAlone<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
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

    var isIdle: Bool { queue.withLock { !$0.isDraining } }

    /// Refuses everything from now on; what waits already is still done.
    func refuse(_ error: StorageError) {
        queue.withLock { $0.refusal = $0.refusal ?? error }
    }

    private func enqueue<T: Sendable>(
        isAlone: Bool,
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                run: { database in
                    let value = try body(database)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) },
                isAlone: isAlone
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
        connection.asyncWriteWithoutTransaction { [self] database in drain(database) }
    }

    private func drain(_ database: Database) {
        while let jobs = takeWaiting() {
            var rest = jobs[...]
            while let first = rest.first {
                if first.isAlone {
                    runAlone(first, database)
                    rest.removeFirst()
                } else {
                    let batch = rest.prefix(Bounds.batchMax).prefix { !$0.isAlone }
                    commit(batch, database)
                    checkpointIfLarge(database)
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

    private func runAlone(_ job: Job, _ database: Database) {
        if let refusal = poison { return job.fail(refusal) }
        do {
            let resume = try job.run(database)
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
    private func commit(_ batch: ArraySlice<Job>, _ database: Database) {
        if let poison { return fail(batch, poison) }
        var rest = commit(batch, inSavepoints: false, database)
        while !rest.isEmpty { rest = commit(rest, inSavepoints: true, database) }
    }

    /// - Returns: What is left to do: the whole batch, rolled back, when one of several mutations
    ///   failed and only savepoints can separate it; or what follows one that a full disk ended.
    private func commit(
        _ batch: ArraySlice<Job>,
        inSavepoints: Bool,
        _ database: Database
    ) -> ArraySlice<Job> {
        var done: [(job: Job, resume: @Sendable () -> Void)] = []
        done.reserveCapacity(batch.count)
        var failed: [(job: Job, error: any Error)] = []
        defer { for (job, error) in failed { job.fail(error) } }
        appender.begin()
        do {
            try database.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
            for (index, job) in zip(batch.indices, batch) {
                do {
                    let resume =
                        inSavepoints ? try runInSavepoint(job, database) : try job.run(database)
                    done.append((job, resume))
                } catch {
                    let known = StorageError(error, "change the state", at: place)
                    guard !known.kind.isFatal else { throw known }
                    guard inSavepoints || batch.count == 1 else {
                        try rollBack(database)
                        return batch
                    }
                    if !inSavepoints { try rollBack(database) }
                    failed.append((job, known.kind == .diskFull ? known : error))
                    guard database.isInsideTransaction else {
                        // SQLite has rolled the whole transaction back
                        // (sqlite.org/lang_transaction.html).
                        failed += done.map { ($0.job, known) }
                        return batch[(index + 1)...]
                    }
                }
            }
            try appender.flush(database)
            try willCommit()
            try database.cachedStatement(sql: "COMMIT TRANSACTION").execute()
            appender.committed()
            for (_, resume) in done { resume() }
        } catch {
            let cause = recover(from: error, database)
            let rest = batch.dropFirst(failed.count + done.count)
            failed += done.map { ($0.job, cause) } + rest.map { ($0, cause) }
        }
        return []
    }

    private func rollBack(_ database: Database) throws {
        guard database.isInsideTransaction else { return }
        try database.cachedStatement(sql: "ROLLBACK TRANSACTION").execute()
    }

    private func runInSavepoint(
        _ job: Job,
        _ database: Database
    ) throws -> @Sendable () -> Void {
        let mark = appender.mark
        try database.run("SAVEPOINT mutation")
        do {
            let resume = try job.run(database)
            try database.run("RELEASE mutation")
            return resume
        } catch {
            appender.goBack(to: mark)
            if database.isInsideTransaction {
                try database.run("ROLLBACK TO mutation")
                try database.run("RELEASE mutation")
            }
            throw error
        }
    }

    /// - Returns: The error for the callers; any but `diskFull` and `busy` ends the writer.
    private func recover(from error: any Error, _ database: Database) -> StorageError {
        let cause = StorageError(error, "commit the batch", at: place)
        do {
            try rollBack(database)
            if cause.kind == .diskFull || cause.kind == .busy { return cause }
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

    /// Copies pages without waiting (sqlite.org/c3ref/wal_checkpoint_v2.html); after a failure the
    /// WAL stays and is copied later.
    private func checkpointIfLarge(_ database: Database) {
        guard WALFile.byteCount(ofDatabase: connection.path) > Bounds.walByteCountMax,
            copies.beginByWriter()
        else { return }
        do {
            try database.checkpoint(.passive)
        } catch {
            let known = StorageError(error, "checkpoint", at: place)
            guard known.kind.isFatal, poison == nil else { return }
            breakOff(known)
        }
    }
}
