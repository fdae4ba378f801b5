import Lifecycle
import Testing

struct NothingErasedTests {
    /// Rows that went, that were kept by rule, and that are newer than the request; of those that
    /// are kept anyway, as many are newer.
    private static let cases: [(deleted: Int, kept: Int, newer: Int, isTold: Bool)] = [
        (0, 0, 3, true), (0, 2, 3, true), (1, 0, 3, false), (0, 0, 0, false), (0, 2, 0, false),
    ]

    @Test("a deletion that only met newer rows says so", arguments: cases)
    func told(_ counts: (deleted: Int, kept: Int, newer: Int, isTold: Bool)) throws {
        let second = StoreName("uploads")
        var machine = Machine(stores: [Sample.database, second])
        try machine.revokeEverything()
        let done = PurgeCounts(entries: [
            .init(name: "a", action: .rule(.delete), rowCount: 0, newerCount: counts.newer),
            .init(name: "b", action: .rule(.keep), rowCount: counts.kept, newerCount: counts.kept),
        ])
        try machine.answer(purge: .done(done))
        let other = PurgeCounts(entries: [
            .init(name: "c", action: .rule(.delete), rowCount: counts.deleted)
        ])
        try machine.answer(purge: .done(other), second)
        try machine.answer(verify: .clean)
        let effects = try machine.send(.verified(second, .clean))
        let told: [RequestEffect] = [.announce(.completed), .announce(.nothingErased)]
        #expect(effects == (counts.isTold ? told : [.announce(.completed)]))
    }
}
