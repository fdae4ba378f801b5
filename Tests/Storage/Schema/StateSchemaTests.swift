import Engine
import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateSchemaTests {
    @Test(arguments: ["purging", "verifying", "completed"])
    func `the database refuses to go past revoking while an identity has no verdict`(
        _ phase: String
    ) async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "token"))
        _ = try await fixture.open("u")
        let ended = phase == "completed" ? ", ended_at = 1, user_id = NULL, slot = id" : ""
        await #expect(throws: StorageError.self) {
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
        await #expect(throws: StorageError.self) { try await fixture.execute(copy) }
        try await fixture.save(first.request.completed(), was: first.request)
        try await fixture.execute(copy)
    }

    @Test func `a user id exists exactly while the request is open`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.open("u")
        await #expect(throws: StorageError.self) {
            try await fixture.execute("UPDATE requests SET user_id = NULL")
        }
        await #expect(throws: StorageError.self) {
            try await fixture.execute("UPDATE requests SET phase = 'cancelled', ended_at = 1")
        }
    }

    @Test func `a final code cannot keep its secret`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "code", kind: .authorizationCode))
        await #expect(throws: StorageError.self) {
            try await fixture.execute("UPDATE credentials SET code_phase = 'exchanged'")
        }
    }

    @Test(.onlySQLite)
    func `every file is ours alone and every commit is synced`() async throws {
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
            .map { try database.int("PRAGMA \($0)") }
        }
        #expect(pragmas == [2, 1, 1, 2, 0])
    }

    @Test(.onlySQLite, arguments: [0, StateSchema.versionInSQLite + 1])
    func `another schema is refused and left as it is`(_ version: Int) async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        let first = try StateDatabase.open(path: path, now: { StateFixture.start })
        try await first.writer.run("PRAGMA user_version = \(version)")
        try await first.close()
        let error = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(path: path, now: { StateFixture.start })
        }
        #expect(error?.kind == .otherSchema)
        #expect(error?.cause?.contains("restore a backup") == true)
        let left = try await DatabaseQueue(path: path).read {
            try Int.fetchOne($0, sql: "PRAGMA user_version")
        }
        #expect(left == version)
    }

    @Test(arguments: [
        StateSchema.tables + StateSchema.triggers, StateSchema.postgreSQLStatements,
    ])
    func `a changed column makes another version, a comment or a blank does not`(
        _ statements: [String]
    ) {
        let version = StateSchema.version(of: statements)
        #expect((1...Int(Int32.max)).contains(version))
        let reworded = statements.map { statement in
            "-- it's a note\n" + statement.replacing("\n", with: "  -- of the user's\n ")
        }
        #expect(StateSchema.version(of: reworded) == version)
        var changed = statements
        changed[0] = statements[0].replacing("NOT NULL", with: "")
        #expect(changed[0] != statements[0])
        #expect(StateSchema.version(of: changed) != version)
    }

    @Test(arguments: [("a--b", "a--c"), ("a b", "ab")])
    func `a changed literal makes another version`(_ before: String, _ after: String) {
        let versions = [before, after].map { StateSchema.version(of: ["DEFAULT '\($0)'"]) }
        #expect(versions[0] != versions[1])
    }

    @Test(.onlySQLite)
    func `only an unclean stop is an unclean stop`() async throws {
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

    @Test(.onlySQLite)
    func `a damaged file is refused after an unclean stop and kept`() async throws {
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
