import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite("Stored times after a jump of the clock") struct StateClockTests {
    private static let year: Int64 = 365 * 86_400_000

    @Test("a request of a clock that was behind moves with it, and its purges begin anew")
    func behind() async throws {
        let fixture = try StateFixture()
        let start = StateFixture.start
        try await fixture.insertOpenRequest(acceptedAt: start, phase: "verifying")
        let step = ClockStep(
            from: start - .seconds(60),
            to: start + .seconds(60),
            by: .milliseconds(Self.year)
        )
        let now = start + .milliseconds(Self.year)
        try await fixture.database.reclock(step, at: now)
        for column in ["accepted_at", "created_at", "not_before"] {
            let moved = try await fixture.int("SELECT \(column) FROM requests")
            #expect(Int64(moved) == now.unixMilliseconds, "\(column)")
        }
        let dueAt = try await fixture.int("SELECT due_at FROM requests")
        #expect(Int64(dueAt) == now.unixMilliseconds)
        #expect(try await fixture.int("SELECT count(*) FROM purges WHERE step = 'waiting'") == 1)
    }

    @Test("what a clock that was ahead made due a year later is due at once")
    func ahead() async throws {
        let fixture = try StateFixture()
        let now = StateFixture.start
        let ahead = now + .milliseconds(Self.year)
        try await fixture.insertOpenRequest(acceptedAt: ahead, phase: "purging")
        let second = ahead.unixMilliseconds / 1000
        try await fixture.execute("INSERT INTO purge_log VALUES (\(second), 7)")
        try await fixture.database.reclock(nil, at: now)
        let dueAt = try await fixture.int("SELECT due_at FROM requests")
        #expect(Int64(dueAt) == now.unixMilliseconds)
        #expect(
            try await fixture.int("SELECT second * 10 + count FROM purge_log")
                == Int(now.unixMilliseconds / 1000) * 10 + 7
        )
    }

    @Test("a clock that was ahead keeps its fence in the stores")
    func fenceOfAhead() async throws {
        let fixture = try StateFixture()
        let ahead = StateFixture.start + .milliseconds(Self.year)
        try await fixture.insertOpenRequest(acceptedAt: ahead, phase: "purging")
        let step = ClockStep(
            from: ahead - .seconds(60),
            to: ahead + .seconds(60),
            by: .milliseconds(-Self.year)
        )
        try await fixture.database.reclock(step, at: StateFixture.start + .seconds(60))
        let (accepted, fence) = (
            try await fixture.int("SELECT accepted_at FROM requests"),
            try await fixture.int("SELECT restored_at FROM purges")
        )
        #expect(Int64(accepted) == StateFixture.start.unixMilliseconds)
        #expect(Int64(fence) == ahead.unixMilliseconds)
    }

    @Test("a request of before the wrong clock keeps its times")
    func untouched() async throws {
        let fixture = try StateFixture()
        let start = StateFixture.start
        try await fixture.insertOpenRequest(acceptedAt: start, phase: "purging")
        let step = ClockStep(from: start + .seconds(1), to: start + .seconds(60), by: .seconds(-5))
        try await fixture.database.reclock(step, at: start + .seconds(55))
        #expect(
            Int64(try await fixture.int("SELECT accepted_at FROM requests"))
                == start.unixMilliseconds
        )
    }
}

extension StateFixture {
    /// An open deletion with one target, as a row.
    fileprivate func insertOpenRequest(acceptedAt: WallTime, phase: String) async throws {
        let time = acceptedAt.unixMilliseconds
        try await execute(
            """
            INSERT INTO requests (id, kind, user_id, user_hash, slot, generation, origin,
              created_at, accepted_at, not_before, deadline_at, phase, due_at, lane,
              open_revocations, updated_at, leaves)
            VALUES (zeroblob(16), 'delete_account', 'u', zeroblob(32), x'', 1, 'spool', \(time),
              \(time), \(time), \(time), '\(phase)', \(time), '', 0, \(time), '')
            """
        )
        try await execute(
            """
            INSERT INTO purges (request_id, position, target, step, counts, attempts, failures)
            VALUES (zeroblob(16), 0, 'db', 'purged', '[]', 1, 0)
            """
        )
    }
}
