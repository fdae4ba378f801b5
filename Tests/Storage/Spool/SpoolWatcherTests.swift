import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Storage

@Suite("Watching the spool", .timeLimit(.minutes(5))) struct SpoolWatcherTests {
    @Test(
        "a commit wakes, also one with another journal mode",
        arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"]
    )
    func commit(mode: String) async throws {
        let spool = try SpoolFixture()
        try spool.execute("PRAGMA journal_mode = \(mode)")
        let watcher = try SpoolWatcher(path: spool.path, sweepInterval: .seconds(600))
        defer { watcher.stop() }
        var wakes = watcher.wakes.makeAsyncIterator()
        try spool.submit("u")
        await wakes.next()
    }

    @Test("other files, a journal being written and mere reading do not wake")
    func others() async throws {
        let spool = try SpoolFixture()
        let watcher = try SpoolWatcher(path: spool.path, sweepInterval: .milliseconds(20))
        defer { watcher.stop() }
        let other = try DatabaseQueue(path: spool.directory + "/other.db")
        try await other.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try other.close()
        _ = try spool.int("SELECT count(*) FROM requests")
        try spool.execute(
            "BEGIN IMMEDIATE; INSERT INTO requests (kind, user_id) VALUES ('delete_account', 'u')"
        )
        // The sweep after all that is the proof that nothing else is waiting.
        watcher.setAlert(true)
        var wakes = watcher.wakes.makeAsyncIterator()
        await wakes.next()
        #expect(watcher.takeSweep())
        try spool.execute("ROLLBACK")
    }

    @Test("nothing wakes while nothing happens, and sweeps look without waking")
    func idle() async throws {
        let spool = try SpoolFixture()
        let watcher = try SpoolWatcher(path: spool.path, sweepInterval: .milliseconds(5))
        while watcher.sweepCount < 20 { try await SpoolClock.system().rest(.milliseconds(5)) }
        watcher.stop()
        var count = 0
        for await _ in watcher.wakes { count += 1 }
        #expect(count == 0)
    }

    @Test("a stop ends the stream and the thread, twice is once")
    func stop() async throws {
        let spool = try SpoolFixture()
        let watcher = try SpoolWatcher(path: spool.path, sweepInterval: .seconds(600))
        watcher.stop()
        watcher.stop()
        for await _ in watcher.wakes {}
    }
}
