import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
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

    @Test func `a scope may be as long as a list of recipients makes it`() async throws {
        let fixture = try StateFixture()
        // No index of PostgreSQL takes a text that cannot be compressed below 2.7 kB.
        var state: UInt64 = 7
        let long = (0..<5_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return String(state, radix: 36)
        }
        .joined()
        for _ in 1...2 { try await fixture.database.enforce(scope: long) }
        #expect(try await fixture.database.enforcedScope() == long)
        #expect(try await fixture.int("SELECT count(*) FROM scopes") == 1)
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
}
