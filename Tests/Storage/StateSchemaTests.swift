import Engine
import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Storage

struct StateSchemaTests {
    @Test(arguments: ["purging", "verifying", "completed"])
    func `the database refuses to go past revoking while an identity has no verdict`(
        _ phase: String
    ) async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "token"))
        _ = try await fixture.open("u")
        let ended = phase == "completed" ? ", ended_at = 1, user_id = NULL, slot = id" : ""
        await #expect(throws: DatabaseError.self) {
            try await fixture.execute("UPDATE requests SET phase = '\(phase)'\(ended)")
        }
        try await fixture.execute(
            "UPDATE requests SET open_revocations = 0, phase = '\(phase)'\(ended)"
        )
    }

    @Test
    func `the database refuses a second open deletion of a user and allows one after the end`()
        async throws
    {
        let fixture = try StateFixture()
        let first = try await fixture.open("u")
        let copy = """
            INSERT INTO requests (id, kind, user_id, user_hash, slot, generation, origin,
              created_at,
              accepted_at, not_before, deadline_at, phase, lane, open_revocations, updated_at)
            SELECT randomblob(16), kind, 'u', user_hash, x'', 1, 'control', 0, 0, 0, 0, 'accepted',
            '', 0, 0
            FROM requests LIMIT 1
            """
        await #expect(throws: DatabaseError.self) { try await fixture.execute(copy) }
        try await fixture.save(first.request.completed(), was: first.request)
        try await fixture.execute(copy)
    }

    @Test func `a user id exists exactly while the request is open`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.open("u")
        await #expect(throws: DatabaseError.self) {
            try await fixture.execute("UPDATE requests SET user_id = NULL")
        }
        await #expect(throws: DatabaseError.self) {
            try await fixture.execute("UPDATE requests SET phase = 'cancelled', ended_at = 1")
        }
    }

    @Test func `a final code cannot keep its secret`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "code", kind: .authorizationCode))
        await #expect(throws: DatabaseError.self) {
            try await fixture.execute("UPDATE credentials SET code_phase = 'exchanged'")
        }
    }

    @Test func `every file is ours alone and every commit is synced`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.open("u")
        for suffix in ["", "-wal", "-shm", ".lock"] {
            var status = stat()
            #expect(unsafe stat(fixture.directory + "/state.db" + suffix, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        let pragmas = try await fixture.database.writer.performAlone { database in
            try [
                "synchronous", "secure_delete", "foreign_keys", "temp_store", "wal_autocheckpoint",
            ]
            .map { try Int.fetchOne(database, sql: "PRAGMA \($0)") ?? -1 }
        }
        #expect(pragmas == [2, 1, 1, 2, 0])
    }

    @Test func `a newer schema is refused and left as it is`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        let first = try StateDatabase.open(path: path, now: { StateFixture.start })
        try await first.writer.perform {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('2 from the future')")
        }
        try await first.close()
        let error = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(path: path, now: { StateFixture.start })
        }
        #expect(error?.kind == .newerSchema)
    }

    @Test func `what an earlier version stored of users and ids stays what it is`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        let queue = try DatabaseQueue(path: path)
        try StateSchema.migrator.migrate(queue, upTo: "13 found keys")
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO tombstones VALUES (1, zeroblob(32), 1, 5, zeroblob(16));
                    INSERT INTO found_keys
                      VALUES (1, zeroblob(16), 'app-db', 'customer', 'k1', zeroblob(32), x'00', 1);
                    """
            )
        }
        try queue.close()
        let state = try StateDatabase.open(path: path, now: { StateFixture.start })
        let id = RequestID(TimeOrderedID(high: 0, low: 0))
        let erased = Tombstone(hash: [], erasedAt: StateFixture.start, request: id)
        try await state.forgetLateKeys(of: [erased])
        let page = try await state.tombstones(since: .distantPast, after: 0, limit: 10).page
        #expect(page.map(\.isKey) == [false] && page.map(\.generation) == [1])
        #expect(try await state.lateKeyRequests(among: [id]).isEmpty)
        try await state.close()
    }

    @Test func `a deletion that was open before the trigger is still the only one`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        let queue = try DatabaseQueue(path: path)
        try StateSchema.migrator.migrate(queue, upTo: "13 found keys")
        func insert(_ id: String, slot: String, phase: String, ended: String) -> String {
            """
            INSERT INTO requests (id, kind, user_id, user_hash, slot, generation, origin,
              created_at, accepted_at, not_before, deadline_at, phase, lane, open_revocations,
              updated_at, ended_at)
            VALUES (\(id), 'delete_account', iif(\(ended) IS NULL, 'u', NULL), zeroblob(32),
              \(slot), 1, 'control', 0, 0, 0, 0, '\(phase)', '', 0, 0, \(ended));
            """
        }
        let ended = insert("zeroblob(16)", slot: "zeroblob(16)", phase: "completed", ended: "5")
        let id = "x'00000000000000000000000000000001'"
        let open = insert(id, slot: "x''", phase: "accepted", ended: "NULL")
        try await queue.write { try $0.execute(sql: ended + open) }
        try queue.close()
        let state = try StateDatabase.open(path: path, now: { StateFixture.start })
        let second = insert("randomblob(16)", slot: "x''", phase: "accepted", ended: "NULL")
        await #expect(throws: DatabaseError.self) {
            try await state.writer.perform { try $0.execute(sql: second) }
        }
        try await state.close()
    }

    @Test func `only an unclean stop is an unclean stop`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        do {
            let first = try StateDatabase.open(path: path, now: { StateFixture.start })
            #expect(!first.wasUncleanStop)
        }
        do {
            let second = try StateDatabase.open(path: path, now: { StateFixture.start })
            #expect(second.wasUncleanStop)
            try await second.close()
        }
        let third = try StateDatabase.open(path: path, now: { StateFixture.start })
        #expect(!third.wasUncleanStop)
        try await third.close()
    }

    @Test func `a damaged file is refused after an unclean stop and kept`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        do {
            let first = try StateDatabase.open(path: path, now: { StateFixture.start })
            _ = try await first.scrub()
        }
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        let size = lseek(descriptor, 0, SEEK_END)
        let junk = [UInt8](repeating: 0xa5, count: 4096 * 3)
        let written = unsafe junk.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, 4096 * 4)
        }
        close(descriptor)
        #expect(written == junk.count)
        let error = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(path: path, now: { StateFixture.start })
        }
        #expect(error?.kind == .corrupt)
        var status = stat()
        #expect(unsafe stat(path, &status) == 0)
        #expect(status.st_size == size)
    }
}
