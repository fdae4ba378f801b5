import CSQLiteGuard
import Foundation
import GRDB
import GRDBSQLite
import Testing

@Suite("The guarded VFS") struct GuardTests {
    /// A folder with `queue.db`, a victim, and a hot journal of `queue.db` that names the victim as
    /// its super-journal (sqlite.org/fileformat2.html, 3; pager.c, readSuperJournal).
    final class Attack {
        let folder: String
        var queue: String { folder + "/queue.db" }
        var victim: String { folder + "/state.db" }
        var isVictimAlive: Bool { FileManager.default.fileExists(atPath: victim) }

        init(superJournal: String? = nil) throws {
            #expect(csqliteguard_install() == SQLITE_OK)
            folder = FileManager.default.temporaryDirectory.path + "/guard-" + UUID().uuidString
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            let database = try DatabaseQueue(path: queue)
            try database.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES(1)") }
            try database.close()
            try Data("victim".utf8).write(to: URL(fileURLWithPath: victim))
            try plantJournal(naming: superJournal ?? victim)
        }

        deinit {
            do {
                try FileManager.default.removeItem(atPath: folder)
            } catch {
                print("cannot remove \(folder), ignoring")
            }
        }

        private func plantJournal(naming name: String) throws {
            let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
            func number(_ value: UInt32) -> [UInt8] {
                (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
            }
            // Header: magic, no records, nonce, 2 pages, sector 512, page 4096.
            var bytes = magic + [0, 2, 512, 4096].reduce(into: number(0)) { $0 += number($1) }
            bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
            let text = Array(name.utf8)
            let sum = text.reduce(UInt32(0)) { $0 &+ UInt32($1) }
            bytes += number(1_073_741_824 / 4096 + 1) + text + number(UInt32(text.count))
            bytes += number(sum) + magic
            try Data(bytes).write(to: URL(fileURLWithPath: queue + "-journal"))
        }

        /// Opens and reads with one VFS; the extended result code.
        func read(vfs: String?) -> Int32 {
            var db: OpaquePointer?
            defer { unsafe sqlite3_close(db) }
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            let code = unsafe sqlite3_open_v2(queue, &db, flags, vfs)
            guard code == SQLITE_OK else { return code }
            return unsafe sqlite3_exec(db, "SELECT * FROM t", nil, nil, nil)
        }
    }

    @Test("without it, a planted journal makes SQLite delete the file it names")
    func negativeControl() throws {
        let attack = try Attack()
        _ = attack.read(vfs: "unix")
        #expect(!attack.isVictimAlive)
    }

    @Test("with it, the read fails, the victim lives and the refusal is counted")
    func plantedJournal() throws {
        let attack = try Attack()
        #expect(attack.read(vfs: nil) == SQLITE_PERM)
        #expect(attack.isVictimAlive)
        #expect(unsafe csqliteguard_refusals(attack.queue) == 1)
        #expect(unsafe csqliteguard_last_refusal(attack.queue) == CSQLITEGUARD_SUPER_JOURNAL)
        #expect(attack.read(vfs: nil) == SQLITE_PERM, "the journal stays until somebody decides")
    }

    @Test("a victim that this process has open itself is as safe")
    func openVictim() throws {
        let attack = try Attack()
        try FileManager.default.removeItem(atPath: attack.victim)
        let state = try DatabaseQueue(path: attack.victim)
        try state.write { try $0.execute(sql: "CREATE TABLE s(a)") }
        #expect(attack.read(vfs: nil) == SQLITE_PERM)
        #expect(attack.isVictimAlive)
        #expect(try state.read { try $0.tableExists("s") })
        #expect(unsafe csqliteguard_refusals(attack.queue) == 1)
        #expect(unsafe csqliteguard_refusals(attack.victim) == 0)
    }

