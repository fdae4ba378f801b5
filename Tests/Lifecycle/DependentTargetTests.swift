import Lifecycle
import Testing

/// A target whose ids are found in the rows of another one, as the state machine sees it.
struct DependentTargetTests {
    private static let files = TargetName("uploads")
    private static let done = PurgeAnswer.done(PurgeCounts())

    /// A deletion whose purge is about to begin; files are keyed by the database.
    private static func machine(
        _ targets: [TargetName],
        holds: [TargetHold] = []
    ) throws -> Machine {
        var machine = Machine(targets: targets)
        machine.around.keySources = [files: Sample.database]
        machine.around.holds = holds
        try machine.revokeEverything()
        return machine
    }

    @Test(
        "rows go before what they name, and are verified before it, in any order of the targets",
        arguments: [[Sample.database, files], [files, Sample.database]]
    )
    func order(_ targets: [TargetName]) throws {
        var machine = try Self.machine(targets)
        let isBusy = machine.request.purges.filter(\.isBusy).map(\.target)
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
        let targets = [Self.files, Sample.database]
        for isParking in [true, false] {
            var machine = try Self.machine(targets)
            if isParking { machine.around.keyedTargetsToPark = [Self.files] }
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
            // A key was put back: what it leads to is purged.
            var retried = machine
            #expect(try retried.send(.retry) == [.purge(Self.files), .announce(.resumed)])
            let counts = PurgeCounts(entries: [.init(name: "f", action: "delete", rowCount: 3)])
            try retried.send(.purged(Self.files, .done(counts)))
            #expect(try retried.send(.verified(Self.files, .clean)) == [.announce(.completed)])
            #expect(retried.request.purges[0].counts.entries == counts.entries)
            // There is none, an operator says.
            #expect(
                try machine.send(.abandon) == [
                    .announce(.abandoned), .verify(Self.files), .announce(.resumed),
                ]
            )
            let told = try machine.send(.verified(Self.files, .notLookedFor))
            #expect(told == [.announce(.completed)])
            let actions = machine.request.purges[0].counts.entries.map(\.action)
            #expect(actions == [PurgeCounts.withoutKeysAction])
        }
    }

    @Test("keys that are found after an operator went on without them count")
    func keysAfterAll() throws {
        var machine = try Self.machine([Self.files, Sample.database])
        machine.around.keyedTargetsToPark = [Self.files]
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.abandon)
        // The rows with the keys are restored before the end.
        try machine.send(.restored([Self.files], at: nil))
        let counts = PurgeCounts(entries: [.init(name: "f", action: "delete", rowCount: 3)])
        try machine.send(.purged(Self.files, .done(counts)))
        try machine.send(.verified(Self.files, .clean))
        #expect(machine.request.phase == .completed)
        #expect(!machine.request.purges[0].counts.isNotLookedFor)
        #expect(machine.request.purges[0].counts.entries == counts.entries)
    }

    @Test("an operator who went on without keys need not decide twice")
    func stillNoKeys() throws {
        var machine = try Self.machine([Self.files, Sample.database])
        machine.around.keyedTargetsToPark = [Self.files]
        try machine.send(.purged(Sample.database, Self.done))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Sample.database, .clean))
        try machine.send(.abandon)
        try machine.send(.restored([Self.files], at: nil))
        try machine.send(.purged(Self.files, .done(Sample.notLookedFor)))
        try machine.send(.verified(Self.files, .notLookedFor))
        #expect(machine.request.phase == .completed)
        #expect(machine.request.purges[0].counts.isNotLookedFor)
    }

    @Test("while rows are held nothing that they name goes", arguments: [true, false])
    func held(isOfRows: Bool) throws {
        let filter = RowFilter(
            table: "orders",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        let hold = TargetHold(
            name: "case",
            target: Sample.database,
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
        machine.around.holds = []
        #expect(try machine.send(.due).contains(.purge(Sample.database)))
        #expect(
            try machine.send(.purged(Sample.database, Self.done)) == [.purge(Self.files)]
        )
    }

    @Test("a target that keys nothing goes on while the source is held")
    func others() throws {
        let hold = TargetHold(name: "case", target: Sample.database, since: Sample.start, uid: 1)
        let mail = TargetName("mail")
        var machine = try Self.machine([Sample.database, Self.files, mail], holds: [hold])
        #expect(machine.request.purges.filter(\.isBusy).map(\.target) == [mail])
        _ = try machine.send(.purged(mail, Self.done))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
    }

    @Test("what was left alone counts once, however often the purge comes by")
    func leftAlone() {
        var counts = PurgeCounts(entries: [
            .init(name: "app-db.workspace", action: "keep: still has other owners", rowCount: 2)
        ])
        counts.add(
            PurgeCounts(entries: [
                .init(name: "app-db.workspace", action: "keep: still has other owners", rowCount: 1)
            ])
        )
        #expect(counts.entries.map(\.rowCount) == [1] && counts.workedCount == 0)
    }
}
