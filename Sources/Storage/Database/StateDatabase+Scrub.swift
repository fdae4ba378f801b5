import Engine
import Lifecycle

/// Removing what was deleted from our own files.
///
/// `secure_delete` overwrites deleted content, but old pages stay in the database until a
/// checkpoint and in the WAL until it is truncated. So after an end the WAL is checkpointed with
/// TRUNCATE, and the receipt says when. PostgreSQL keeps dead rows until they are vacuumed.
extension StateDatabase {
    /// From an end to its scrub; the promise is one second, with the scrub itself.
    package static let scrubDelay = Duration.milliseconds(750)

    /// Scrubs after ends until the task is cancelled or the database is closed.
    ///
    /// - Throws: ``StorageError`` when the state cannot be written any more.
    package func runScrubs(delay: Duration = scrubDelay) async throws {
        for await _ in scrubSignal.signals {
            try await BootClock.sleep(for: delay)
            do {
                try await scrub()
            } catch let error as StorageError where error.kind.provesNoCommit {
                scrubSignal.send()
            }
        }
    }

    /// Scrubs, records that, and returns how many requests had ended by then.
    ///
    /// - Throws: ``StorageError`` of kind `busy` when a reader held its snapshot for too long.
    @discardableResult
    package func scrub() async throws -> Int {
        let (backend, place) = (backend, path)
        let ended: Int
        if let known = try await scrubBeside() {
            ended = known
        } else {
            ended = try await writer.performAlone { connection in
                let ended = try connection.int("SELECT completed + cancelled FROM totals")
                do {
                    try backend.scrub(connection)
                } catch {
                    throw StorageError(error, "scrub the state", at: place)
                }
                return ended
            }
        }
        let at = now()
        try await writer.perform { database in
            try database.run(
                """
                INSERT INTO scrubs (through, at) SELECT ?1, ?2
                WHERE ?1 > coalesce((SELECT max(through) FROM scrubs), 0)
                """,
                [.int(ended), .time(at)]
            )
            // The guard looks back one hour.
            try database.run(
                "DELETE FROM purge_log WHERE second < ?",
                [.int(at.unixMilliseconds / 1000 - 7200)]
            )
            try backend.finishScrub(database)
        }
        try await forgetReadPages()
        return ended
    }

    private func scrubBeside() async throws -> Int? {
        do {
            return try await backend.scrubBeside()
        } catch {
            throw StorageError(error, "scrub the state", at: path)
        }
    }
}
