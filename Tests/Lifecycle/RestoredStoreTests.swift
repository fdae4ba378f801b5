import Lifecycle
import Testing

/// A store is put back from a backup while a deletion that has purged it is open.
struct RestoredStoreTests {
    private static let second = StoreName("uploads")
    private static let restored = RequestEvent.restored([Sample.database], at: nil)

    /// The first of two stores is verified, the second one does not answer.
    private static func verifying() throws -> Machine {
        var machine = Machine(stores: [Sample.database, second])
        try machine.revokeEverything()
        try machine.answer(purge: .done(PurgeCounts()))
        try machine.answer(purge: .done(PurgeCounts()), second)
        try machine.answer(verify: .clean)
        try machine.send(.verified(second, .failure(.unreachable)))
        return machine
    }

    @Test func `what was verified is purged and verified again before the end`() throws {
        var machine = try Self.verifying()
        #expect(machine.request.purges.map(\.step) == [.verified, .purged])
        #expect(try machine.send(Self.restored) == [.purge(Sample.database)])
        #expect(machine.request.purges.map(\.step) == [.waiting, .purged])
        #expect(machine.request.purges[0].endedAt == nil)
        #expect(try machine.answer(purge: .done(PurgeCounts())) == [.verify(Sample.database)])
        try machine.answer(verify: .clean)
        try machine.sendDue()
        #expect(machine.request.phase == .open(.verifying))
        #expect(try machine.send(.verified(Self.second, .clean)) == [.announce(.completed)])
    }

    @Test func `a verification that was under way counts for nothing`() throws {
        var machine = Machine()
        try machine.revokeEverything()
        try machine.answer(purge: .done(PurgeCounts()))
        #expect(try machine.send(Self.restored) == [])
        #expect(try machine.answer(verify: .clean) == [.purge(Sample.database)])
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `what the store dates by the restoration goes, too, and nothing elsewhere`() throws {
        var machine = try Self.verifying()
        let cutoff = machine.request.cutoff
        let restoredAt = cutoff + Sample.day
        try machine.send(.restored([Sample.database], at: restoredAt))
        try machine.send(.restored([Sample.database], at: cutoff - Sample.day))
        let request = machine.request
        #expect(request.purges.map { request.cutoff(in: $0) } == [restoredAt, cutoff])
    }

    @Test func `a hold on another store keeps nothing of it`() throws {
        var machine = Machine(stores: [Sample.database, Self.second])
        machine.environment.holds = [
            StoreHold(name: "case", store: Self.second, since: Sample.start, uid: 1)
        ]
        try machine.revokeEverything()
        try machine.answer(purge: .done(PurgeCounts()))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
        let again = try machine.send(Self.restored)
        #expect(again == [.purge(Sample.database), .announce(.resumed)])
        try machine.answer(purge: .done(PurgeCounts()))
        #expect(machine.request.phase == .parked(.purging, .onHold, until: nil))
    }

    @Test(
        "the approved plan is compared: no more than that goes without a new approval",
        arguments: [(1, true), (2, false)]
    )
    func approved(rows: Int, isSame: Bool) throws {
        let plan = Sample.plan()
        var machine = Machine(stores: [Sample.database, Self.second])
        try machine.approve(plan)
        try machine.revokeApproved()
        try machine.send(.planned(.made(plan)))
        try machine.answer(purge: .done(PurgeCounts()))
        try machine.answer(purge: .done(PurgeCounts()), Self.second)
        try machine.answer(verify: .clean)
        #expect(try machine.send(Self.restored) == [.plan])
        let known = try #require(plan.parts.first { $0.store == Sample.database })
        #expect(machine.request.planSources.first == .rest(of: known))
        let effects = try machine.send(.planned(.made(Sample.plan(rows: rows))))
        #expect(effects.contains(.purge(Sample.database)) == isSame)
        #expect((machine.request.phase.parkReason == .awaitingApproval) == !isSame)
    }
}
