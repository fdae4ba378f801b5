import Lifecycle
import Testing

/// A hold on a store, or on rows of it, as the state machine sees it.
struct StoreHoldTests {
    private static let second = StoreName("uploads")

    private static func hold(
        _ name: String = "case",
        on store: StoreName = Sample.database,
        isOfRows: Bool = false
    ) -> StoreHold {
        let filter = RowFilter(
            table: "orders",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        return StoreHold(
            name: name,
            store: store,
            rows: isOfRows ? filter : nil,
            since: Sample.start,
            uid: 1
        )
    }

    private static func counts(_ held: Int, deleted: Int = 2) -> PurgeCounts {
        var counts = PurgeCounts(entries: [
            .init(name: "orders", action: .rule(.delete), rowCount: deleted)
        ])
        if held > 0 {
            counts.entries.append(
                .init(name: "orders", action: .held, rowCount: held)
            )
        }
        return counts
    }

    /// A deletion with two stores whose purge is about to begin.
    private static func machine(_ holds: [StoreHold]) throws -> Machine {
        var machine = Machine(stores: [Sample.database, second])
        machine.environment.holds = holds
        try machine.revokeEverything()
        return machine
    }

    @Test func `revocation goes on, the other store is purged, then the request waits`() throws {
        var machine = try Self.machine([Self.hold()])
        #expect(machine.request.openRevocationCount == 0)
        #expect(machine.request.purges.map(\.isBusy) == [false, true])
        let parked = try machine.send(.purged(Self.second, .done(PurgeCounts())))
        #expect(parked == [.announce(.parked(.onHold))])
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(machine.request.dueAt == nil)
        #expect(try machine.send(.due) == [])
        machine.environment.holds = []
        #expect(
            try machine.send(.due) == [.purge(Sample.database), .announce(.resumed)]
        )
    }

    @Test func `with every store held the purge is not begun, so a cancel is not too late`() throws
    {
        var machine = try Self.machine([Self.hold(), Self.hold("b", on: Self.second)])
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(machine.request.purgeStartedAt == nil)
        #expect(try machine.send(.cancel) == [.announce(.cancelled)])
    }

