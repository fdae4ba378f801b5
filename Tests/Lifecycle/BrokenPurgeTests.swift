import Lifecycle
import Testing

/// What a purge had done that broke off is not in the counts.
struct BrokenPurgeTests {
    private static let counts = PurgeCounts(entries: [
        .init(name: "posts", action: .rule(.delete), rowCount: 2)
    ])

    private static func purging() throws -> Machine {
        var machine = Machine()
        try machine.revokeEverything()
        return machine
    }

    private static func isAtLeast(_ machine: Machine) -> Bool {
        machine.request.purges[0].counts.isAtLeast
    }

    @Test func `a purge that has told what it did is counted, also when another one follows`()
        throws
    {
        var machine = try Self.purging()
        try machine.answer(purge: .done(Self.counts))
        try machine.answer(verify: .remaining(1))
        try machine.sendDue()
        try machine.answer(purge: .held(Self.counts, under: ["case"]))
        try machine.send(.retry)
        try machine.answer(purge: .stopped)
        try machine.answer(purge: .done(Self.counts))
        try machine.send(.verified(Sample.database, .failure(.unreachable)))
        try machine.sendDue()
        try machine.answer(verify: .clean)
        #expect(machine.request.phase == .completed)
        #expect(!Self.isAtLeast(machine))
        #expect(machine.request.purges[0].counts.workedCount == 6)
    }

    @Test func `one that ended in a failure leaves the counts at least`() throws {
        var machine = try Self.purging()
        try machine.answer(purge: .failure(.lost))
        try machine.sendDue()
        try machine.answer(purge: .done(Self.counts))
        #expect(Self.isAtLeast(machine))
    }

    @Test func `and one that a crash cut off`() throws {
        var machine = try Self.purging()
        // As read again from the disk: what is not stored is gone.
        machine.request.purges[0].isBusy = false
        #expect(try machine.send(.due) == [.purge(Sample.database)])
        try machine.answer(purge: .done(Self.counts))
        #expect(Self.isAtLeast(machine))
        try machine.answer(verify: .clean)
        #expect(Self.isAtLeast(machine))
    }

    @Test func `a call that was not made leaves no doubt`() throws {
        var machine = try Self.purging()
        let later = machine.now + .seconds(60)
        try machine.send(.postponed(.purge(Sample.database), until: later))
        try machine.sendDue()
        try machine.answer(purge: .done(Self.counts))
        #expect(!Self.isAtLeast(machine))
    }
}
