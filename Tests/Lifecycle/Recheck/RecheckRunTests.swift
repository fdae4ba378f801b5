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
            .begin, .learned(alarm: nil), .foundOpen([:]),
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
                "learnTombstones", "findOpen", "loadTombstones", "findLate", "list app-db own",
                "findBegun", "readHolds", "note", "purge app-db own", "verify app-db own",
                "record", "loadTombstones",
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
        machine.send([.begin, .learned(alarm: "rolled_back")])
        #expect(machine.run.phase.isEnded)
        #expect(machine.run.report.stores.first?.error == "rolled_back")
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