    @Test func `a purge that was stopped is no attempt and no failure, and begins again`() throws {
        var machine = try Self.machine([])
        let before = machine.request.purges
        machine.environment.holds = [Self.hold()]
        #expect(
            try machine.send(.purged(Sample.database, .stopped)) == [.purge(Self.second)]
        )
        let work = machine.request.purges[0]
        #expect(work.attempts == 0 && before[0].attempts == 1)
        #expect(work.failures == 0 && work.retryAt == nil && work.lastFailure == nil)
        _ = try machine.send(.purged(Self.second, .done(PurgeCounts())))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        machine.environment.holds = []
        #expect(try machine.send(.due) == [.purge(Sample.database), .announce(.resumed)])
    }

    @Test func `a hold that comes while the purge runs lets it end and is verified`() throws {
        var machine = try Self.machine([])
        machine.environment.holds = [Self.hold()]
        #expect(try machine.send(.due) == [])
        #expect(
            try machine.send(.purged(Sample.database, .done(PurgeCounts())))
                == [.purge(Self.second)]
        )
        #expect(
            try machine.send(.purged(Self.second, .done(PurgeCounts())))
                == [.verify(Sample.database)]
        )
        // What came back stays, since it is held now.
        _ = try machine.send(.verified(Sample.database, .remaining(1)))
        machine.pass(.seconds(86_400))
        _ = try machine.send(.due)
        #expect(machine.request.phase.parkReason == .onHold)
    }

    @Test func `held rows keep the store open until the holds change`() throws {
        let hold = Self.hold(isOfRows: true)
        var machine = try Self.machine([hold])
        machine.environment.holds.append(Self.hold("other", on: Self.second, isOfRows: true))
        _ = try machine.send(.purged(Sample.database, .held(Self.counts(3), under: ["case"])))
        #expect(machine.request.purges[0].step == .waiting)
        #expect(machine.request.purges[0].lastFailure == "on_hold")
        _ = try machine.send(.purged(Self.second, .done(PurgeCounts())))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(try machine.send(.due) == [])
        #expect(machine.request.purges[0].counts.heldCount == 3)

        machine.environment.holds.removeFirst()
        #expect(
            try machine.send(.due) == [.purge(Sample.database), .announce(.resumed)]
        )
        _ = try machine.send(.purged(Sample.database, .done(Self.counts(0, deleted: 3))))
        #expect(machine.request.purges[0].step == .purged)
        // What went before and after; that rows were held stays on the receipt.
        #expect(machine.request.purges[0].counts.workedCount == 5)
        #expect(machine.request.purges[0].counts.heldCount == 3)
    }

    @Test(
        "what goes last waits for a held store, in any order of the stores",
        arguments: [true, false],
        [[Sample.database, second, Sample.files], [Sample.files, second, Sample.database]]
    )
    func last(isOfRows: Bool, _ stores: [StoreName]) throws {
        var machine = Machine(stores: stores)
        machine.environment.lastStores = [Sample.files]
        machine.environment.holds = [Self.hold(isOfRows: isOfRows)]
        try machine.revokeEverything()
        if machine.request.purges.contains(where: { $0.store == Sample.database && $0.isBusy }) {
            let held = PurgeAnswer.held(Self.counts(1), under: ["case"])
            _ = try machine.send(.purged(Sample.database, held))
        }
        _ = try machine.send(.purged(Self.second, .done(PurgeCounts())))
        if machine.request.phase != .parked(.purging, .onHold, until: nil) {
            let held = PurgeAnswer.held(Self.counts(1), under: ["case"])
            _ = try machine.send(.purged(Sample.database, held))
        }
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(!machine.request.isBusy)
        let account = machine.request.purges.first { $0.store == Sample.files }
        #expect(account?.attempts == 0)
        machine.environment.holds = []
        #expect(
            try machine.send(.due) == [.purge(Sample.database), .announce(.resumed)]
        )
        #expect(
            try machine.send(.purged(Sample.database, .done(PurgeCounts())))
                == [.purge(Sample.files)]
        )
    }

    @Test func `with only a last one left the purge has not begun, and two of them go together`()
        throws
    {
        var machine = Machine(stores: [Sample.database, Sample.files, Self.second])
        machine.environment.lastStores = [Sample.files, Self.second]
        machine.environment.holds = [Self.hold()]
        try machine.revokeEverything()
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(machine.request.purgeStartedAt == nil)
        machine.environment.holds = [Self.hold(on: Sample.files)]
        #expect(try machine.send(.due).contains(.purge(Sample.database)))
        #expect(
            try machine.send(.purged(Sample.database, .done(PurgeCounts())))
                == [.purge(Self.second)]
        )
    }

    @Test func `of holds on rows those are named that keep rows of the user`() throws {
        let rows = Self.hold(isOfRows: true)
        let filter = RowFilter(table: "posts", conditions: rows.rows?.conditions ?? [])
        let posts = StoreHold(
            name: "posts",
            store: Sample.database,
            rows: filter,
            since: Sample.start,
            uid: 1
        )
        let elsewhere = Self.hold("other", on: Self.second, isOfRows: true)
        var machine = try Self.machine([rows, posts, elsewhere])
        func named() -> [String] {
            machine.request.purges[0].stops(among: machine.environment.holds).map(\.name)
        }
        #expect(named() == [])
        let names: Set = ["case", "posts"]
        _ = try machine.send(.purged(Sample.database, .held(Self.counts(3), under: names)))
        #expect(named() == ["case"])
        // Held rows of `posts` keep rows of `orders`, to which they refer.
        machine.environment.holds.removeFirst()
        #expect(named() == ["posts"])
        machine.environment.holds.append(Self.hold("all"))
        #expect(named() == ["all"])
        _ = try machine.send(.purged(Self.second, .done(PurgeCounts())))
        machine.environment.holds = [posts]
        _ = try machine.send(.due)
        _ = try machine.send(.purged(Sample.database, .done(Self.counts(0))))
        #expect(named() == [])
    }

    @Test func `an answer under a hold that is gone by now is asked for again`() throws {
        var machine = try Self.machine([Self.hold(isOfRows: true)])
        machine.environment.holds = []
        #expect(
            try machine.send(.purged(Sample.database, .held(Self.counts(1), under: ["case"])))
                == [.purge(Sample.database)]
        )
    }

    @Test func `the same held rows seen twice are counted once`() throws {
        var counts = Self.counts(3)
        counts.add(Self.counts(2, deleted: 0))
        #expect(counts.heldCount == 2)
        #expect(counts.workedCount == 2)
    }
}
