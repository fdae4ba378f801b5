import CSQLiteGuard
import GRDB
import GRDBSQLite
import Glibc
import Synchronization

/// The state in a file: `state.db`.
///
/// One process (a lock file), one connection that writes, one that copies the WAL (``WALCopies``),
/// read-only readers. With `synchronous=FULL` a commit is on disk when its caller goes on
/// (sqlite.org/pragma.html, "synchronous").
final class SQLiteState: StateBackend {
    /// Size of the WAL at which its pages are copied into the database: replayed in < 0.4 s, and
    /// more than a busy service writes between two scrubs.
    static let walByteCountMax = 64 << 20
    /// A WAL from this size on is copied beside the writer first: some milliseconds of work.
    static let besideByteCountMin = 1 << 20
    /// Connections that read at once; each costs up to 2 MiB of page cache.
    static let readerCountMax = 3

    let path: String
    let place: String
    /// Whether the last process ended without closing the state; the file was checked then.
    let wasUncleanStop: Bool
    let host: String? = nil
    let copies = WALCopies()

    private let queue: DatabaseQueue
    private let readers: StateReaders
    private let lock: DirectoryLock

    /// Opens or makes the file and takes the directory's lock.
    ///
    /// After an unclean stop the file is checked (`PRAGMA quick_check`). A damaged file, or one of
    /// another schema, is left as it is: an empty state in its place would forget requests.
    init(path given: String) throws {
        path = try Self.realPath(given)
        place = WALFile.name(ofPath: path)
        lock = try DirectoryLock(path: path + ".lock")
        // The state is the first database of a daemon: a VFS that came later would not have it.
        try GuardedVFS.install()
        try Self.makePrivateFile(path)
        wasUncleanStop = try Self.checkBeforeUse(path)
        queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        try queue.writeWithoutTransaction { try Self.setUpWriter($0) }
        try queue.write { try StateSchema.create($0) }
        readers = try StateReaders(
            path: path,
            configuration: Self.configuration,
            count: Self.readerCountMax
        )
    }

    func enqueue(_ body: @escaping @Sendable (any WritingConnection) -> Void) {
        queue.asyncWriteWithoutTransaction { body($0) }
    }

    func writeNow<T: Sendable>(
        _ body: @Sendable (any WritingConnection) throws -> T
    ) throws -> T {
        try queue.writeWithoutTransaction { try body($0) }
    }

    /// Runs `body` on the writing connection; only while no service uses the state.
    func withWriter<T>(_ body: (Database) throws -> T) throws -> T {
        try queue.writeWithoutTransaction(body)
    }

    func read<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        try await readers.read { try body($0) }
    }

    /// Copies pages without waiting (sqlite.org/c3ref/wal_checkpoint_v2.html); after a failure the
    /// WAL stays and is copied later.
    func followCommit(_ connection: any WritingConnection) throws {
        guard WALFile.byteCount(ofDatabase: path) > Self.walByteCountMax, copies.beginByWriter()
        else { return }
        try own(connection).checkpoint(.passive)
    }

    func close() throws {
        // The last connection to close checkpoints and removes the WAL and its index
        // (sqlite.org/wal.html, §2), unless it may only read: so the readers go first.
        try readers.close()
        try queue.close()
        lock.release()
    }

    private func own(_ connection: any WritingConnection) -> Database {
        guard let database = connection as? Database else {
            preconditionFailure("the writer hands back the connection that it got")
        }
        return database
    }
}

// MARK: - Scrubs

/// Where SQLite moves rows, copies stay in unused space of pages. The guard overwrites it in each
/// page that is copied into the database. The writer drops the pages that it keeps, or a later
/// change would bring a copy back to the WAL.
extension SQLiteState {
    /// Copies most of a large WAL while the writer goes on: emptying it holds every commit up until
    /// the rest is copied and synced.
    func scrubBeside() async -> Int? {
        guard WALFile.byteCount(ofDatabase: path) >= Self.besideByteCountMin, copies.beginBeside()
        else { return nil }
        defer { copies.end() }
        do {
            // A connection keeps the last page that it copied, so this one does not stay.
            let copier = try DatabaseQueue(path: path, configuration: Self.configuration)
            _ = try await copier.writeWithoutTransaction { try $0.checkpoint(.passive) }
            try copier.close()
        } catch {
            // Nothing is lost, and what is wrong with the file the writer meets next.
        }
        return nil
    }

    /// Empties the WAL.
    func scrub(_ connection: any WritingConnection) throws {
        let database = own(connection)
        _ = try database.checkpoint(.truncate)
        copies.noteEmptied()
        unsafe csqliteguard_forget_pages(database.sqliteConnection)
    }

    func finishScrub(_ connection: any StateConnection) throws {
        try ScratchPages(database: connection).overwrite()
    }

    func forgetReadPages() async throws { try await readers.forgetPages() }
}

// MARK: - Opening

