internal import GRDB
internal import GRDBSQLite

extension SQLiteTarget {
    /// Frees the pages that a call has read; the allocator wipes what is freed.
    ///
    /// They hold ids of users, and would stay as long as the connection.
    func forgetPages() async {
        guard let queue else { return }
        do {
            try await queue.writeWithoutTransaction { db in
                _ = unsafe sqlite3_db_release_memory(db.sqliteConnection)
            }
        } catch {
            // The task was cancelled; then the connection ends soon, and its pages with it.
        }
    }
}
