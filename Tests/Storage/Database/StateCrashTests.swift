import Engine
import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Storage

/// Crashes and second processes: the test program starts itself again with one test that plays the
/// victim.
struct StateCrashTests {
    @Test func `what was acknowledged before kill -9 is there afterwards`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        for round in 1...3 {
            let child = try ChildProcess.start(.submit, directory: directory)
            var acknowledged = child.readIDs(atLeast: 200 * round)
            child.kill()
            acknowledged += child.readIDs(atLeast: .max)
            #expect(acknowledged.count >= 200)

            let database = try StateDatabase.open(
                path: directory + "/state.db",
                now: { StateFixture.start }
            )
            #expect(database.wasUncleanStop)
            let found = try await database.openRequests(acknowledged)
            #expect(found.map(\.request.id) == acknowledged)
            #expect(found.allSatisfy { !$0.userHash.isEmpty && !$0.request.purges.isEmpty })
            let check = try await database.read {
                try $0.first("PRAGMA integrity_check") { $0.text() }
            }
            #expect(check == "ok")
            try await database.close()
        }
    }

    @Test func `a second process is refused`() throws {
        let fixture = try StateFixture()
        let child = try ChildProcess.start(.open, directory: fixture.directory)
        #expect(child.readByte() == UInt8(ascii: "R"))
        child.kill()
    }

    @Test func `a lock that is given back within a moment is waited for`() throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let first = try DirectoryLock(path: directory + "/lock")
        var rests = 0
        let second = try DirectoryLock(
            path: directory + "/lock",
            rest: {
                rests += 1
                if rests == 3 { first.release() }
            }
        )
        second.release()
        #expect(rests == 3)
    }

    @Test func `a second opening in the same process is refused too`() throws {
        let fixture = try StateFixture()
        let error = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(path: fixture.database.path, now: { StateFixture.start })
        }
        #expect(error?.kind == .inUse)
    }

    @Test func `a first start that was cut off before the WAL is undone and begun anew`()
        async throws
    {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        try Self.leaveHotJournal(path)
        let database = try StateDatabase.open(path: path, now: { StateFixture.start })
        let half = try await database.read {
            try $0.int("SELECT count(*) FROM sqlite_schema WHERE name = 'half'")
        }
        #expect(half == 0)
        try await database.close()
    }

    /// A transaction on its way into the file, copied with its journal as a crash leaves them.
    private static func leaveHotJournal(_ path: String) throws {
        let victim = path + ".victim"
        let queue = try DatabaseQueue(path: victim)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA cache_size = 1;
                    CREATE TABLE whole (x);
                    BEGIN;
                    CREATE TABLE half (x);
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                      INSERT INTO half SELECT zeroblob(1000) FROM n;
                    """
            )
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: victim + suffix, toPath: path + suffix)
            }
            try database.execute(sql: "ROLLBACK")
        }
        try queue.close()
    }

    /// Not a test of its own: runs only in the child.
    @Test(.enabled(if: ChildProcess.role != nil))
    func `victim`() async throws {
        let path = try #require(ChildProcess.directory) + "/state.db"
        let database: StateDatabase
        do {
            database = try StateDatabase.open(path: path, now: { StateFixture.start })
        } catch {
            ChildProcess.report([error.kind == .inUse ? UInt8(ascii: "R") : UInt8(ascii: "?")])
            return
        }
        guard ChildProcess.role == .submit else { return ChildProcess.report([UInt8(ascii: "O")]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<32 {
                group.addTask { try await Self.submitForever(database, lane: lane) }
            }
            try await group.waitForAll()
        }
    }

    /// Bounded, in case nobody kills it.
    private static func submitForever(_ database: StateDatabase, lane: Int) async throws {
        var random = SeededGenerator(seed: UInt64(getpid()) << 8 | UInt64(lane))
        for index in 0..<20_000 {
            let id = RequestID(TimeOrderedID(at: StateFixture.start, entropy: &random))
            let name = "user \(getpid()) \(lane) \(index)"
            let outcomes = try await database.accept(
                [StateFixture.submission(name)],
                policy: StateFixture.policy,
                now: StateFixture.start,
                newID: { id }
            )
            guard case .accepted = outcomes[0] else { continue }
            ChildProcess.report(id.value.bytes)
        }
    }
}

extension TimeOrderedID {
    fileprivate var bytes: [UInt8] {
        [high, low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
        }
    }
}
