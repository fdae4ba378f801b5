import Lifecycle
import Testing

/// A store is configured while a deletion is open.
struct LateStoreTests {
    private static let late = StoreName("uploads")

    private static func names(_ machine: Machine) -> [StoreName] {
        machine.request.purges.map(\.store)
    }

    @Test func `it is taken up until the purge begins`() throws {
        var machine = Machine(grace: .seconds(60))
        try machine.send(.due)
        machine.environment.stores = [Self.late, Sample.database]
        machine.pass(.seconds(60))
        try machine.revokeEverything()
        #expect(Self.names(machine) == [Sample.database, Self.late])
        #expect(try machine.answer(purge: .done(PurgeCounts())) == [.purge(Self.late)])
    }

    @Test func `and also behind the last revocation, while a guard keeps the purge`() throws {
        var machine = Machine()
        machine.environment.isGuardClosed = true
        try machine.revokeEverything()
        #expect(machine.request.phase.parkReason == .massDeletionGuard)
        machine.environment.stores = [Sample.database, Self.late]
        machine.environment.isGuardClosed = false
        try machine.send(.due)
        #expect(Self.names(machine) == [Sample.database, Self.late])
    }

    @Test func `and is left out once it has begun`() throws {
        var machine = Machine()
        try machine.revokeEverything()
        machine.environment.stores = [Sample.database, Self.late]
        try machine.answer(purge: .done(PurgeCounts()))
        #expect(try machine.answer(verify: .clean) == [.announce(.completed)])
        #expect(Self.names(machine) == [Sample.database])
    }

    @Test func `a plan that was approved without it is made anew before the purge`() throws {
        var machine = Machine()
        try machine.approve(Sample.plan())
        machine.environment.stores = [Sample.database, Self.late]
        try machine.answer(check: .live)
        #expect(try machine.answer(revoke: .success).contains(.plan))
        #expect(machine.request.planSources.last == .asked(Self.late))
    }

    @Test func `it has the cutoff that a wrong clock moved for all others`() throws {
        var machine = Machine(grace: .seconds(60))
        let floor = Sample.start + Sample.day * 365
        machine.request.purges[0].restoredAt = floor
        try machine.send(.due)
        machine.environment.stores = [Sample.database, Self.late]
        machine.pass(.seconds(60))
        try machine.revokeEverything()
        let request = machine.request
        #expect(request.purges.map { request.cutoff(in: $0) } == [floor, floor])
    }

    @Test func `and its own where only some stores were restored`() throws {
        var machine = Machine(stores: [Sample.database, StoreName("files")], grace: .seconds(60))
        machine.request.purges[0].restoredAt = Sample.start + Sample.day
        try machine.send(.due)
        machine.environment.stores = [Sample.database, StoreName("files"), Self.late]
        machine.pass(.seconds(60))
        try machine.revokeEverything()
        #expect(machine.request.purges.last?.store == Self.late)
        #expect(machine.request.purges.last?.restoredAt == nil)
    }

    @Test func `a revocation has no stores`() throws {
        var machine = Machine(.revokeTokens)
        machine.environment.stores = [Self.late]
        try machine.send(.due)
        #expect(Self.names(machine).isEmpty)
    }
}
