import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateIntakeTests {
    private static func row(_ id: Int64, _ content: String = "x") -> SpoolRow {
        SpoolRow(spoolID: "s1", rowID: id, fingerprint: StateFixture.hash(content))
    }

    private static func key(_ text: String, body: String = "b") -> IdempotencyKey {
        IdempotencyKey(
            scope: "submit:1000",
            keyHash: StateFixture.hash(text),
            bodyFingerprint: StateFixture.hash(body)
        )
    }

    @Test func `one key and one body is one request, however often it comes`() async throws {
        let fixture = try StateFixture()
        for round in 0..<100 {
            var submission = StateFixture.submission("user \(round)", .revokeTokens)
            submission.idempotency = Self.key("key \(round)")
            let asked = submission
            let ids = try await withThrowingTaskGroup(of: RequestID?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        switch try await fixture.accept(asked)[0] {
                        case .accepted(let loaded, _): loaded.request.id
                        case .same(let id): id
                        case .rejected, .unproven: nil
                        }
                    }
                }
                return try await group.reduce(into: Set<RequestID?>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(!ids.contains(nil))
        }
        #expect(try await fixture.int("SELECT count(*) FROM requests") == 100)
    }

    @Test func `one key with another body is a conflict`() async throws {
        let fixture = try StateFixture()
        var first = StateFixture.submission("u")
        first.idempotency = Self.key("k", body: "one")
        var second = StateFixture.submission("v")
        second.idempotency = Self.key("k", body: "two")
        let outcomes = try await fixture.accept(first, second)
        #expect(outcomes[1] == .rejected(.idempotencyConflict))
    }

    @Test func `a key finds its request for 400 days and is forgotten later, a few at a time`()
        async throws
    {
        let fixture = try StateFixture()
        let lifetime = IdempotencyKey.lifetime
        for number in 0..<5 {
            _ = try await fixture.accept(Self.keyed("user \(number)", "key \(number)"))
        }
        let count = "SELECT count(*) FROM idempotency"
        let last = StateFixture.start + lifetime
        #expect(try await Self.accept(Self.keyed("user 0", "key 0"), fixture, at: last) == .same)
        _ = try await Self.accept(Self.keyed("new", "new"), fixture, at: last)
        #expect(try await fixture.int(count) == 6)
        let later = last + .milliseconds(1)
        // Without a new key nothing is due.
        _ = try await Self.accept(StateFixture.submission("plain"), fixture, at: later)
        #expect(try await fixture.int(count) == 6)
        for (number, left) in [(1, 5), (2, 4), (3, 4)] {
            _ = try await Self.accept(
                Self.keyed("later \(number)", "later \(number)"),
                fixture,
                at: later
            )
            #expect(try await fixture.int(count) == left)
        }
    }

    private enum Taken { case new, same, rejected }

    private static func keyed(_ user: String, _ key: String) -> Submission {
        var submission = StateFixture.submission(user)
        submission.idempotency = Self.key(key)
        return submission
    }

    private static func accept(
        _ submission: Submission,
        _ fixture: StateFixture,
        at now: WallTime
    ) async throws -> Taken {
        let outcomes = try await fixture.database.accept(
            [submission],
            policy: StateFixture.policy,
            now: now,
            newID: { RequestID(StateFixture.newID()) }
        )
        switch outcomes[0] {
        case .accepted: return .new
        case .same: return .same
        case .rejected, .unproven: return .rejected
        }
    }

    @Test func `a second deletion is the same one, and with other options it is refused`()
        async throws
    {
        let fixture = try StateFixture()
        let open = try await fixture.open("u")
        var other = StateFixture.submission("u")
        other.options.graceSeconds = 60
        let outcomes = try await fixture.accept(StateFixture.submission("u"), other)
        #expect(outcomes == [.same(open.request.id), .rejected(.alreadyOpen)])
    }

    @Test func `a deletion absorbs open revocations and leaves them their tokens`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let revocation = try await fixture.open("u", .revokeTokens)
        guard
            case .accepted(let deletion, let absorbed) = try await fixture.accept(
                StateFixture.submission("u")
            )[0]
        else {
            Issue.record("not accepted")
            return
        }
        #expect(absorbed == [revocation.request.id])
        #expect(deletion.credentials.count == 1)
        let record = try await fixture.database.requestRecord(revocation.request.id)
        #expect(record?.request.phase == .cancelled)
        #expect(record?.request.endDetail == "merged")
        // The engine may still hold the absorbed one; what it saves comes too late.
        try await fixture.save(revocation.request.completed(), was: revocation.request)
        #expect(try await fixture.database.requestRecord(revocation.request.id) == record)
        #expect(try await fixture.database.requestCounts().byState[.completed] == 0)
        let late = try await fixture.accept(StateFixture.submission("u", .revokeTokens))
        #expect(late == [.rejected(.deletionInProgress)])
    }

    /// What a request last noted of a refresh, and whether a later request doubts the token.
    private static let refreshes: [(TokenRotation, Bool)] = [
        (.underWay(isInDoubt: false), true), (.inDoubt, true), (.settled, false),
    ]

    @Test("a deletion inherits the doubt about a token", arguments: refreshes)
    func doubt(_ rotation: TokenRotation, _ isInDoubt: Bool) async throws {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("u", "a"))
        let first = try await fixture.open("u", .revokeTokens).request
        var begun = first
        // The call that was answered right before it found the token live.
        begun.revocations[0].credentials[0].lastLiveAt = StateFixture.start
        begun.revocations[0].credentials[0].rotation = .underWay(isInDoubt: false)
        try await fixture.save(begun, was: first)
        var ended = begun
        ended.revocations[0].credentials[0].rotation = rotation
        try await fixture.save(ended, was: begun)
        let deletion = try await fixture.open("u").request
        #expect(deletion.revocations[0].credentials[0].rotation.isInDoubt == isInDoubt)
    }

    @Test func `after completion the same user id is a new generation`() async throws {
        let fixture = try StateFixture()
        let first = try await fixture.open("u")
        try await fixture.save(first.request.completed(), was: first.request)
        let second = try await fixture.open("u")
        #expect(try await fixture.database.requestRecord(second.request.id)?.generation == 2)
        #expect(
            try await fixture.database.erasedAt(StateFixture.hash("u")) == StateFixture.start
        )
    }

    @Test func `a user on hold makes requests that begin on hold`() async throws {
        let fixture = try StateFixture()
        let earlier = try await fixture.open("u", .revokeTokens)
        let hold = try await fixture.database.holdUser(
            StateFixture.hash("u"),
            by: 1000,
            at: StateFixture.start
        )
        #expect(hold.since == StateFixture.start && hold.openRequests == [earlier.request.id])
        #expect(try await fixture.open("u").request.isHeld)
        _ = try await fixture.database.releaseUser(
            StateFixture.hash("u"),
            by: 1000,
            at: StateFixture.start
        )
        #expect(try await fixture.database.userHold(StateFixture.hash("u")).since == nil)
    }

    @Test func `options and policy make the times of a request`() async throws {
        let fixture = try StateFixture()
        var asked = StateFixture.submission("u", .revokeTokens)
        asked.options = SubmissionOptions(
            graceSeconds: 90,
            providers: [ProviderName("apple"), ProviderName("b")],
            reason: "r1",
            accountCreatedAt: WallTime(unixMilliseconds: 5)
        )
        guard case .accepted(let loaded, _) = try await fixture.accept(asked)[0] else {
            Issue.record("not accepted")
            return
        }
        #expect(loaded.request.notBefore == StateFixture.start + .seconds(90))
        #expect(loaded.request.deadlineAt == StateFixture.start + .seconds(30 * 86_400))
        let record = try #require(try await fixture.database.requestRecord(loaded.request.id))
        #expect(record.options == asked.options)
        #expect(record.request == loaded.request)
        #expect(record.origin == .control(uid: 1000, role: "submit"))
        #expect(record.user?.exposeText() == "u")
    }

    @Test func `a late request for an erased account does not hit the later one of its id`()
        async throws
    {
        let fixture = try StateFixture()
        let first = try await fixture.open("u")
        let done = first.request.completed()
        _ = try await fixture.database.commit([
            .save(now: done, was: first.request, at: StateFixture.start)
        ])
        func asked(
            _ kind: RequestKind,
            madeAfter delay: Duration?
        ) async throws -> SubmissionOutcome {
            var submission = StateFixture.submission("u", kind)
            submission.options.accountCreatedAt = delay.map { StateFixture.start + $0 }
            return try await fixture.accept(submission)[0]
        }
        for kind in RequestKind.allCases {
            #expect(try await asked(kind, madeAfter: .seconds(-60)) == .rejected(.alreadyErased))
            #expect(try await asked(kind, madeAfter: .zero) == .rejected(.alreadyErased))
        }
        guard case .accepted = try await asked(.revokeTokens, madeAfter: nil) else {
            Issue.record("without a time the present account is meant")
            return
        }
        guard case .accepted = try await asked(.deleteAccount, madeAfter: .milliseconds(1)) else {
            Issue.record("the later account was made after the earlier one was to be erased")
            return
        }
    }

    @Test func `a row of the spool is imported once, a recreated one again`() async throws {
        let fixture = try StateFixture()
        func row(_ content: String) -> Submission {
            StateFixture.submission("u \(content)", origin: .spool(Self.row(7, content)))
        }
        guard case .accepted(let loaded, _) = try await fixture.accept(row("old"))[0] else {
            Issue.record("not accepted")
            return
        }
        #expect(try await fixture.accept(row("old")) == [.same(loaded.request.id)])
        let (known, other) = (Self.row(7, "new"), Self.row(8, "new"))
        let state = fixture.database
        #expect(try await state.countRecreated(requests: [known], credentials: []) == 1)
        #expect(try await state.countRecreated(requests: [other], credentials: []) == 0)
        guard case .accepted = try await fixture.accept(row("new"))[0] else {
            Issue.record("not accepted")
            return
        }
        let rows = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(rows.count == 1, "the old content is not in the file any more")
    }

    @Test func `a rejected row stays rejected`() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.open("u")
        let asked = StateFixture.submission("u", .revokeTokens, origin: .spool(Self.row(1)))
        for _ in 0..<2 {
            #expect(try await fixture.accept(asked) == [.rejected(.deletionInProgress)])
        }
        try await fixture.database.refuse(
            [RefusedRow(row: Self.row(2), reason: .unknownKind)],
            now: StateFixture.start
        )
        let rows = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(rows.map(\.detail) == ["deletion_in_progress", "unknown_kind"])
        #expect(rows.allSatisfy { $0.state == .rejected && $0.requestID == nil })
        try await fixture.database.confirmMirrored(rows)
        #expect(try await fixture.database.spoolMirrorRows(limit: 10).isEmpty)
    }

    @Test func `every row of a request mirrors its last state`() async throws {
        let fixture = try StateFixture()
        let outcomes = try await fixture.accept(
            StateFixture.submission("u", origin: .spool(Self.row(1, "a"))),
            StateFixture.submission("u", origin: .spool(Self.row(2, "b")))
        )
        guard case .accepted(let loaded, _) = outcomes[0] else {
            Issue.record("not accepted")
            return
        }
        #expect(outcomes[1] == .same(loaded.request.id))
        let first = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(first.map(\.spoolRow) == [1, 2])
        #expect(first.allSatisfy { $0.state == .accepted && !$0.isErased })
        let done = loaded.request.completed()
        try await fixture.save(done, was: loaded.request)
        try await fixture.database.confirmMirrored(first)
        let second = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(second.count == 2, "it changed after it was read, so it must come again")
        #expect(second.allSatisfy { $0.state == .completed && $0.isErased })
        try await fixture.database.confirmMirrored(second)
        #expect(try await fixture.database.spoolMirrorRows(limit: 10).isEmpty)
    }

    @Test func `a new row with the key of an erased one shows what became of that`() async throws {
        let fixture = try StateFixture()
        func row(_ id: Int64, _ content: String, body: String = "b") -> Submission {
            var submission = StateFixture.submission(
                "u",
                origin: .spool(Self.row(id, content))
            )
            submission.idempotency = Self.key("k", body: body)
            return submission
        }
        guard case .accepted(let loaded, _) = try await fixture.accept(row(1, "a"))[0] else {
            Issue.record("not accepted")
            return
        }
        try await fixture.save(loaded.request.completed(), was: loaded.request)
        let first = try await fixture.database.spoolMirrorRows(limit: 10)
        try await fixture.database.confirmMirrored(first)
        #expect(try await fixture.accept(row(2, "b")) == [.same(loaded.request.id)])
        let outcome = try await fixture.accept(row(3, "c", body: "other"))
        #expect(outcome == [.rejected(.idempotencyConflict)])
        let shown = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(shown.filter { $0.state == .completed }.map(\.spoolRow) == [1, 2])
        #expect(shown.filter { $0.state == .rejected }.map(\.spoolRow) == [3])
        try await fixture.database.confirmMirrored(shown)
        #expect(try await fixture.accept(row(2, "b")) == [.same(loaded.request.id)])
        #expect(try await fixture.database.spoolMirrorRows(limit: 10).isEmpty)
    }

    @Test func `lists are paged from the newest and filtered`() async throws {
        let fixture = try StateFixture()
        var ids: [RequestID] = []
        for index in 0..<7 { ids.append(try await fixture.open("u\(index)").request.id) }
        ids.sort(by: >)
        var seen: [RequestID] = []
        var cursor: RequestID?
        repeat {
            let page = try await fixture.database.requestRecords(
                RequestFilter(),
                cursor: cursor,
                limit: 3
            )
            seen += page.records.map(\.request.id)
            cursor = page.next
        } while cursor != nil
        #expect(seen == ids)
        for id in ids {
            var filter = RequestFilter()
            filter.ids = RequestID.range(prefix: id.description)
            let page = try await fixture.database.requestRecords(filter, cursor: nil, limit: 9)
            #expect(page.records.map(\.request.id) == [id])
        }
        var filter = RequestFilter()
        filter.userHash = StateFixture.hash("u3")
        filter.states = [.accepted, .parked]
        #expect(
            try await fixture.database.requestRecords(filter, cursor: nil, limit: 9).records.count
                == 1
        )
        filter.provider = ProviderName("apple")
        #expect(
            try await fixture.database.requestRecords(filter, cursor: nil, limit: 9).records.isEmpty
        )
    }
}