extension SQLiteState {
    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "state"
        configuration.busyMode = .timeout(0.25)
        configuration.journalMode = .wal
        // A transaction that cannot be rolled back poisons the writer instead of trapping.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            try database.execute(sql: "PRAGMA trusted_schema = OFF")
            guard !database.configuration.readonly else { return }
            // Deleted content is overwritten; with TRUNCATE nothing is left.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.wipeUnused()
            // Checkpoints are made by hand; with this limit the WAL's size says how much is in it.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try database.execute(sql: "PRAGMA journal_size_limit = 0")
            // 16 MiB: the hot ends of the indexes.
            try database.execute(sql: "PRAGMA cache_size = -16384")
        }
        return configuration
    }

    /// GRDB sets `synchronous = NORMAL` when it switches to WAL, after `prepareDatabase`.
    private static func setUpWriter(_ database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        // The pragma that switches answers "wal" before it commits, and a commit that fails then
        // is heard by nobody.
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal" else {
            throw StorageError(.unopenable, "set up the state", at: "journal_mode")
        }
        let expected = [("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1)]
        for (name, value) in expected {
            guard try Int.fetchOne(database, sql: "PRAGMA \(name)") == value else {
                throw StorageError(.unopenable, "set up the state", at: name)
            }
        }
    }

    /// Checks the file without changing it; returns whether the last stop was unclean.
    ///
    /// The exception is a first start that was cut off before the switch to WAL: only a connection
    /// that may write can undo its journal (sqlite.org/lockingv3.html, "Dealing with hot
    /// journals").
    private static func checkBeforeUse(_ path: String) throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = unsafe access(path + "-journal", F_OK) != 0
        configuration.busyMode = .timeout(0.25)
        // As below: GRDB would trap.
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let wasUncleanStop = try queue.read { try check($0, path: path) }
        try queue.close()
        return wasUncleanStop
    }

    static func check(_ database: Database, path: String) throws -> Bool {
        guard try StateSchema.check(database, path: path) else { return false }
        let isClean = try database.fact(StateDatabase.cleanStop) == "1"
        guard try isClean || String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
            let cause = "restore a backup or move the file away; it was not changed"
            throw StorageError(.corrupt, "check the state", at: path, cause: cause)
        }
        return !isClean
    }

    /// Symbolic links are resolved here and nowhere later.
    static func realPath(_ path: String) throws(StorageError) -> String {
        guard let real = WALFile.realPath(path) else {
            throw StorageError(.unopenable, "find the directory", at: path, errno: errno)
        }
        return real
    }

    /// SQLite gives the WAL the same mode.
    ///
    /// Closing the descriptor before SQLite opens the file
    /// drops no lock (sqlite.org/howtocorrupt.html, §2.2).
    static func makePrivateFile(_ path: String) throws(StorageError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(.unopenable, "open the state", at: path, errno: errno)
        }
        defer { Glibc.close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StorageError(.unopenable, "protect the state", at: path, errno: errno)
        }
    }
}

/// Writes zeros over the two pages of scratch memory that a connection of SQLite keeps.
///
/// They hold the cell written last and the page put in order last (btree.c, `fillInCell` and
/// `defragmentPage`): rows with user ids. Only the same work with other content overwrites them.
struct ScratchPages {
    /// One row that fills a page of 4096 bytes as far as a row can; then seven that fill one to the
    /// last byte, holes between them, and one that fits no hole.
    private static let steps = [
        "INSERT INTO scratch (id, zeros) VALUES (1, zeroblob(4057))",
        "DELETE FROM scratch",
        """
        WITH RECURSIVE n (id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < 7)
        INSERT INTO scratch (id, zeros) SELECT id, zeroblob(575) FROM n
        """,
        "DELETE FROM scratch WHERE id % 2 = 0",
        "INSERT INTO scratch (id, zeros) VALUES (8, zeroblob(1000))",
        "DELETE FROM scratch",
    ]

    let database: any StateConnection

    /// Costs one page in the WAL.
    func overwrite() throws {
        for step in Self.steps { try database.run(step) }
    }
}

/// Who may copy frames of the WAL into the database, beside or on the writer.
///
/// Before 3.51.3 SQLite can lose frames when a checkpoint begins while a writer begins the WAL anew
/// (sqlite.org/wal.html, "The WAL-Reset Bug"), which it does once all frames are copied. So the
/// copy beside it begins only while none has been since the WAL was emptied, and the writer makes
/// none until it has ended.
final class WALCopies: Sendable {
    private enum State {
        /// Nothing was copied since the WAL was emptied.
        case none
        case underWay
        /// All frames may have been copied.
        case made
    }

    private let state = Mutex(State.none)

    /// - Returns: Whether the frames may be copied beside the writer, until ``end()``.
    func beginBeside() -> Bool {
        state.withLock { state in
            guard state == .none else { return false }
            state = .underWay
            return true
        }
    }

    func end() { state.withLock { $0 = .made } }

    /// - Returns: Whether the writer may copy.
    func beginByWriter() -> Bool {
        state.withLock { state in
            guard state != .underWay else { return false }
            state = .made
            return true
        }
    }

    func noteEmptied() { state.withLock { $0 = .none } }
}

extension StateDatabase {
    /// Such as `3.51.3`.
    package static var sqliteVersion: String {
        let number = sqlite3_libversion_number()
        return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }
}
