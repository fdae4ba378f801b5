import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateRecheckTests {
    private static let start = StateFixture.start
    private static let day = Duration.seconds(86_400)

    /// Completes a deletion that is looked at again after some days.
    private static func complete(
        _ user: String,
        in fixture: StateFixture,
        after days: Int = 1,
        under keyID: String = "k1"
    ) async throws -> RequestID {
        let open = try await fixture.open(user)
        let id = open.request.id
        let sealed = SealedRecheck(
            request: id,
            keyID: keyID,
            recheckKey: StateFixture.hash("case key of \(user)"),
            sealedUser: Array("sealed \(user)".utf8)
        )
        _ = try await fixture.database.commit([
            .save(now: open.request.completed(), was: open.request, at: start),
            .openRecheck(OpenedRecheck(sealed: sealed, openedAt: start, dueAt: start + day * days)),
        ])
        return id
    }

    private static func due(
        _ fixture: StateFixture,
        after days: Int,
        under keyIDs: [String] = ["k1"],
        limit: Int = 10
    ) async throws -> DueRechecks {
        try await fixture.database.dueRechecks(under: keyIDs, at: start + day * days, limit: limit)
    }

    @Test func `a case becomes due with all that looking again needs`() async throws {
        let fixture = try StateFixture()
        let second = try await Self.complete("b", in: fixture, after: 2)
        let first = try await Self.complete("a", in: fixture)
        let early = try await Self.due(fixture, after: 0)
        #expect(early.rechecks.isEmpty && early.nextDueAt == Self.start + Self.day)
        let due = try await Self.due(fixture, after: 1)
        #expect(due.rechecks.map(\.sealed.request) == [first])
        #expect(due.nextDueAt == Self.start + Self.day * 2)
        let found = try #require(due.rechecks.first)
        #expect(found.stores == [StoreName("app-db")] && found.cutoff == Self.start)
        #expect(found.sealed.sealedUser == Array("sealed a".utf8))
        let both = try await Self.due(fixture, after: 3)
        #expect(both.rechecks.map(\.sealed.request) == [first, second] && both.nextDueAt == nil)
        #expect(try await Self.due(fixture, after: 3, limit: 1).rechecks.count == 1)
        let record = try await fixture.database.requestRecord(first)
        #expect(record?.openRecheck?.dueAt == Self.start + Self.day)
    }

    @Test(
        "a look again goes as far as the purges of all stores went, and not into the future",
        arguments: [(Duration.seconds(-5), Duration.seconds(-5)), (day, .zero)]
    )
    func cutoff(noted: Duration, cutoff: Duration) async throws {
        let fixture = try StateFixture()
        let id = try await Self.complete("a", in: fixture)
        // The clock was a year behind when it was accepted, and nobody saw the step.
        let year = Duration.seconds(365 * 86_400).milliseconds
        let times = "created_at = created_at - \(year), accepted_at = accepted_at - \(year)"
        try await fixture.execute("UPDATE requests SET \(times)")
        #expect(
            try await Self.due(fixture, after: 1).rechecks.first?.cutoff
                == Self.start - .milliseconds(year)
        )
        let floor = (Self.start + noted).unixMilliseconds
        try await fixture.execute("UPDATE purges SET restored_at = \(floor)")
        #expect(try await Self.due(fixture, after: 1).rechecks.first?.cutoff == Self.start + cutoff)
        let buried = try await fixture.database.tombstones(after: 0, limit: 10).page
        #expect(buried.map(\.request) == [id])
        #expect(buried.map(\.cutoff) == [Self.start + cutoff])
    }

    @Test func `cases of a vault key that is not there wait, and keep the key needed`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await Self.complete("a", in: fixture, under: "k7")
        _ = try await Self.complete("b", in: fixture, under: "k2")
        #expect(try await Self.due(fixture, after: 9).rechecks.isEmpty)
        #expect(try await Self.due(fixture, after: 9, under: ["k1", "k2"]).rechecks.count == 1)
        #expect(try await fixture.database.vaultKeyIDs() == ["k2", "k7"])
        #expect(try await fixture.database.vaultKeyUse() == ["k2": 1, "k7": 1])
    }

    @Test func `looks move a case on, and the last one destroys it`() async throws {
        let fixture = try StateFixture()
        let id = try await Self.complete("a", in: fixture)
        let now = Self.start + Self.day
        let first = try #require(try await Self.due(fixture, after: 1).rechecks.first)
        let next = EndedRecheck.Next.due(now + Self.day, stage: 1, openedAt: Self.start)
        let clean = EndedRecheck(first, Recheck(at: now, .clean), next: next)
        #expect(try await fixture.database.endRechecks([clean]).count == 1)
        // The same look once more, as after a crash that nobody heard of, changes nothing.
        #expect(try await fixture.database.endRechecks([clean]).isEmpty)
        let second = try #require(try await Self.due(fixture, after: 2).rechecks.first)
        #expect(second.stage == 1)
        let last = Recheck(at: now + Self.day, .clean, missing: [StoreName("old-db")])
        _ = try await fixture.database.endRechecks([EndedRecheck(second, last, next: .closed)])
        #expect(try await fixture.int("SELECT count(*) FROM rechecks") == 0)
        let record = try #require(try await fixture.database.requestRecord(id))
        #expect(record.openRecheck == nil)
        #expect(record.rechecks == [Recheck(at: now, .clean), last])
    }

    @Test func `data that came back is known until it is seen to be gone`() async throws {
        let fixture = try StateFixture()
        let id = try await Self.complete("a", in: fixture)
        var now = Self.start + Self.day
        let found = Recheck.Found(store: StoreName("app-db"), rowCount: 3)
        for count in 1...2 {
            let due = try #require(try await Self.due(fixture, after: count).rechecks.first)
            let returned = Recheck(at: now, .returned, found: [found])
            let next = EndedRecheck.Next.due(now + Self.day, stage: 0, openedAt: now)
            _ = try await fixture.database.endRechecks([EndedRecheck(due, returned, next: next)])
            let record = try await fixture.database.requestRecord(id)
            #expect(record?.openRecheck?.returnedAt == Self.start + Self.day)
            #expect(record?.rechecks.count == count)
            #expect(try await fixture.database.returnedRecheckCount() == 1)
            now = now + Self.day
        }
        let due = try #require(try await Self.due(fixture, after: 3).rechecks.first)
        let later = EndedRecheck.Next.due(now + Self.day, stage: 0, openedAt: now)
        _ = try await fixture.database.endRechecks([EndedRecheck(due, nil, next: later)])
        #expect(try await fixture.database.returnedRecheckCount() == 1)
        let again = try #require(try await Self.due(fixture, after: 4).rechecks.first)
        let clean = EndedRecheck(again, Recheck(at: now, .clean), next: later)
        _ = try await fixture.database.endRechecks([clean])
        #expect(try await fixture.database.returnedRecheckCount() == 0)
        let leaves = try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves)
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(leaves.count { $0.contains(#""event":"returned""#) } == 2)
        #expect(leaves.count { $0.contains(#""event":"rechecked""#) } == 1)
        let proofs = try await fixture.database.ledgerProofs(of: id, in: leaves.count)
        #expect(proofs.count { String(decoding: $0.leaf, as: UTF8.self).contains("returned") } == 2)
    }

    @Test func `an operator ends a case, and the ledger says who`() async throws {
        let fixture = try StateFixture()
        let id = try await Self.complete("a", in: fixture)
        var wereOpen: [Bool] = []
        for reason in ["first", "refused"] {
            wereOpen.append(
                try await fixture.database.abandonRecheck(
                    of: id,
                    by: 1003,
                    at: Self.start,
                    note: ("over", reason)
                )
            )
        }
        #expect(wereOpen == [true, false])
        let note = try await fixture.database.note("over")
        #expect(note == "first", "a refused act changes nothing")
        let record = try #require(try await fixture.database.requestRecord(id))
        #expect(record.openRecheck == nil && record.rechecks.map(\.outcome) == [.abandoned])
        let leaves = try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves)
        let last = String(decoding: try #require(leaves.last), as: UTF8.self)
        #expect(last.contains(#""detail":"abandoned""#) && last.contains(#""uid":1003"#))
    }

    @Test(.onlySQLite)
    func `nothing of closed cases is left in our files after the scrub`() async throws {
        let fixture = try StateFixture()
        // Enough for pages to be split, merged and given back.
        let users = (0..<120).map { "canary-user-\($0)-5b1e7c90" }
        for user in users { _ = try await Self.complete(user, in: fixture) }
        _ = try await fixture.database.scrub()
        #expect(fixture.filesHolding("sealed canary-user-7-") == ["state.db"])
        let due = try await Self.due(fixture, after: 1, limit: 1000).rechecks
        #expect(due.count == 120)
        for (index, entry) in due.enumerated() where index % 10 != 0 {
            let later = EndedRecheck.Next.due(.distantFuture, stage: 1, openedAt: Self.start)
            let clean = Recheck(at: Self.start, .clean)
            let ended = EndedRecheck(entry, clean, next: index % 3 == 0 ? later : .closed)
            _ = try await fixture.database.endRechecks([ended])
        }
        _ = try await fixture.database.scrub()
        for (index, user) in users.enumerated() where index % 7 == 0 {
            let isClosed = index % 10 != 0 && index % 3 != 0
            #expect(fixture.filesHolding("sealed \(user)").isEmpty == isClosed, "\(index)")
            let key = StateFixture.hash("case key of \(user)")
            #expect(fixture.filesHolding(key).isEmpty == isClosed, "\(index)")
        }
    }

    @Test func `what the column says comes back, and only the last ones are kept`() throws {
        let store = StoreName("app-db")
        let all = Recheck.Outcome.allCases.map {
            Recheck(
                at: Self.start,
                $0,
                found: [Recheck.Found(store: store, rowCount: 7)],
                missing: [StoreName("old-db"), StoreName("x")]
            )
        }
        #expect(try [Recheck](columnText: all.columnText) == all)
        #expect(try [Recheck](columnText: nil).isEmpty)
        let many = (0..<100).map { Recheck(at: Self.start + .seconds($0), .clean) }
        let kept = try [Recheck](columnText: many.columnText)
        #expect(kept == many.suffix([Recheck].storedCountMax))
        let bad = [
            #"["x","clean",[],[]]"#, #"[1,"dirty",[],[]]"#, "[1]", #"[1,"returned",["app-db"],[]]"#,
        ]
        for bad in bad + ["1 clean"] {
            #expect(throws: StorageError.self) { try [Recheck](columnText: "[\(bad)]") }
        }
    }

    @Test func `only a case that is due before the others is told about`() async throws {
        let alarm = RecheckAlarm()
        alarm.expect(Self.start + .seconds(60))
        var signals = alarm.signal.signals.makeAsyncIterator()
        // The one of the start.
        _ = await signals.next()
        alarm.opened(dueAt: Self.start + .seconds(61))
        alarm.opened(dueAt: Self.start + .seconds(59))
        alarm.finish()
        var told = 0
        while await signals.next() != nil { told += 1 }
        #expect(told == 1)
    }
}