    @Test("GRDB meets the refusal as an error")
    func refusalInGRDB() throws {
        let attack = try Attack()
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: attack.queue).read { try $0.tableExists("t") }
        }
        #expect(attack.isVictimAlive)
    }

    @Test("links are refused: the database, a folder above it, journal, wal and shm")
    func links() throws {
        let database = try AppDatabase("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let files = FileManager.default
        let link = database.folder + "/link.db"
        try files.createSymbolicLink(atPath: link, withDestinationPath: database.path)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: link) }
        #expect(unsafe csqliteguard_last_refusal(link) == CSQLITEGUARD_SYMLINK)

        let folder = database.folder + "/linked"
        try files.createSymbolicLink(atPath: folder, withDestinationPath: database.folder)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: folder + "/app.db") }

        let victim = database.folder + "/victim"
        for suffix in ["-journal", "-wal"] {
            try Data("victim".utf8).write(to: URL(fileURLWithPath: victim))
            try files.createSymbolicLink(
                atPath: database.path + suffix,
                withDestinationPath: victim
            )
            do {
                let queue = try DatabaseQueue(path: database.path)
                try queue.write { try $0.execute(sql: "UPDATE t SET a = 2") }
            } catch is DatabaseError {}
            #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("victim".utf8))
            if files.fileExists(atPath: database.path + suffix) {
                try files.removeItem(atPath: database.path + suffix)
            }
        }
    }

    @Test("a shared-memory file that is a link is refused")
    func linkedSharedMemory() throws {
        let database = try AppDatabase("CREATE TABLE t(a)", wal: true)
        try database.queue.close()
        let victim = database.folder + "/victim"
        try Data("victim".utf8).write(to: URL(fileURLWithPath: victim))
        let shm = database.path + "-shm"
        if FileManager.default.fileExists(atPath: shm) {
            try FileManager.default.removeItem(atPath: shm)
        }
        try FileManager.default.createSymbolicLink(atPath: shm, withDestinationPath: victim)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: database.path).read { try $0.tableExists("t") }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("victim".utf8))
        #expect(unsafe csqliteguard_last_refusal(database.path) == CSQLITEGUARD_SYMLINK)
    }

    @Test("a FIFO in the place of the journal neither blocks nor is read")
    func fifo() throws {
        let database = try AppDatabase("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        try #require(unsafe mkfifo(database.path + "-journal", 0o600) == 0)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: database.path).write { try $0.execute(sql: "DELETE FROM t") }
        }
        #expect(unsafe csqliteguard_last_refusal(database.path) == CSQLITEGUARD_NOT_REGULAR)
    }

    @Test("a transaction over two attached databases cannot leave a super-journal")
    func attachedCommit() throws {
        let database = try AppDatabase("CREATE TABLE t(a)")
        #expect(throws: DatabaseError.self) {
            try database.execute(
                """
                ATTACH '\(database.folder)/other.db' AS other; CREATE TABLE other.u(a);
                BEGIN; INSERT INTO t VALUES (1); INSERT INTO other.u VALUES (1); COMMIT
                """
            )
        }
        try database.queue.writeWithoutTransaction { db in
            if db.isInsideTransaction { try db.rollback() }
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
    }

    @Test("a database that must not be created is not")
    func neverCreate() throws {
        let folder = try AppDatabase("CREATE TABLE t(a)")
        let path = folder.folder + "/missing.db"
        #expect(unsafe csqliteguard_never_create(path) == SQLITE_OK)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("WAL, VACUUM, spilled temporary tables and a DatabasePool work as before")
    func ordinaryWork() async throws {
        let database = try AppDatabase("CREATE TABLE t(a)", wal: true)
        let pool = try DatabasePool(path: database.path)
        try await pool.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
                    INSERT INTO t SELECT i FROM c
                    """
            )
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? 0
                }
            }
            for try await count in group { #expect(count == 20_000) }
        }
        try await pool.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 10;
                    CREATE TEMP TABLE x AS SELECT * FROM t; DROP TABLE x; VACUUM;
                    PRAGMA wal_checkpoint(TRUNCATE)
                    """
            )
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 20_000)
        #expect(unsafe csqliteguard_refusals(database.path) == 0)
        try pool.close()
        try database.queue.close()
        let again = try DatabaseQueue(path: database.path)
        try await again.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        try await again.write { try $0.execute(sql: "DELETE FROM t") }
        try await again.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        #expect(try await again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        #expect(unsafe csqliteguard_refusals(database.path) == 0)
    }

    @Test("a hot journal without a super-journal is still rolled back")
    func honestRecovery() throws {
        let database = try AppDatabase("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let copy = database.folder + "/crashed.db"
        // A copy of file and journal in the middle of a transaction is what a crash leaves.
        try database.queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN")
            try db.execute(
                sql: """
                    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 9000)
                    INSERT INTO t SELECT i FROM c
                    """
            )
            let files = FileManager.default
            try files.copyItem(atPath: database.path, toPath: copy)
            try files.copyItem(atPath: database.path + "-journal", toPath: copy + "-journal")
            try db.rollback()
        }
        let recovered = try DatabaseQueue(path: copy)
        #expect(try recovered.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        #expect(
            try recovered.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
        )
        #expect(unsafe csqliteguard_refusals(copy) == 0)
    }

    @Test("a hardened connection runs no trigger unless told to, and attaches nothing")
    func harden() throws {
        let database = try AppDatabase(
            """
            CREATE TABLE t(a); CREATE TABLE log(a);
            CREATE TRIGGER tr AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.a); END;
            INSERT INTO t VALUES (1), (2);
            """
        )
        try database.queue.writeWithoutTransaction { db in
            #expect(unsafe csqliteguard_harden(db.sqliteConnection, 0, 0) == SQLITE_OK)
            try db.execute(sql: "DELETE FROM t WHERE a = 1")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM log") == 0)
            #expect(unsafe csqliteguard_harden(db.sqliteConnection, 1, 0) == SQLITE_OK)
            try db.execute(sql: "DELETE FROM t WHERE a = 2")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM log") == 1)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "ATTACH '/tmp/x' AS x") }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
            }
        }
    }

    @Test("a statement past its deadline is interrupted")
    func deadline() throws {
        let database = try AppDatabase("CREATE TABLE t(a)")
        database.queue.writeWithoutTransaction { db in
            unsafe csqliteguard_deadline_begin(db.sqliteConnection, 20)
            defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
            #expect(throws: DatabaseError.self) {
                try db.execute(
                    sql: """
                        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c)
                        SELECT max(i) FROM c
                        """
                )
            }
        }
    }
}
