import CSQLiteGuard
import GRDB
import Lifecycle

/// Removing what was deleted from our own files.
///
/// `secure_delete` overwrites deleted content, but old pages stay in the database until a
/// checkpoint and in the WAL until it is truncated. So after an end the WAL is checkpointed with
/// TRUNCATE, and the receipt says when.
///
/// Where SQLite moves rows, copies stay in unused space of pages. The guard overwrites it in each
/// page that is copied into the database. The writer drops the pages that it keeps, or a later
/// change would bring a copy back to the WAL.
extension StateDatabase {
    /// From an end to its scrub; the promise is one second, with the scrub itself.
    package static let scrubDelay = Duration.milliseconds(750)
    /// A WAL from this size on is copied beside the writer first: some milliseconds of work.
    static let besideByteCountMin = 1 << 20

    /// Scrubs after ends until the task is cancelled or the database is closed.
    ///
    /// - Throws: ``StorageError`` when the file cannot be written any more.
    package func runScrubs(delay: Duration = scrubDelay) async throws {
        for await _ in scrubSignals {
            try await Task.sleep(for: delay)
            do {
                try await scrub()
            } catch let error as StorageError where error.kind == .busy || error.kind == .diskFull {
                scrubSignal.yield()
            }
        }
    }

    /// Empties the WAL, records that, and returns how many requests had ended by then.
    ///
    /// - Throws: ``StorageError`` of kind `busy` when a reader held its snapshot for too long.
    @discardableResult
    package func scrub() async throws -> Int {
        await copyBeside()
        let (place, copies) = (path, writer.copies)
        let ended = try await writer.performAlone { database in
            let ended = try database.int("SELECT completed + cancelled FROM totals")
            do {
                _ = try database.checkpoint(.truncate)
            } catch {
                throw StorageError(error, "scrub the state", at: place)
            }
            copies.noteEmptied()
            unsafe csqliteguard_forget_pages(database.sqliteConnection)
            return ended
        }
        let at = now()
        try await writer.perform { database in
            try database.run(
                """
                INSERT INTO scrubs SELECT ?1, ?2
                WHERE ?1 > coalesce((SELECT max(through) FROM scrubs), 0)
                """,
                [.int(ended), .time(at)]
            )
            // The guard looks back one hour.
            try database.run(
                "DELETE FROM purge_log WHERE second < ?",
                [.int(at.unixMilliseconds / 1000 - 7200)]
            )
            try ScratchPages(database: database).overwrite()
        }
        try await forgetReadPages()
        return ended
    }

    /// Copies most of a large WAL while the writer goes on: emptying it holds every commit up until
    /// the rest is copied and synced.
    func copyBeside() async {
        guard WALFile.byteCount(ofDatabase: path) >= Self.besideByteCountMin,
            writer.copies.beginBeside()
        else { return }
        defer { writer.copies.end() }
        do {
            // A connection keeps the last page that it copied, so this one does not stay.
            let copier = try DatabaseQueue(path: path, configuration: Self.configuration)
            _ = try await copier.writeWithoutTransaction { try $0.checkpoint(.passive) }
            try copier.close()
        } catch {
            // Nothing is lost, and what is wrong with the file the writer meets next.
        }
    }
}
