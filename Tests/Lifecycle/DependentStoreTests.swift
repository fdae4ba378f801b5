import Lifecycle
import Testing

/// A store whose ids are found in the rows of another one, as the state machine sees it.
struct DependentStoreTests {
    private static let files = StoreName("uploads")
    private static let mail = StoreName("mail")
    private static let done = PurgeAnswer.done(PurgeCounts())
    private static let found = PurgeCounts(entries: [
        .init(name: "f", action: .rule(.delete), rowCount: 3)
    ])

    /// A deletion whose purge is about to begin; files are keyed by the database.
    private static func machine(
        _ stores: [StoreName],
        holds: [StoreHold] = []
    ) throws -> Machine {
        var machine = Machine(stores: stores)
        machine.environment.keySources = [files: Sample.database]
        machine.environment.holds = holds
        try machine.revokeEverything()
        return machine
    }

    @Test(
        "rows go before what they name, and are verified before it, in any order of the stores",
        arguments: [[Sample.database, files], [files, Sample.database]]
    )
    func order(_ stores: [StoreName]) throws {
        var machine = try Self.machine(stores)
        let isBusy = machine.request.purges.filter(\.isBusy).map(\.store)
        #expect(isBusy == [Sample.database])
        #expect(
            try machine.send(.purged(Sample.database, Self.done)) == [.purge(Self.files)]
        )
        #expect(
            try machine.send(.purged(Self.files, Self.done)) == [.verify(Sample.database)]
        )
        // Rows that came up meanwhile may name something new, which is purged before it counts.
        let again = try machine.send(.verified(Sample.database, .remaining(1)))
        #expect(again == [.announce(.remainingRows(Sample.database))])
        #expect(try machine.sendDue() == [.purge(Sample.database)])
        #expect(
            try machine.send(.purged(Sample.database, Self.done)) == [.verify(Sample.database)]
        )
        #expect(try machine.send(.verified(Sample.database, .clean)) == [.verify(Self.files)])
        #expect(
            try machine.send(.verified(Self.files, .clean)) == [.announce(.completed)]
        )
    }

    @Test("a store into which no key led waits for an operator where that is wanted")
    func withoutKeys() throws {
        let stores = [Self.files, Sample.database]
        for isParking in [true, false] {
            var machine = try Self.machine(stores)
            if isParking { machine.environment.keyedStoresToPark = [Self.files] }
            try machine.send(.purged(Sample.database, Self.done))
            try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
            let next = try machine.send(.verified(Sample.database, .clean))
            guard isParking else {
                #expect(next == [.verify(Self.files)])
                let told = try machine.send(.verified(Self.files, .notLookedFor))
                #expect(told == [.announce(.completed)])
                #expect(machine.request.purges[0].counts == Sample.notLookedFor)
                continue
            }
            #expect(next == [.announce(.parked(.withoutKeys))])
            // A key was put back: its row is purged, and what it leads to.
            var retried = machine
            #expect(try retried.send(.retry) == [.purge(Sample.database), .announce(.resumed)])
            let done = try retried.send(.purged(Sample.database, Self.done))
            #expect(done == [.purge(Self.files)])
            let found = try retried.send(.purged(Self.files, .done(Self.found)))
            #expect(found == [.verify(Sample.database)])
            let verified = try retried.send(.verified(Sample.database, .clean))
            #expect(verified == [.verify(Self.files)])
            #expect(try retried.send(.verified(Self.files, .clean)) == [.announce(.completed)])
            #expect(retried.request.purges[0].counts.entries == Self.found.entries)
            // There is none, an operator says.
            #expect(
                try machine.send(.abandon) == [
                    .announce(.abandoned), .verify(Self.files), .announce(.resumed),
                ]
            )
            let told = try machine.send(.verified(Self.files, .notLookedFor))
            #expect(told == [.announce(.completed)])
            let actions = machine.request.purges[0].counts.entries.map(\.action)
            #expect(actions == [.withoutKeys])
        }
    }

    /// Purged without keys; an operator went on.
    private static func abandonedWithoutKeys() throws -> Machine {
        var machine = try Self.machine([Self.files, Sample.database])
        machine.environment.keyedStoresToPark = [Self.files]
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.abandon)
        return machine
    }

    @Test("keys that are found after an operator went on without them count")
    func keysAfterAll() throws {
        var machine = try Self.abandonedWithoutKeys()
        // The rows with the keys are restored before the end.
        #expect(
            try machine.send(.restored([Self.files], at: nil)) == [.purge(Sample.database)]
        )
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Self.found)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.verified(Self.files, .clean))
        #expect(machine.request.phase == .completed)
        #expect(!machine.request.purges[0].counts.isNotLookedFor)
        #expect(machine.request.purges[0].counts.entries == Self.found.entries)
    }

    @Test("an operator who went on without keys need not decide twice")
    func stillNoKeys() throws {
        var machine = try Self.abandonedWithoutKeys()
        try machine.send(.restored([Self.files], at: nil))
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.verified(Self.files, .notLookedFor))
        #expect(machine.request.phase == .completed)
        #expect(machine.request.purges[0].counts.isNotLookedFor)
    }

    @Test("a retry that finds rows in the source does not complete before they are gone")
    func rowsPutBack() throws {
        var machine = try Self.machine([Sample.database, Self.files])
        machine.environment.keyedStoresToPark = [Self.files]
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.retry)
        try machine.send(.purged(Sample.database, .done(Self.found)))
        try machine.send(.purged(Self.files, .done(Self.found)))
        let again = try machine.send(.verified(Sample.database, .remaining(1)))
        #expect(again == [.announce(.remainingRows(Sample.database))])
        #expect(try machine.sendDue() == [.purge(Sample.database)])
        try machine.send(.purged(Sample.database, .done(Self.found)))
        try machine.send(.verified(Sample.database, .clean))
        #expect(try machine.send(.verified(Self.files, .clean)) == [.announce(.completed)])
        #expect(machine.request.purges[0].counts.workedCount == 6)
    }

    @Test("a retry without a key purges the source again, and waits for an operator again")
    func retriedInVain() throws {
        var machine = try Self.machine([Sample.database, Self.files])
        machine.environment.keyedStoresToPark = [Self.files]
        for event in [RequestEvent.due, .retry] {
            try machine.send(event)
            try machine.send(.purged(Sample.database, Self.done))
            try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
            try machine.send(.verified(Sample.database, .clean))
            #expect(machine.request.phase == .parked(.verifying, .withoutKeys, until: nil))
        }
    }

    @Test("a row that is put back leads on through a chain, and to what else its source keys")
    func chainAgain() throws {
        let other = StoreName("other")
        let stores = [Sample.database, Self.files, Self.mail, other]
        var machine = try Self.machine(stores)
        machine.environment.keySources = [
            Self.files: Sample.database, Self.mail: Self.files, other: Sample.database,
        ]
        machine.environment.keyedStoresToPark = [Self.mail]
        for store in [Sample.database, Self.files] {
            try machine.send(.purged(store, Self.done))
        }
        for store in [Self.mail, other] {
            try machine.send(.purged(store, .done(Sample.notLookedFor)))
        }
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.verified(Self.files, .clean))
        try machine.send(.verified(other, .notLookedFor))
        #expect(machine.request.phase == .parked(.verifying, .withoutKeys, until: nil))
        try machine.send(.retry)
        for store in stores {
            #expect(machine.request.purges.filter(\.isBusy).map(\.store) == [store])
            try machine.send(.purged(store, .done(Self.found)))
        }
        for store in stores { try machine.send(.verified(store, .clean)) }
        #expect(machine.request.phase == .completed)
        #expect(!machine.request.purges.contains { $0.counts.isNotLookedFor })
    }

    @Test("rows that come up before the verification lead to what no key led to")
    func keysWithRemainingRows() throws {
        for isParking in [true, false] {
            var machine = try Self.machine([Sample.database, Self.files])
            if isParking { machine.environment.keyedStoresToPark = [Self.files] }
            try machine.send(.purged(Sample.database, Self.done))
            try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
            try machine.send(.verified(Sample.database, .remaining(1)))
            #expect(try machine.sendDue() == [.purge(Sample.database)])
            let next = try machine.send(.purged(Sample.database, Self.done))
            #expect(next == [.purge(Self.files)])
            try machine.send(.purged(Self.files, .done(Self.found)))
            try machine.send(.verified(Sample.database, .clean))
            #expect(try machine.send(.verified(Self.files, .clean)) == [.announce(.completed)])
            #expect(!machine.request.purges[1].counts.isNotLookedFor)
        }
    }

    @Test("while rows are held nothing that they name goes", arguments: [true, false])
    func held(isOfRows: Bool) throws {
        let filter = RowFilter(
            table: "orders",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        let hold = StoreHold(
            name: "case",
            store: Sample.database,
            rows: isOfRows ? filter : nil,
            since: Sample.start,
            uid: 1
        )
        var machine = try Self.machine([Sample.database, Self.files], holds: [hold])
        if isOfRows {
            let held = PurgeAnswer.held(PurgeCounts(), under: ["case"])
            _ = try machine.send(.purged(Sample.database, held))
        }
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        #expect(!machine.request.isBusy)
        machine.environment.holds = []
        #expect(try machine.send(.due).contains(.purge(Sample.database)))
        #expect(
            try machine.send(.purged(Sample.database, Self.done)) == [.purge(Self.files)]
        )
    }

    @Test("a store that keys nothing goes on while the source is held")
    func others() throws {
        let hold = StoreHold(name: "case", store: Sample.database, since: Sample.start, uid: 1)
        var machine = try Self.machine([Sample.database, Self.files, Self.mail], holds: [hold])
        #expect(machine.request.purges.filter(\.isBusy).map(\.store) == [Self.mail])
        _ = try machine.send(.purged(Self.mail, Self.done))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
    }

    @Test("what was left alone counts once, however often the purge comes by")
    func leftAlone() {
        var counts = PurgeCounts(entries: [
            .init(name: "app-db.workspace", action: .shared, rowCount: 2)
        ])
        counts.add(
            PurgeCounts(entries: [
                .init(name: "app-db.workspace", action: .shared, rowCount: 1)
            ])
        )
        #expect(counts.entries.map(\.rowCount) == [1] && counts.workedCount == 0)
    }

    @Test("what a later pass does not leave alone is not left any more", arguments: [true, false])
    func leftNoMore(isWhole: Bool) {
        var counts = PurgeCounts(entries: [
            .init(name: "shared", action: .shared, rowCount: 2),
            .init(name: "hidden", action: .passedOver(.hiddenFolder), rowCount: 1),
            .init(name: "kept", action: .rule(.keep), rowCount: 3),
        ])
        let gone = PurgeCounts.Entry(name: "shared", action: .rule(.delete), rowCount: 2)
        counts.add(PurgeCounts(entries: [gone]), isWhole: isWhole)
        let left = counts.entries.filter(\.action.code.isLeft).map(\.name)
        #expect(left == (isWhole ? ["kept"] : ["shared", "hidden", "kept"]))
    }
}
