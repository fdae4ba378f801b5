import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite("Stored times after a jump of the clock", .onEachDatabase)
struct StateClockTests {
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

    @Test("what an application noted by a clock that was ahead keeps its time as the cutoff")
    func cutoffOfTheApplication() async throws {
        let fixture = try StateFixture()
        let ahead = StateFixture.start + .milliseconds(Self.year)
        var submission = StateFixture.submission("u")
        (submission.createdAt, submission.datedUpTo) = (ahead, ahead)
        guard case .accepted(let loaded, _) = try await fixture.accept(submission)[0] else {
            Issue.record("it is accepted")
            return
        }
        #expect(loaded.request.createdAt == StateFixture.start)
        #expect(loaded.request.cutoff(in: loaded.request.purges.first) == ahead)
        let stored = try await fixture.int("SELECT restored_at FROM purges")
        #expect(Int64(stored) == ahead.unixMilliseconds)
    }

    @Test("a clock that was ahead keeps its cutoff in the stores")
    func cutoffOfAhead() async throws {
        let fixture = try StateFixture()
        let ahead = StateFixture.start + .milliseconds(Self.year)
        try await fixture.insertOpenRequest(acceptedAt: ahead, phase: "purging")
        let step = ClockStep(
            from: ahead - .seconds(60),
            to: ahead + .seconds(60),
            by: .milliseconds(-Self.year)
        )
        try await fixture.database.reclock(step, at: StateFixture.start + .seconds(60))
        let (accepted, cutoff) = (
            try await fixture.int("SELECT accepted_at FROM requests"),
            try await fixture.int("SELECT restored_at FROM purges")
        )
        #expect(Int64(accepted) == StateFixture.start.unixMilliseconds)
        #expect(Int64(cutoff) == ahead.unixMilliseconds)
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

    /// How far the clock jumps, and when the wrong one was taken over, after the requests' time.
    static let jumps: [(by: Duration, from: Duration)] = [
        (.milliseconds(year), .seconds(-60)), (.milliseconds(year), .seconds(1)),
        (.seconds(-30), .seconds(-60)), (.seconds(-30), .seconds(1)),
    ]

    @Test(
        "what the state does to a request in any phase is what the machine does",
        arguments: jumps
    )
    func sameAsMachine(by: Duration, from: Duration) async throws {
        let fixture = try StateFixture()
        let ids = try await fixture.openInEveryPhase()
        let before = try await fixture.database.openRequests(ids)
        let to = StateFixture.start + .seconds(60)
        let step = ClockStep(from: StateFixture.start + from, to: to, by: by)
        let now = to + by
        try await fixture.database.reclock(step, at: now)
        let after = try await fixture.database.openRequests(ids)
        #expect(after.map(\.request.id) == ids)
        for (before, after) in zip(before, after) {
            var (expected, found) = (before.request, after.request)
            expected.reclock(step, at: now)
            // The engine does that with each request that it loads.
            expected.clampTimes(at: now)
            found.clampTimes(at: now)
            let steps = before.request.purges.map(\.step)
            #expect(found == expected, "\(before.request.phase), \(steps)")
        }
    }

    @Test("a token that came while the clock was behind is newer than a cut before it")
    func tokensOfBehind() async throws {
        let fixture = try StateFixture()
        let start = StateFixture.start
        let behind = start - .milliseconds(Self.year)
        _ = try await fixture.store(StateFixture.credential("ann", "old"))
        try await fixture.execute(
            "UPDATE identities SET link_cut_at = \((start - .seconds(3600)).unixMilliseconds)"
        )
        try await fixture.execute("UPDATE credentials SET created_at = 1")
        var token = StateFixture.credential("ann", "new")
        token.expiresAt = behind + .seconds(3600)
        _ = try await fixture.database.storeCredentials(
            [token],
            now: behind + .seconds(2),
            newID: { IdentityID(StateFixture.newID()) }
        )
        try await fixture.execute(
            "UPDATE credentials SET last_live_at = created_at + 1 WHERE expires_at IS NOT NULL"
        )
        let step = ClockStep(from: behind, to: behind + .seconds(60), by: .milliseconds(Self.year))
        try await fixture.database.reclock(step, at: start + .seconds(60))
        let open = try await fixture.open("ann")
        #expect(open.request.revocations.map(\.isCut) == [false])
        let after = [("created_at", 2000), ("last_live_at", 2001), ("expires_at", 3_600_000)]
        for (column, after) in after {
            let time = try await fixture.int("SELECT max(\(column)) FROM credentials")
            #expect(Int64(time) == start.unixMilliseconds + Int64(after), "\(column)")
        }
        // What was stored by the right clock keeps its time.
        #expect(try await fixture.int("SELECT min(created_at) FROM credentials") == 1)
    }

    @Test("a token that comes after a cut which the clock has not reached is not cut")
    func tokenAfterCutAhead() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.store(StateFixture.credential("ann", "old"))
        let cutAt = (StateFixture.start + .seconds(3600)).unixMilliseconds
        try await fixture.execute("UPDATE identities SET link_cut_at = \(cutAt)")
        _ = try await fixture.store(StateFixture.credential("ann", "new"))
        #expect(try await fixture.open("ann").request.revocations.map(\.isCut) == [false])
    }

