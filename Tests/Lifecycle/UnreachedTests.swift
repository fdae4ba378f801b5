import Lifecycle
import Testing

/// Rules of a store to whose rows nothing led, over the passes of a request.
struct UnreachedTests {
    private static let rule = PurgeCounts.Entry(
        name: "letters",
        action: .unreached("email", via: "users.email"),
        rowCount: 0
    )
    private static let plain = PurgeCounts.Entry(
        name: "letters",
        action: .rule(.delete),
        rowCount: 0
    )
    private static let other = PurgeCounts.Entry(name: "users", action: .rule(.delete), rowCount: 1)
    private static let found = PurgeCounts(entries: [plain, other])
    private static let lost = PurgeCounts(entries: [plain, rule, other])

    @Test("such a rule does not stop the request, and is not called verified")
    func completes() throws {
        var machine = Machine(stores: [Sample.database])
        machine.environment.keyedStoresToPark = [Sample.database]
        try machine.revokeEverything()
        try machine.send(.purged(Sample.database, .done(Self.lost)))
        #expect(
            try machine.send(.verified(Sample.database, .clean)) == [.announce(.completed)]
        )
        let counts = machine.request.purges[0].counts
        #expect(counts.isNotLookedFor && !counts.isWithoutAnyKey)
        #expect(counts.unreached == [Self.rule])
    }

    /// Passes, each with whether it came to its end, and whether the rule is unreached then.
    static let passes: [([(PurgeCounts, Bool)], Bool)] = [
        ([(lost, true)], true),
        ([(lost, true), (lost, true)], true),
        // What the first pass took away is not there for the second.
        ([(found, true), (lost, true)], false),
        // The row was put back.
        ([(lost, true), (found, true)], false),
        // It broke off before that table, or behind it.
        ([(lost, true), (PurgeCounts(entries: [other]), false)], true),
        ([(PurgeCounts(entries: [other]), false), (lost, true)], true),
        ([(PurgeCounts(entries: [plain]), false), (lost, true)], false),
        ([(PurgeCounts(entries: [plain, rule]), false), (lost, true)], true),
        ([(PurgeCounts(), true), (lost, true)], true),
    ]

    @Test("a pass that reached the rule counts for all later ones", arguments: passes)
    func merged(passes: [(PurgeCounts, Bool)], isUnreached: Bool) {
        var counts = PurgeCounts()
        for (pass, isWhole) in passes { counts.add(pass, isWhole: isWhole) }
        #expect(counts.unreached == (isUnreached ? [Self.rule] : []))
        #expect(counts.isNotLookedFor == isUnreached)
    }

    @Test("what was not looked for in other spellings stays so, since its way is gone")
    func spellings() {
        let entry = PurgeCounts.Entry(
            name: "letters",
            action: .unsearched("email"),
            rowCount: 0
        )
        var counts = PurgeCounts()
        counts.add(PurgeCounts(entries: [entry, Self.plain, Self.other]))
        counts.add(Self.found)
        #expect(counts.unreached == [entry] && counts.isNotLookedFor)
    }
}
