import Lifecycle
import Testing

struct RecheckRunTests {
    private static func begun(
        _ environment: RecheckEnvironment = RunMachine.single(),
        _ change: (inout ReplayTerms) -> Void = { _ in }
    ) throws -> RunMachine {
        var machine = RunMachine(replay: change)
        machine.environment = environment
        let user = try #require(RunMachine.user)
        machine.send([
            .begin, .readAlarm(nil), .learned(isReadable: true), .foundOpen([:]),
            .loaded([RunMachine.tombstone], next: 1), .foundLate([]),
            .listed(.found([(user, RunMachine.hash)])), .foundBegun([]),
        ])
        return machine
    }

    @Test func `a user who is found again is noted, purged, verified and recorded`() throws {
        var machine = try Self.begun()
        machine.send([
            .readHolds([], UsersOnHold()), .noted([]), .purged([.done(RunMachine.counts(3))]),
            .verified([.clean]), .recorded, .loaded([], next: 1),
        ])
        #expect(
            machine.effects.filter { !$0.isAnnouncement }.map(\.call) == [
                "readAlarm", "learnTombstones", "findOpen", "loadTombstones", "findLate",
                "list app-db own", "findBegun", "readHolds", "note", "purge app-db own",
                "verify app-db own", "record", "loadTombstones",
            ]
        )
        #expect(machine.run.phase.isEnded)
        #expect(machine.run.report.isComplete)
        #expect(machine.database?.erased == 1)
        #expect(machine.database?.rows == 3)
    }

    @Test func `what the rows of a store lead to is erased after it, and then forgotten`() throws {
        var machine = try Self.begun(RunMachine.environment)
        machine.send([
            .readHolds([], UsersOnHold()), .noted([]), .purged([.done(RunMachine.counts(1))]),
            .verified([.clean]), .recorded, .readHolds([], UsersOnHold()), .noted([]),
            .purged([.done(RunMachine.counts(2))]), .verified([.clean]), .recorded, .recorded,
        ])
        let calls = machine.effects.map(\.call)
        #expect(calls.suffix(6).first == "note")
        #expect(calls.contains("purge crm led"))
        #expect(calls.suffix(2) == ["forgetLate", "list crm own"])
    }

    @Test(arguments: [[], [RunMachine.crm], [Sample.database]] as [Set<StoreName>])
    func `a sample does not look where an operator gave up erasing`(
        _ givenUp: Set<StoreName>
    ) throws {
        var tombstone = RunMachine.tombstone
        tombstone.givenUp = givenUp
        var machine = RunMachine(.sample(after: 0))
        machine.environment = RunMachine.single()
        let user = try #require(RunMachine.user)
        machine.send([
            .begin, .loaded([tombstone], next: 1), .listed(.found([(user, RunMachine.hash)])),
        ])
        let isAsked = machine.effects.map(\.call).contains("verify app-db own")
        #expect(isAsked != givenUp.contains(Sample.database))
        #expect(machine.run.phase.isEnded != isAsked)
    }

    @Test func `holds that come between are no failed tries, and what is purged is noted once`()
        throws
    {
        var machine = try Self.begun()
        machine.send([.readHolds([], UsersOnHold()), .noted([])])
        for _ in 0..<20 {
            machine.send([
                .purged([.stopped]), .verified([.remaining(3)]), .due,
                .readHolds([], UsersOnHold()),
            ])
        }
        machine.send([
            .purged([.done(RunMachine.counts(3))]), .verified([.clean]), .recorded,
            .loaded([], next: 1),
        ])
        #expect(machine.run.report.isComplete)
        #expect(machine.database?.erased == 1)
        #expect(machine.effects.count { $0.call == "note" } == 1)
    }

    @Test("a late id of a key has tombstones name who is on hold", arguments: [true, false])
    func lateHold(isKey: Bool) throws {
        var machine = RunMachine(replay: { _ in })
        let tombstone = Tombstone(
            hash: RunMachine.hash,
            erasedAt: Sample.start,
            request: RunMachine.request,
            isKey: isKey
        )
        machine.send([
            .begin, .readAlarm(nil), .learned(isReadable: true), .foundOpen([:]),
            .loaded([tombstone], next: 1), .foundLate([RunMachine.request]),
        ])
        guard case .state(.readHolds(let withTombstones)) = machine.effects.last else {
            Issue.record("\(machine.effects.map(\.call))")
            return
        }
        #expect(withTombstones == isKey)
    }

    @Test("nothing is purged under a hold, and the answer says so", arguments: [true, false])
    func hold(isOfUser: Bool) throws {
        var machine = try Self.begun()
        let users = UsersOnHold(hashes: isOfUser ? [RunMachine.hash] : [])
        machine.send([
            .readHolds(isOfUser ? [] : [RunMachine.hold()], users), .loaded([], next: 1),
        ])
        #expect(machine.purgeCount == 0)
        #expect(machine.run.phase.isEnded)
        #expect(machine.database?.error == "on_hold")
        #expect(machine.database?.found == 1)
    }

    @Test func `a hold that comes between two tries stops the second`() throws {
        var machine = try Self.begun()
        machine.send([
            .readHolds([RunMachine.hold(isOfRows: true)], UsersOnHold()), .noted([]),
            .purged([.failure(.unreachable)]), .verified([.failure(.unreachable)]), .due,
            .readHolds([RunMachine.hold()], UsersOnHold()),
        ])
        #expect(machine.purgeCount == 1)
        #expect(machine.database?.error == "on_hold")
    }

    @Test func `a store that stays away is tried five times, and named`() throws {
        var machine = try Self.begun()
        for attempt in 1...5 {
            machine.send(.readHolds([], UsersOnHold()))
            if attempt == 1 { machine.send(.noted([])) }
            machine.send([
                .purged([.failure(.unreachable)]), .verified([.failure(.unreachable)]), .due,
            ])
        }
        machine.send(.loaded([], next: 1))
        #expect(machine.purgeCount == 5)
        #expect(machine.database?.error == "unreachable")
        #expect(machine.run.phase.isEnded)
        #expect(!machine.run.report.isComplete)
    }

    @Test("without timestamps only what the operator vouches for is purged", arguments: [0, 1, 2])
    func undated(_ variant: Int) throws {
        let restoredAt = [nil, Sample.start - .seconds(1), Sample.start + .seconds(1)][variant]
        var machine = try Self.begun(RunMachine.single(withoutTimestamps: "no date")) { terms in
            terms.restoredAt = restoredAt
        }
        if variant == 2 {
            machine.send(.readHolds([], UsersOnHold()))
            #expect(machine.phase == "noting")
            return
        }
        machine.send([.verified([.remaining(2)]), .loaded([], next: 1)])
        #expect(machine.purgeCount == 0)
        #expect(machine.database?.error == "undated")
        #expect(machine.database?.newer == 2)
    }

    @Test func `an alarm of the ledger ends a replay before anything is read`() {
        var machine = RunMachine()
        machine.send([.begin, .readAlarm("rolled_back")])
        #expect(machine.run.phase.isEnded)
        #expect(machine.run.report.stores.first?.error == "rolled_back")
        #expect(machine.effects.filter { !$0.isAnnouncement }.map(\.call) == ["readAlarm"])
    }

    @Test func `a drill does not ask the ledger, since it erases nothing`() {
        var machine = RunMachine(replay: { $0.isDrill = true })
        machine.send(.begin)
        #expect(machine.phase == "learning")
    }

    @Test func `checkpoint files that cannot be read end a replay`() {
        var machine = RunMachine()
        machine.send([.begin, .readAlarm(nil), .learned(isReadable: false)])
        #expect(machine.run.phase == .ended(next: nil))
        #expect(machine.run.report == RecheckReport().broken("checkpoint_file"))
    }

    @Test func `without a vault key the rechecks end, and none is planned`() {
        var machine = RunMachine(.rechecks)
        machine.send([.begin, .vaultSealed])
        #expect(machine.run.phase == .ended(next: nil))
        #expect(machine.effects.map(\.call) == ["loadDue"])
    }

    @Test(
        "a record that does not open is closed only if it never will",
        arguments: [
            (EffectFailure.sealBroken, true), (.vaultSealed, false), (.lost, false),
        ]
    )
    func unopened(_ failure: EffectFailure, isClosed: Bool) {
        var machine = RunMachine(.rechecks)
        let unopened = UnopenedRecheck(due: RunMachine.due(), failure: failure)
        machine.send([.begin, .loadedDue(DuePage(unopened: [unopened]))])
        guard case .closing(let ended) = machine.run.phase else {
            Issue.record("no outcome")
            return
        }
        let later = EndedRecheck.Next.due(
            machine.now + .seconds(6 * 3600),
            stage: 0,
            openedAt: Sample.start
        )
        #expect(ended.map(\.next) == [isClosed ? .closed : later])
        #expect(ended.first?.recheck?.outcome == (isClosed ? .unreadable : nil))
    }

    @Test func `a recheck that finds data says so and begins anew`() throws {
        var machine = RunMachine(.rechecks)
        machine.send([
            .begin, .loadedDue(try RunMachine.page([RunMachine.due()])),
            .verified([.remaining(4)]),
        ])
        guard case .closing(let ended) = machine.run.phase else {
            Issue.record("no outcome")
            return
        }
        #expect(ended.first?.recheck?.outcome == .returned)
        let next = EndedRecheck.Next.due(machine.now + Sample.day, stage: 0, openedAt: machine.now)
        #expect(ended.first?.next == next)
        #expect(machine.purgeCount == 0)
    }

    @Test func `a store that is paused is asked later, and a clean recheck is the last one`() throws
    {
        var machine = RunMachine(.rechecks)
        let page = try RunMachine.page([RunMachine.due()], paused: [Sample.database])
        machine.send([.begin, .loadedDue(page)])
        guard case .closing(let waiting) = machine.run.phase else {
            Issue.record("no outcome")
            return
        }
        #expect(waiting.first?.recheck == nil)
        machine.now = machine.now + .seconds(61)
        machine.send([
            .closed([]), .loadedDue(try RunMachine.page([RunMachine.due()])), .verified([.clean]),
        ])
        guard case .closing(let ended) = machine.run.phase else {
            Issue.record("no outcome")
            return
        }
        #expect(ended.first?.next == .closed)
    }

    struct Opening: Sendable {
        let intervals: [Duration]
        let endedAt: WallTime?
        let dueAt: WallTime?
    }

    @Test(
        "a deletion has a recheck record from its end on, if there are rechecks",
        arguments: [
            Opening(
                intervals: [Sample.day, Sample.day * 7],
                endedAt: Sample.start,
                dueAt: Sample.start + Sample.day
            ),
            Opening(intervals: [], endedAt: Sample.start, dueAt: nil),
            Opening(intervals: [Sample.day], endedAt: nil, dueAt: nil),
        ]
    )
    func opening(_ given: Opening) {
        var request = Machine().request
        request.endedAt = given.endedAt
        let times = RecheckRun.opening(of: request, intervals: given.intervals)
        #expect(times?.dueAt == given.dueAt)
        #expect(times?.openedAt == given.dueAt.flatMap { _ in given.endedAt })
    }

    /// How often a store was reported as overdue after each recheck that the store leaves
    /// unanswered, or answers.
    private static func warnings(
        _ tries: [(after: Duration, answer: VerifyAnswer)]
    ) throws -> [Int] {
        var machine = RunMachine(.rechecks)
        let overdueAt = Sample.start + Sample.day + RecheckRun.overdueAfter
        return try tries.map { attempt in
            machine.now = overdueAt + attempt.after
            machine.send(.begin)
            machine.send(.loadedDue(try RunMachine.page([RunMachine.due()])))
            machine.send(.verified([attempt.answer]))
            machine.send([.closed([]), .loadedDue(DuePage())])
            return machine.effects.count { effect in
                if case .announce(.overdue(Sample.database)) = effect { true } else { false }
            }
        }
    }

    @Test func `a store that stays away for three days is reported, and then once a day`() throws {
        let away = VerifyAnswer.failure(.unreachable)
        let warnings = try Self.warnings([
            (.zero, away), (.seconds(3600), away), (.seconds(2 * 86_400), away),
            (.seconds(2 * 86_400 + 43_200), away), (.seconds(3 * 86_400), away),
        ])
        #expect(warnings == [0, 1, 2, 2, 3])
    }

    @Test func `a store that answered and is away again is reported at once`() throws {
        let away = VerifyAnswer.failure(.unreachable)
        let warnings = try Self.warnings([
            (.seconds(3600), away), (.seconds(12 * 3600), .clean), (.seconds(13 * 3600), away),
        ])
        #expect(warnings == [1, 1, 2])
    }

    @Test func `whatever is answered, only replays purge, and only what they noted under no hold`()
        throws
    {
        var purges = 0
        for seed in 1...2000 as ClosedRange<UInt64> {
            var life = RunLife(seed: seed)
            try life.play()
            #expect(life.violations.isEmpty, "seed \(seed): \(life.violations)")
            #expect(life.machine.run.phase.isEnded, "seed \(seed): \(life.machine.phase)")
            purges += life.purgeCount
        }
        #expect(purges > 500)
    }
}