    @Test("the kept reading moves in the commit that takes over a jump, with what follows of it")
    func recordOfStep() async throws {
        let fixture = try StateFixture()
        let start = StateFixture.start
        let at = start.unixMilliseconds
        let text = #"["boot",\#(at),0,0,\#(at),5000,0,0,0]"#
        try await fixture.database.setNote(StateDatabase.clockNote, to: text)
        let to = start + .seconds(60)
        let step = ClockStep(from: start, to: to, by: .seconds(-30), number: 1)
        _ = try await fixture.database.commit([.reclock(step, at: to - .seconds(30))])
        let moved = start - .seconds(30)
        let times = [moved, WallTime(unixMilliseconds: 0), to, moved].map(\.unixMilliseconds)
        let jump = ["\(start.unixMilliseconds)", "\(to.unixMilliseconds)", "-30000"]
        let steadySince = "\((to - .seconds(30)).unixMilliseconds)"
        let expected =
            times.map(String.init) + ["5000", "\(to.unixMilliseconds)", "1", steadySince]
            + ["[\(jump.joined(separator: ","))]"]
        #expect(
            try await fixture.database.note(StateDatabase.clockNote)
                == #"["boot",\#(expected.joined(separator: ","))]"#
        )
    }
}

extension StateFixture {
    /// An open deletion for each stage, parked or not, and each step of its purge.
    fileprivate func openInEveryPhase() async throws -> [RequestID] {
        var ids: [RequestID] = []
        for stage in Stage.allCases {
            for phase in [Phase.open(stage), .parked(stage, .onHold, until: nil)] {
                for step in PurgeWork.Step.allCases {
                    ids.append(try await open("user\(ids.count)", phase, step))
                }
            }
        }
        return ids
    }

    private func open(
        _ user: String,
        _ phase: Phase,
        _ step: PurgeWork.Step
    ) async throws -> RequestID {
        let hasIdentity = phase.stage.map { $0 <= .revoking } ?? false
        if hasIdentity { _ = try await store(Self.credential(user, "token of \(user)")) }
        let was = try await open(user).request
        var request = was
        request.phase = phase
        request.dueAt = Self.start + .seconds(40)
        for index in request.revocations.indices {
            request.revocations[index].waitingSince = Self.start + .seconds(5)
        }
        for index in request.purges.indices {
            request.purges[index].step = step
            request.purges[index].attempts = 1
            request.purges[index].failures = 2
            request.purges[index].retryAt = Self.start + .seconds(45)
            request.purges[index].judgedAt = Self.start + .seconds(5)
            request.purges[index].endedAt = step == .verified ? Self.start : nil
        }
        try await save(request, was: was)
        return was.id
    }

    /// An open deletion with one store, as a row.
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
            INSERT INTO purges (request_id, position, store, step, counts, attempts, failures)
            VALUES (zeroblob(16), 0, 'db', 'purged', '[]', 1, 0)
            """
        )
    }
}
