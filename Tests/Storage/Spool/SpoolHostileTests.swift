import CSQLiteGuard
import Engine
import FoundationEssentials
import GRDB
import GRDBSQLite
import Glibc
import Lifecycle
import Testing

@testable import Storage

@Suite("A hostile or odd spool", .timeLimit(.minutes(5))) struct SpoolHostileTests {
    /// A spool, a service that is not running yet, and what it does.
    private struct Scene {
        let spool: SpoolFixture
        let taker = SpoolTaker()
        let box = SpoolMirrorBox()
        let health = SpoolHealthLog()
        let service: SpoolService

        init() throws {
            spool = try SpoolFixture()
            service = spool.service(taker, box, health)
        }

        /// The next request of an application arrives.
        func expectImport(_ user: String) async throws {
            let count = taker.users.count + taker.secrets.count
            try spool.submit(user)
            await taker.wait(for: count + 1)
            #expect(taker.users.last == user)
        }
    }

    /// A hot journal that names a victim as its super-journal (sqlite.org/fileformat2.html).
    private func plantJournal(beside path: String, naming victim: String) throws {
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        func number(_ value: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
        }
        var bytes = magic + [0, 2, 512, 4096].reduce(into: number(0)) { $0 += number($1) }
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        let text = Array(victim.utf8)
        let sum = text.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        bytes += number(1_073_741_824 / 4096 + 1) + text + number(UInt32(text.count))
        bytes += number(sum) + magic
        // At once: half of one is none.
        try Data(bytes).write(to: URL(filePath: path + "-journal"), options: .atomic)
    }

    @Test("without the guard, the planted journal deletes the state: the attack is real")
    func plantedJournalControl() throws {
        let spool = try SpoolFixture()
        try spool.application.close()
        let victim = spool.directory + "/state.db"
        try Data("victim".utf8).write(to: URL(filePath: victim))
        try plantJournal(beside: spool.path, naming: victim)
        var connection: OpaquePointer?
        defer { unsafe sqlite3_close(connection) }
        let code = unsafe sqlite3_open_v2(
            spool.path,
            &connection,
            SQLITE_OPEN_READWRITE,
            "unix"
        )
        #expect(code == SQLITE_OK)
        unsafe sqlite3_exec(connection, "SELECT * FROM requests", nil, nil, nil)
        #expect(!FileManager.default.fileExists(atPath: victim))
    }

    @Test("a planted journal quarantines the spool, the state lives, and it goes on by itself")
    func plantedJournal() async throws {
        let scene = try Scene()
        let victim = scene.spool.directory + "/state.db"
        try Data("victim".utf8).write(to: URL(filePath: victim))
        try await running(scene.service) {
            try await scene.expectImport("u1")
            try plantJournal(beside: scene.spool.path, naming: victim)
            await scene.health.wait(for: .quarantined(.refused))
            #expect(scene.service.health.quarantine == .refused)
            #expect(try Data(contentsOf: URL(filePath: victim)) == Data("victim".utf8))
            unsafe unlink(scene.spool.path + "-journal")
            await scene.health.wait(for: .back)
            try await scene.expectImport("u2")
        }
        #expect(FileManager.default.fileExists(atPath: victim))
        #expect(scene.health.all == [.quarantined(.refused), .back], "each change was told once")
    }

    @Test("planted triggers and views do not run and are told, and work goes on")
    func plantedTriggers() async throws {
        let scene = try Scene()
        let id = try scene.spool.store("u", secret: "s")
        try scene.spool.execute(
            """
            CREATE TABLE loot (text TEXT);
            CREATE TRIGGER t1 AFTER UPDATE ON credentials BEGIN
              INSERT INTO loot VALUES (old.secret); END;
            CREATE TRIGGER t2 BEFORE UPDATE ON credentials BEGIN SELECT raise(ABORT, 'no'); END;
            CREATE VIEW v AS SELECT * FROM requests;
            """
        )
        // The control: an ordinary connection runs them.
        #expect(throws: DatabaseError.self) {
            try scene.spool.execute("UPDATE credentials SET detail = 'x'")
        }
        try await running(scene.service) {
            await scene.taker.wait(for: 1)
            await scene.health.wait(for: .foreignObjects(count: 4))
            #expect(scene.service.health.foreignCount == 4)
            try await scene.expectImport("u2")
            scene.service.signal()
        }
        #expect(
            try scene.spool.text("SELECT state FROM credentials WHERE id = \(id)") == "sealed"
        )
        #expect(try scene.spool.int("SELECT count(*) FROM loot") == 0)
        #expect(scene.health.all == [.foreignObjects(count: 4)])
    }

    @Test("a changed table stops the import until it is changed back")
    func changedTable() async throws {
        let scene = try Scene()
        try await running(scene.service) {
            try await scene.expectImport("u1")
            try scene.spool.execute("ALTER TABLE requests ADD COLUMN more TEXT")
            await scene.health.wait(for: .quarantined(.wrongSchema))
            try scene.spool.execute("ALTER TABLE requests DROP COLUMN more")
            await scene.health.wait(for: .back)
            try await scene.expectImport("u2")
        }
    }

    @Test("a newer version is left alone")
    func newerVersion() async throws {
        let scene = try Scene()
        try scene.spool.execute("PRAGMA user_version = 2")
        try scene.spool.submit("u1")
        try await running(scene.service) {
            await scene.health.wait(for: .quarantined(.newerVersion))
            #expect(scene.taker.users.isEmpty)
            try scene.spool.execute("PRAGMA user_version = 1")
            await scene.taker.wait(for: 1)
        }
        #expect(scene.health.all == [.quarantined(.newerVersion), .back])
    }

    @Test("another spool in its place is opened, told and imported")
    func replaced() async throws {
        let scene = try Scene()
        let other = try SpoolFixture()
        try other.submit("elsewhere")
        try other.application.close()
        try await running(scene.service) {
            try await scene.expectImport("u1")
            try #require(unsafe rename(other.path, scene.spool.path) == 0)
            await scene.taker.wait(for: 2)
            #expect(scene.taker.users == ["u1", "elsewhere"])
        }
        #expect(scene.health.all == [.replaced(isSameSpool: false)])
    }

    @Test("a deleted spool is told; when it is back, importing goes on")
    func deleted() async throws {
        let scene = try Scene()
        try await running(scene.service) {
            try await scene.expectImport("u1")
            let away = scene.spool.directory + "/away.db"
            try #require(unsafe rename(scene.spool.path, away) == 0)
            await scene.health.wait(for: .quarantined(.missing))
            #expect(
                !FileManager.default.fileExists(atPath: scene.spool.path),
                "it is not made again"
            )
            try #require(unsafe rename(away, scene.spool.path) == 0)
            await scene.health.wait(for: .back)
            try await scene.expectImport("u2")
        }
    }

    @Test("a directory that is made only after the start is watched, too")
    func lateDirectory() async throws {
        let scene = try Scene()
        let away = scene.spool.directory + "-away"
        try #require(unsafe rename(scene.spool.directory, away) == 0)
        try await running(scene.service) {
            await scene.health.wait(for: .quarantined(.missing))
            try #require(unsafe rename(away, scene.spool.directory) == 0)
            await scene.health.wait(for: .back)
            try await scene.expectImport("u1")
        }
    }

    @Test("damaged bytes quarantine it until a sound file is there")
    func corrupted() async throws {
        let scene = try Scene()
        let backup = scene.spool.directory + "/backup.db"
        try await running(scene.service) {
            try await scene.expectImport("u1")
            try scene.spool.copy(to: backup)
            // The page of `requests` begins with a page type that does not exist.
            let page = try scene.spool.int(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'requests'"
            )
            try SpoolFixture.patch(scene.spool.path, at: (page - 1) * 4096, [0xee])
            // The change counter makes every connection read the pages again.
            try SpoolFixture.patch(scene.spool.path, at: 24, [0x7f])
            await scene.health.wait(for: .quarantined(.corrupt))
            try #require(unsafe rename(backup, scene.spool.path) == 0)
            await scene.health.wait(for: .back)
        }
    }

    @Test("something else than a database is not touched")
    func noDatabase() async throws {
        let scene = try Scene()
        try scene.spool.application.close()
        let text = Data(repeating: 66, count: 10_000)
        try text.write(to: URL(filePath: scene.spool.path))
        try await running(scene.service) {
            await scene.health.wait(for: .quarantined(.corrupt))
        }
        #expect(try scene.spool.bytes() == text)
    }

    @Test("a symbolic link in its place is refused")
    func link() async throws {
        let scene = try Scene()
        try scene.spool.application.close()
        let victim = scene.spool.directory + "/state.db"
        try #require(unsafe rename(scene.spool.path, victim) == 0)
        try #require(unsafe symlink(victim, scene.spool.path) == 0)
        try await running(scene.service) {
            await scene.health.wait(for: .quarantined(.refused))
        }
        #expect(scene.taker.batches.isEmpty)
    }

    @Test("a file that cannot be written is imported, told, and written once it can be")
    func readOnly() async throws {
        let scene = try Scene()
        try scene.spool.store("u", secret: "s")
        try scene.spool.application.close()
        // Write version 3 makes SQLite open it read-only, for root, too
        // (sqlite.org/fileformat2.html).
        try SpoolFixture.patch(scene.spool.path, at: 18, [3])
        try await running(scene.service) {
            await scene.taker.wait(for: 1)
            await scene.health.wait(for: .unwritable(.readOnly))
            try SpoolFixture.patch(scene.spool.path, at: 18, [1])
            await scene.health.wait(for: .writable)
        }
        let again = try SpoolFixture.open(scene.spool.path)
        #expect(
            try await again.read { try String.fetchOne($0, sql: "SELECT state FROM credentials") }
                == "sealed"
        )
        #expect(scene.health.all == [.unwritable(.readOnly), .writable])
    }

    @Test("a huge sparse file costs neither time nor memory")
    func sparse() async throws {
        let scene = try Scene()
        try #require(unsafe truncate(scene.spool.path, 1 << 30) == 0)
        try await running(scene.service) {
            try await scene.expectImport("u1")
        }
        #expect(scene.health.all == [])
    }

    @Test("an application that holds the exclusive lock is waited for")
    func exclusive() async throws {
        let spool = try SpoolFixture()
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        let (clock, rests) = SpoolClock.telling()
        let service = spool.service(taker, SpoolMirrorBox(), health, clock: clock)
        try await running(service) {
            try spool.submit("u1")
            await taker.wait(for: 1)
            try spool.execute(
                "BEGIN EXCLUSIVE;"
                    + "INSERT INTO requests (kind, user_id) VALUES ('delete_account', 'u2')"
            )
            service.poke()
            // Most rests follow a try; nothing is told, because the lock ends in time.
            await rests.wait(for: 30)
            #expect(taker.users == ["u1"])
            try spool.execute("COMMIT")
            await taker.wait(for: 2)
        }
        #expect(taker.users == ["u1", "u2"])
        #expect(health.all == [])
    }

    @Test("an older content under the same file is read again from the first row")
    func restoredInPlace() async throws {
        let scene = try Scene()
        let old = scene.spool.directory + "/old.db"
        try scene.spool.copy(to: old)
        try await running(scene.service) {
            try await scene.expectImport("u1")
            try await scene.expectImport("u2")
            let backup = try DatabaseQueue(path: old)
            try backup.backup(to: scene.spool.application)
            try backup.close()
            await scene.health.wait(for: .replaced(isSameSpool: true))
            try await scene.expectImport("u3")
        }
        #expect(scene.taker.users == ["u1", "u2", "u3"])
    }

    @Test("a lock that is held for long is told once, and work goes on when it is gone")
    func locked() async throws {
        let spool = try SpoolFixture()
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        let clock = SpoolClock(
            uptime: SpoolClock.system().uptime,
            rest: { _ in try Task.checkCancellation() }
        )
        let service = SpoolService(
            path: spool.path,
            ports: SpoolService.Ports(
                intake: taker,
                source: SpoolMirrorBox(),
                hasher: SpoolHasher(),
                clock: clock,
                report: { health.add($0) }
            ),
            sweepInterval: .milliseconds(40)
        )
        try spool.execute(
            "BEGIN EXCLUSIVE;"
                + "INSERT INTO requests (kind, user_id) VALUES ('delete_account', 'u1')"
        )
        try await running(service) {
            await health.wait(for: .quarantined(.locked))
            try spool.execute("COMMIT")
            await health.wait(for: .back)
            await taker.wait(for: 1)
        }
        #expect(health.all == [.quarantined(.locked), .back])
    }

    @Test("random damage is an answer, never a crash or a hang (A-10)", arguments: 0..<8)
    func randomDamage(seed: UInt64) async throws {
        let spool = try SpoolFixture()
        for index in 0..<30 { try spool.submit("u\(index)", options: #"{"reason":"r"}"#) }
        for index in 0..<10 { try spool.store("u\(index)", secret: "s\(index)") }
        try spool.application.close()
        let sound = try spool.bytes()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                let offset = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[offset] = UInt8.random(in: 0...255, using: &generator)
            }
            try bytes.write(to: URL(filePath: spool.path))
            let database = spool.database()
            guard case .done = database.open() else { continue }
            guard case .done(let reading) = await database.read(.tail) else { continue }
            _ = await database.settle(
                reading.batch.credentials.compactMap(\.spoolRow).map {
                    CredentialSettlement(row: $0, rejection: nil)
                }
            )
            database.close()
        }
        try sound.write(to: URL(filePath: spool.path))
        let database = spool.database()
        try #require(try database.open().value() == ())
        #expect(try await database.read(.tail).value().batch.requests.count == 30)
    }
}
