import Engine
import GRDB
import Lifecycle
import Testing

@testable import Storage

struct StateScopeTests {
    @Test func `a request names the scope in force at its end, whatever comes into force later`()
        async throws
    {
        let fixture = try StateFixture()
        let old = try await fixture.open("old")
        try await fixture.save(old.request.completed(), was: old.request)
        let first = try await fixture.open("first")
        let second = try await fixture.open("second", .revokeTokens)
        let third = try await fixture.open("third")
        for (document, loaded) in [("one", first), ("two", second), ("one", third)] {
            try await fixture.database.enforce(scope: document)
            #expect(try await fixture.database.scope(of: loaded.request.id) == nil)
            try await fixture.save(loaded.request.completed(), was: loaded.request)
        }
        try await fixture.database.enforce(scope: "three")
        #expect(try await fixture.database.scope(of: old.request.id) == nil)
        #expect(try await fixture.database.scope(of: first.request.id) == "one")
        #expect(try await fixture.database.scope(of: second.request.id) == "two")
        #expect(try await fixture.database.scope(of: third.request.id) == "one")
        #expect(try await fixture.int("SELECT count(*) FROM scopes") == 3)
    }

    @Test func `the last entry of what is completed has the digest of its receipt, and no other`()
        async throws
    {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("alice", .revokeTokens)
        let plain = try await fixture.open("bob")
        try await fixture.database.enforce(scope: "old") { _ in [1] }
        try await fixture.database.enforce(scope: "new") { request in
            #expect(request.phase == .completed && request.endedAt != nil)
            return Array(request.kind.rawValue.utf8)
        }
        for request in [loaded.request, plain.request] {
            try await fixture.save(request.completed(), was: request)
        }
        let leaves = try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves).map {
            String(decoding: $0, as: UTF8.self)
        }
        // base64url of the names of the two kinds.
        let digests = [#""receipt":"cmV2b2tlX3Rva2Vucw""#, #""receipt":"ZGVsZXRlX2FjY291bnQ""#]
        let ends = leaves.filter { $0.contains(#""state":"completed""#) }
        #expect(ends.count == 2 && zip(ends, digests).allSatisfy { $0.contains($1) }, "\(ends)")
        #expect(leaves.filter { $0.contains("receipt") } == ends)
    }

    @Test func `what an earlier version completed names none`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        let path = directory + "/state.db"
        let queue = try DatabaseQueue(path: path)
        try StateSchema.migrator.migrate(queue, upTo: "15 one deletion of a user")
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO requests (id, kind, user_hash, slot, generation, origin, created_at,
                      accepted_at, not_before, deadline_at, phase, lane, open_revocations,
                      ended_at, updated_at)
                    VALUES (zeroblob(16), 'revoke_tokens', zeroblob(32), zeroblob(16), 1, 'control',
                      0, 0, 0, 0, 'completed', '', 0, 1, 1)
                    """
            )
        }
        try queue.close()
        let state = try StateDatabase.open(path: path, now: { StateFixture.start })
        try await state.enforce(scope: "one")
        let id = RequestID(TimeOrderedID(high: 0, low: 0))
        #expect(try await state.requestRecord(id)?.request.phase == .completed)
        #expect(try await state.scope(of: id) == nil)
        try await state.close()
    }
}
