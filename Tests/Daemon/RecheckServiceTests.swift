import Control
import Encoding
import Engine
import Lifecycle
import Storage
import Testing
import Vault

@testable import Daemon

struct RecheckServiceTests {
    private static let user = "canary-user-9d41b7e60c"
    private static let day = Afterworld.day

    private static func sealed(_ world: Afterworld) async throws -> SealedRecheck {
        let due = try await world.bench.state.dueRechecks(
            under: [Bench.key(1).id],
            at: .distantFuture,
            limit: 1
        )
        return try #require(due.rechecks.first).sealed
    }

    @Test func `after the last look that finds nothing the key is gone from our files`()
        async throws
    {
        let world = try await Afterworld()
        // Until the end the user id may stand there; it shows that the search finds it.
        _ = try await world.submit("canary-user-open-5a6b7c8d")
        let open = try await world.files(holding: Array("canary-user-open-5a6b7c8d".utf8))
        #expect(open == ["state.db"])
        let id = try await world.complete(Self.user)
        let sealed = try await Self.sealed(world)
        #expect(try await world.files(holding: Array(Self.user.utf8)).isEmpty)
        #expect(try await world.files(holding: sealed.recheckKey) == ["state.db"])

        #expect(try await world.look(after: .zero) == Bench.start + Self.day)
        #expect(try await world.look(after: Self.day) == Bench.start + Self.day * 7)
        #expect(try await world.files(holding: sealed.recheckKey) == ["state.db"])
        #expect(try await world.look(after: Self.day * 7) == nil)
        #expect(try await world.files(holding: sealed.recheckKey).isEmpty)
        #expect(try await world.files(holding: sealed.sealedUser).isEmpty)

        let record = try await world.record(id)
        #expect(record.openRecheck == nil)
        #expect(
            record.rechecks == [
                Recheck(at: Bench.start + Self.day, .clean),
                Recheck(at: Bench.start + Self.day * 7, .clean),
            ]
        )
        #expect(world.bench.log.all == ["recheckClosed detail=clean request.id=\(id)"])
        #expect(world.counter.counts == [.clean: 2])
    }

    @Test func `data that came back alarms each time, and the looks begin anew`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        let other = try await world.complete("bystander")
        try await world.look(after: Self.day)
        try await world.insert(Self.user, 3)
        #expect(try await world.look(after: Self.day * 7) == Bench.start + Self.day * 8)
        let alarm = "dataReturned count=3 request.id=\(id) store=app-db"
        #expect(world.bench.log.all.contains(alarm))
        #expect(try await world.record(other).openRecheck == nil)
        let returned = try await world.record(id)
        #expect(returned.openRecheck?.returnedAt == Bench.start + Self.day * 7)

        // Still there a day later; then somebody erases it.
        try await world.look(after: Self.day * 8)
        #expect(world.bench.log.all.count { $0 == alarm } == 2)
        try await world.erase(Self.user)
        #expect(try await world.look(after: Self.day * 9) == Bench.start + Self.day * 15)
        #expect(try await world.record(id).openRecheck?.returnedAt == nil)
        #expect(try await world.look(after: Self.day * 15) == nil)
        #expect(
            try await world.record(id).rechecks.map(\.outcome)
                == [.clean, .returned, .returned, .clean, .clean]
        )
        #expect(try await world.files(holding: Array(Self.user.utf8)).isEmpty)
    }

    @Test func `show, status, metrics and receipt tell of data that came back`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        try await world.insert(Self.user, 3)
        try await world.look(after: Self.day)
        let backend = try world.bench.backend()
        let caller = Caller(role: .operator, uid: 0)
        let shown = try await backend.show(id, caller: caller)
        #expect(shown.detail == "data_returned")
        let steps = shown.steps.filter { $0.kind == .known(.recheck) }
        #expect(steps.map(\.name) == ["recheck app-db", "recheck"])
        #expect(steps.map(\.verdict) == ["returned", nil])
        #expect(steps.last?.retryAt == Bench.start + Self.day * 2)
        #expect(try await backend.status(caller: caller).alarms.contains("data_returned"))
        let metrics = try await backend.metrics(caller: caller)
        #expect(metrics.contains("expunged_deletions_returned 1\n"))
        let receipt = try await backend.receipt(id, caller: caller)
        guard case .array(let looks)? = receipt["rechecks"] else {
            Issue.record("no looks on the receipt")
            return
        }
        #expect(looks.map { $0["outcome"] } == [.string("returned")])
        #expect(receipt["data_returned_at"] == .string((Bench.start + Self.day).rfc3339))
        guard case .string(let summary)? = receipt["summary"] else {
            Issue.record("no summary")
            return
        }
        #expect(summary.contains("DATA CAME BACK"))
    }

    @Test func `rows that are newer than the request are not what came back`() async throws {
        // The cutoff of the purge is part of the case: see that it reaches the store.
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        let due = try await world.bench.state.dueRechecks(
            under: [Bench.key(1).id],
            at: .distantFuture,
            limit: 1
        )
        #expect(due.rechecks.first?.cutoff == Bench.start)
        #expect(due.rechecks.first?.sealed.request == id)
    }

    @Test func `a row of the far future is of a later life, and did not come back`() async throws {
        let world = try await Afterworld(isDated: true)
        let id = try await world.complete(Self.user)
        try await world.insert(Self.user, 1)
        try await world.date(Self.user, at: 9_999_999_999)
        #expect(try await world.look(after: Self.day) == Bench.start + Self.day * 7)
        #expect(try await world.record(id).openRecheck?.returnedAt == nil)
        try await world.date(Self.user, at: 1)
        try await world.look(after: Self.day * 7)
        #expect(try await world.record(id).openRecheck?.returnedAt == Bench.start + Self.day * 7)
    }

    @Test func `a store that is away is asked later, and told about after three days`()
        async throws
    {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        try await world.setBroken(true)
        let rechecks = try world.rechecks()
        var run = RecheckRun(.rechecks)
        try await world.clock.sleep(until: Bench.start + Self.day)
        var next = try #require(try await rechecks.recheck(&run))
        #expect(next == Bench.start + Self.day + .seconds(60))
        while next < Bench.start + Self.day * 4 + .seconds(7 * 3600) {
            #expect(next.since(world.clock.now()) <= .seconds(6 * 3600))
            try await world.clock.sleep(until: next)
            next = try #require(try await rechecks.recheck(&run))
        }
        #expect(world.bench.log.all.filter { $0.hasPrefix("recheckOverdue") }.count == 1)
        #expect(world.counter.overdue == [StoreName("app-db")])
        #expect(try await world.record(id).rechecks.isEmpty)

        try await world.setBroken(false)
        try await world.clock.sleep(until: next)
        #expect(try await rechecks.recheck(&run) == Bench.start + Self.day * 7)
        #expect(world.counter.overdue.isEmpty)
        #expect(try await world.record(id).rechecks.map(\.outcome) == [.clean])
    }

    @Test func `a paused store is left alone`() async throws {
        let world = try await Afterworld()
        try await world.complete(Self.user)
        try await world.insert(Self.user)
        let name = StoreName("app-db")
        _ = try await world.bench.state.commit([
            .pauseStore(name, reason: "operator", at: Bench.start)
        ])
        try await world.look(after: Self.day)
        #expect(world.bench.log.all.isEmpty)
        _ = try await world.bench.state.commit([.resumeStore(name, at: Bench.start)])
        try await world.look(after: Self.day * 2)
        #expect(world.counter.counts == [.returned: 1])
    }

    @Test func `what nobody can look at is closed and says so`() async throws {
        let world = try await Afterworld()
        let gone = try await world.complete("gone")
        try world.removeStores()
        try await world.look(after: Self.day)
        let name = StoreName("app-db")
        #expect(
            try await world.record(gone).rechecks
                == [Recheck(at: Bench.start + Self.day, .unverified, missing: [name])]
        )

        let lost = try await world.complete("lost", vault: try SealedUsers.vault(9))
        let without = SealedVault(
            keyring: VaultKeyring(active: try Bench.key(1)),
            lostKeyIDs: [try Bench.key(9).id]
        )
        try await world.look(after: Self.day * 3, without)
        #expect(try await world.record(lost).rechecks.map(\.outcome) == [.unreadable])
        #expect(try await world.record(lost).openRecheck == nil)
    }

    @Test func `without its vault key a case waits`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        #expect(try await world.look(after: Self.day, SealedVault(keyring: nil)) == nil)
        #expect(try await world.look(after: Self.day, SealedUsers.vault(2)) == nil)
        #expect(try await world.record(id).openRecheck?.dueAt == Bench.start + Self.day)
        try await world.look(after: Self.day * 2)
        #expect(try await world.record(id).rechecks.count == 1)
    }

    @Test func `looks that fell due while nothing ran are one, and a shorter list ends earlier`()
        async throws
    {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        #expect(try await world.look(after: Self.day * 30) == nil)
        #expect(try await world.record(id).rechecks.count == 1)
        #expect(try await world.record(id).openRecheck == nil)
    }

    @Test func `more cases than one batch are all looked at`() async throws {
        let world = try await Afterworld()
        for number in 0..<(Limits.purgeBatchMax + 5) {
            try await world.complete("user-\(number)")
        }
        try await world.look(after: Self.day)
        #expect(world.counter.counts == [.clean: Limits.purgeBatchMax + 5])
    }

    @Test func `runs at the time of each case, and sleeps in between`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        try await world.insert(Self.user)
        let rechecks = try world.rechecks()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rechecks.run() }
            for await _ in world.bench.log.changes { break }
            group.cancelAll()
        }
        #expect(world.bench.log.all.first?.hasPrefix("dataReturned") == true)
        #expect(try await world.record(id).rechecks.first?.at == Bench.start + Self.day)
    }

    @Test func `an operator ends a case with a reason, on the receipt for good`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        let backend = try world.bench.backend()
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        let abandon = RequestAction.abandon(reason: "registered anew", provider: nil)
        let shown = try await backend.act(abandon, on: id, caller: caller)
        #expect(shown.steps.last?.verdict == "abandoned")
        #expect(try await world.record(id).openRecheck == nil)
        let receipt = try await backend.receipt(id, caller: caller)
        #expect(receipt["rechecks_abandoned"]?["reason"] == .string("registered anew"))
        #expect(receipt["rechecks_abandoned"]?["uid"] == .integer(1000))
        let log = world.bench.log.all
        #expect(log.contains { $0.hasPrefix("operatorAction") && !$0.contains("anew") })
        await #expect(throws: ControlProblem.self) {
            try await backend.act(abandon, on: id, caller: caller)
        }
    }

    @Test func `a rotation of the vault key takes the cases along`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        let old = try await Self.sealed(world)
        let rotation = KeyRotation(
            state: world.bench.state,
            vault: try SealedUsers.vault(2, retired: [1]),
            clock: JumpingClock(),
            logger: world.bench.log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rotation.run() }
            try await rotation.begin()
            for await _ in world.bench.log.changes where rotation.progress.endedAt != nil { break }
            group.cancelAll()
        }
        #expect(try await world.bench.state.vaultKeyIDs() == [Bench.key(2).id])
        #expect(rotation.progress.rewrapped == 1)
        #expect(try await world.files(holding: old.recheckKey).isEmpty)
        try await world.look(after: Self.day, SealedUsers.vault(2))
        #expect(try await world.record(id).rechecks.map(\.outcome) == [.clean])
    }

    @Test func `the engine opens a case with the commit that completes, and none when off`()
        async throws
    {
        for (settings, isOn) in [(Afterworld.settings, true), ("[requests]\nrechecks = []", false)]
        {
            let world = try await Afterworld(settings)
            try await world.insert(Self.user)
            let loaded = try await world.submit(Self.user)
            try await Self.run(world, until: loaded.request.id)
            let record = try await world.record(loaded.request.id)
            #expect((record.openRecheck != nil) == isOn)
            guard isOn else { continue }
            let sealed = try await Self.sealed(world)
            #expect(try SealedUsers.vault(1).openRecheck(sealed).exposeText() == Self.user)
        }
    }

    /// Runs an engine until a request has ended.
    private static func run(_ world: Afterworld, until id: RequestID) async throws {
        let hub = EventHub()
        let vault = try SealedUsers.vault(1)
        let engine = DeletionEngine(
            core: EngineCore(
                configuration: world.registry.current.engineConfiguration,
                pauses: StoredPauses(),
                isVaultOpen: true,
                seed: 1
            ),
            ports: EnginePorts(
                state: world.bench.state,
                vault: vault,
                hasher: world.bench.hasher,
                observer: Reporter(
                    logger: world.bench.log.logger,
                    hub: hub,
                    now: { Bench.start },
                    signalMirror: {}
                ),
                clock: world.clock,
                makeRowNonce: { [] },
                rechecks: try world.sealer()
            ),
            adapters: world.registry.current.forEngine
        )
        let changes = hub.listen(to: id)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for await event in changes where event.state == "completed" { break }
            group.cancelAll()
        }
    }

    @Test func `after a repair an operator has returned data rechecked at once`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        try await world.insert(Self.user, 3)
        #expect(try await !world.sampler(every: Self.day * 7).areFollowed([id]))
        try await world.look(after: Self.day)
        try await world.erase(Self.user)
        let backend = try world.bench.backend()
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        let shown = try await backend.act(.retry, on: id, caller: caller)
        #expect(shown.detail == "data_returned")
        #expect(try await world.look(after: Self.day + .seconds(1)) == Bench.start + Self.day * 8)
        #expect(try await backend.show(id, caller: caller).detail != "data_returned")
        #expect(try await !backend.status(caller: caller).alarms.contains("data_returned"))
    }

    // MARK: Samples

    @Test func `a sample finds who was erased long ago, in turn, and tells once each time`()
        async throws
    {
        let world = try await Afterworld()
        try await world.complete(Self.user)
        try await world.complete("bystander")
        try await world.look(after: Self.day * 7)
        try await world.insert(Self.user)
        try await Self.sample(world)
        let alarm = "dataReturned count=1 detail=sample store=app-db"
        #expect(world.bench.log.all.last == alarm)
        let leaves = try await world.bench.state.ledgerRows(from: 0).flatMap(\.leaves)
        let last = String(decoding: try #require(leaves.last), as: UTF8.self)
        #expect(last.contains(#""detail":"sample""#) && last.contains(#""rows":2"#))
    }

    @Test func `a sample opens the case anew, and the looks go on until the data is gone`()
        async throws
    {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        try await world.complete("bystander")
        try await world.look(after: Self.day * 7)
        try await world.insert(Self.user)
        let before = world.counter.counts[.returned] ?? 0
        try await Self.sample(world)
        #expect(
            world.bench.log.all.contains("dataReturned count=2 request.id=\(id) store=app-db")
        )
        #expect(world.counter.counts[.returned] == before + 1)
        let found = Recheck.Found(store: StoreName("app-db"), rowCount: 2)
        let record = try await world.record(id)
        #expect(
            record.rechecks.last?.outcome == .returned && record.rechecks.last?.found == [found]
        )
        let returnedAt = try #require(record.openRecheck?.returnedAt)
        #expect(record.openRecheck?.dueAt == returnedAt + Self.day)
        #expect(try await world.bench.state.returnedRecheckCount() == 1)
        #expect(try await world.sampler(every: Self.day * 7).areFollowed([id]))
        // The next sample leaves an open case to its own looks.
        try await Self.sample(world)
        #expect(try await world.record(id).rechecks.count == record.rechecks.count)
        try await world.erase(Self.user)
        try await world.look(after: Self.day * 60)
        try await world.look(after: Self.day * 70)
        let end = try await world.record(id)
        #expect(end.openRecheck == nil && end.rechecks.last?.outcome == .clean)
        #expect(try await world.bench.state.returnedRecheckCount() == 0)
    }

    @Test func `a store that a deletion did not know is looked at once data was found in it`()
        async throws
    {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user, stores: ["former"])
        try await world.look(after: Self.day * 7)
        try await world.insert(Self.user)
        try await Self.sample(world)
        let returnedAt = try #require(try await world.record(id).openRecheck?.returnedAt)
        try await world.look(after: returnedAt.since(Bench.start) + Self.day)
        let again = try #require(try await world.record(id).rechecks.last)
        #expect(again.outcome == .returned && again.found.map(\.store) == [StoreName("app-db")])
        try await world.erase(Self.user)
        try await world.look(after: Self.day * 60)
        let last = try #require(try await world.record(id).rechecks.last)
        #expect(last.outcome == .clean && last.missing == [StoreName("former")])
    }

    @Test func `a sample does not open a case anew whose looks an operator ended`() async throws {
        let world = try await Afterworld()
        let id = try await world.complete(Self.user)
        let isOpen = try await world.bench.state.abandonRecheck(
            of: id,
            by: 1000,
            at: world.clock.now(),
            note: ("over", "1000 reason")
        )
        #expect(isOpen)
        try await world.insert(Self.user)
        try await Self.sample(world)
        let record = try await world.record(id)
        #expect(record.openRecheck == nil && record.rechecks.map(\.outcome) == [.abandoned])
        #expect(try await world.sampler(every: Self.day * 7).areFollowed([id]))
    }

    /// Runs the sampler until it has told something.
    private static func sample(_ world: Afterworld) async throws {
        let sampler = try world.sampler(every: day * 7)
        let before = world.bench.log.all.count
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sampler.run() }
            for await _ in world.bench.log.changes
            where world.bench.log.all.dropFirst(before).contains(where: { $0.contains("sample") }) {
                break
            }
            group.cancelAll()
        }
    }
}
