import Engine
import FoundationEssentials
import GRDB
import GRDBSQLite
import Glibc
import Synchronization
import Testing

@testable import Storage

@Suite("A spool in WAL mode", .timeLimit(.minutes(5))) struct SpoolWALTests {
    /// An application that has switched the spool to WAL, in another process: what it does to the
    /// shared index it does not do to us.
    private static func mode(of path: String) throws -> String? {
        let queue = try SpoolFixture.open(path)
        defer { close(queue) }
        return try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    }

    private static func close(_ queue: DatabaseQueue) {
        do {
            try queue.close()
        } catch {
            Issue.record("cannot close a connection")
        }
    }

    private static func enterWAL(_ spool: SpoolFixture) throws {
        try spool.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL")
    }

    /// Leaves what a process leaves that is killed.
    private static func abandon(_ spool: SpoolFixture) throws {
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.copyItem(
                atPath: spool.path + suffix,
                toPath: spool.directory + "/dead.db" + suffix
            )
        }
        try spool.application.close()
        for suffix in ["", "-wal", "-shm"] {
            unsafe unlink(spool.path + suffix)
            unsafe rename(spool.directory + "/dead.db" + suffix, spool.path + suffix)
        }
    }

    @Test func `it is quarantined while an application keeps it open and goes on by itself`()
        async throws
    {
        let spool = try SpoolFixture()
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        let isHeld = Mutex(false)
        let (released, release) = AsyncStream<Void>.makeStream()
        // It rests before it opens the file again: here until the application has written into the
        // WAL, before which it could be switched back. So only tries count, and no time.
        let clock = SpoolClock(
            uptime: { .zero },
            rest: { _ in
                if isHeld.withLock({ $0 }) { for await _ in released {} }
                try Task.checkCancellation()
            }
        )
        let service = spool.service(
            taker,
            SpoolMirrorBox(),
            health,
            clock: clock,
            lockedAfter: .seconds(1)
        )
        try spool.submit("u1")
        try await running(service) {
            await taker.wait(for: 1)
            isHeld.withLock { $0 = true }
            try Self.enterWAL(spool)
            try spool.submit("u2")
            try spool.store("u2", secret: "s")
            release.finish()
            await health.wait(for: .quarantined(.inWAL))
            #expect(service.health.isWAL)
            #expect(taker.users == ["u1"])
            try spool.application.close()
            await health.wait(for: .leftWAL)
            await taker.wait(for: 3)
        }
        #expect(try Self.mode(of: spool.path) == "delete")
        #expect(
            health.all == [.enteredWAL, .quarantined(.inWAL), .leftWAL, .back],
            "each change was told once"
        )
        #expect(taker.users == ["u1", "u2"])
    }

    @Test func `one whose application is gone is switched back at once and nothing is lost`()
        async throws
    {
        let spool = try SpoolFixture()
        try Self.enterWAL(spool)
        try spool.submit("u1")
        try Self.abandon(spool)
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        try await running(spool.service(taker, SpoolMirrorBox(), health)) {
            await taker.wait(for: 1)
        }
        #expect(taker.users == ["u1"])
        #expect(health.all == [.enteredWAL, .leftWAL])
        #expect(try Self.mode(of: spool.path) == "delete")
    }

    @Test func `a WAL that somebody has made long without writing to it blocks nobody`()
        async throws
    {
        let spool = try SpoolFixture()
        try Self.enterWAL(spool)
        try spool.submit("u1")
        try Self.abandon(spool)
        #expect(unsafe truncate(spool.path + "-wal", off_t(SpoolLimits.walByteCountMax) * 2) == 0)
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        try await running(spool.service(taker, SpoolMirrorBox(), health)) {
            await taker.wait(for: 1)
        }
        #expect(taker.users == ["u1"])
        #expect(health.all == [.enteredWAL, .leftWAL])
        #expect(try Self.mode(of: spool.path) == "delete")
    }

    @Test func `a WAL that holds too much is told as that, and requests wait a minute for it`()
        async throws
    {
        let spool = try SpoolFixture()
        try Self.enterWAL(spool)
        try spool.submit("u1")
        try spool.execute("CREATE TABLE junk (j BLOB)")
        try spool.execute("INSERT INTO junk VALUES (zeroblob(\(SpoolLimits.walByteCountMax)))")
        try Self.abandon(spool)
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        let seconds = Mutex(0)
        let service = SpoolService(
            path: spool.path,
            ports: SpoolService.Ports(
                intake: taker,
                source: SpoolMirrorBox(),
                hasher: SpoolHasher(),
                clock: SpoolClock(
                    uptime: {
                        seconds.withLock { seconds in
                            seconds += 1
                            return .seconds(seconds)
                        }
                    },
                    rest: { _ in try Task.checkCancellation() }
                ),
                report: { health.add($0) }
            ),
            sweepInterval: .milliseconds(50)
        )
        try await running(service) {
            #expect(await service.readToEnd() == .unreadable)
            #expect(seconds.withLock { $0 } >= 60)
            #expect(health.all == [.enteredWAL, .quarantined(.largeWAL)])
            #expect(taker.users.isEmpty)
            // What the guide tells the operator to do.
            var connection: OpaquePointer?
            defer { unsafe sqlite3_close(connection) }
            let flags = SQLITE_OPEN_READWRITE
            #expect(unsafe sqlite3_open_v2(spool.path, &connection, flags, "unix") == SQLITE_OK)
            unsafe sqlite3_busy_timeout(connection, 300_000)
            // SQLite calls no busy handler here, and the sweep opens the file every 50 ms.
            let pragma = "PRAGMA journal_mode = DELETE"
            var status = unsafe sqlite3_exec(connection, pragma, nil, nil, nil)
            while status == SQLITE_BUSY, !Task.isCancelled {
                try await SpoolClock.system().rest(.milliseconds(5))
                status = unsafe sqlite3_exec(connection, pragma, nil, nil, nil)
            }
            #expect(status == SQLITE_OK)
            await taker.wait(for: 1)
            await health.wait(for: .back)
        }
        #expect(taker.users == ["u1"])
    }

    @Test func `the shared index beside it is never mapped`() async throws {
        let spool = try SpoolFixture()
        try Self.enterWAL(spool)
        try spool.submit("u1")
        // The application's own mapping, in this process.
        let before = try Self.mappings(of: spool.path + "-shm")
        let database = spool.database()
        #expect(database.open().failure == .inWAL)
        guard case .busy = database.open() else {
            Issue.record("somebody has it open, so it cannot be switched back")
            return
        }
        #expect(try Self.mappings(of: spool.path + "-shm") == before)
        try spool.application.close()
        #expect(try database.open().value() == ())
        #expect(try await database.read(.tail).value().batch.requests.count == 1)
        #expect(try Self.mappings(of: spool.path + "-shm") == 0)
    }

    private static func mappings(of path: String) throws -> Int {
        let maps = try String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)
        return maps.split(separator: "\n").count { $0.hasSuffix(path) }
    }
}
