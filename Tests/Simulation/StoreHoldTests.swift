import Engine
import Lifecycle
import Testing

/// Holds on stores in virtual time.
@Suite("holds on stores")
struct StoreHoldTests {
    @Test("a held store alone waits: everything else of a request is done, and it ends by itself")
    func wholeStore() {
        var sim = Simulator(seed: 11, configuration: Scenario.configuration())
        sim.storeToken(user: 1, provider: apple)
        sim.placeUntilDone(Simulator.hold("a", on: database))
        sim.at(.seconds(10)) { $0.submit(.deleteAccount, user: 1) }
        sim.run(for: .seconds(86_400))
        #expect(sim.world.violations.isEmpty)
        #expect(sim.world.rows[database]?[1] == 3)
        #expect(sim.world.rows[files]?[1] == 0)
        #expect(sim.world.liveTokenCount(user: 1) == 0)
        let id = sim.acknowledged.first
        #expect(id.flatMap { sim.request($0) }?.phase.parkReason == .onHold)
        #expect(id.flatMap { sim.request($0) }?.dueAt == nil)
        sim.liftAllHolds()
        sim.run(for: .seconds(3600))
        #expect(id.flatMap { sim.state($0) } == .completed)
    }

    @Test("a store that goes last stays for as long as another is held", arguments: [true, false])
    func last(isOfRows: Bool) {
        var configuration = Scenario.configuration()
        configuration.lastStores = [files]
        var sim = Simulator(seed: 14, configuration: configuration)
        sim.placeUntilDone(Simulator.hold("a", on: database, isOfRows: isOfRows))
        sim.at(.seconds(10)) { $0.submit(.deleteAccount, user: 1) }
        sim.run(for: .seconds(86_400))
        #expect(sim.world.rows[database]?[1] == (isOfRows ? 1 : 3))
        #expect(sim.world.rows[files]?[1] == 3)
        sim.liftAllHolds()
        sim.run(for: .seconds(3600))
        #expect(sim.world.rows[database]?[1] == 0)
        #expect(sim.world.rows[files]?[1] == 0)
        #expect(sim.acknowledged.allSatisfy { sim.state($0) == .completed })
        #expect(sim.world.violations.isEmpty)
    }

    @Test("held rows stay, the others go, and the rest goes when the last hold of two is lifted")
    func rows() {
        var sim = Simulator(seed: 12, configuration: Scenario.configuration())
        sim.placeUntilDone(Simulator.hold("a", on: database, isOfRows: true))
        sim.placeUntilDone(Simulator.hold("b", on: database, isOfRows: true))
        sim.at(.seconds(10)) { sim in
            for user in 1...2 { sim.submit(.deleteAccount, user: user) }
        }
        sim.run(for: .seconds(86_400))
        #expect(sim.world.rows[database] == [1: 1, 2: 0])
        #expect(sim.acknowledged.count { sim.state($0) == .completed } == 1)
        let calls = sim.world.purgeCalls
        sim.at(.zero) { $0.liftHold("a") }
        sim.run(for: .seconds(3600))
        // Looked at once more, and no more than that.
        #expect(sim.world.purgeCalls == calls + 1)
        #expect(sim.world.rows[database]?[1] == 1)
        sim.liftAllHolds()
        sim.run(for: .seconds(3600))
        #expect(sim.world.rows[database]?[1] == 0)
        #expect(sim.acknowledged.allSatisfy { sim.state($0) == .completed })
        #expect(sim.world.violations.isEmpty)
    }

    @Test("with everything held nothing is begun, and a deletion may still be cancelled")
    func everything() {
        var sim = Simulator(seed: 13, configuration: Scenario.configuration())
        for store in [database, files] {
            sim.placeUntilDone(Simulator.hold("\(store)", on: store))
        }
        sim.at(.seconds(10)) { $0.submit(.deleteAccount, user: 1) }
        sim.run(for: .seconds(3600))
        let id = sim.acknowledged.first
        #expect(id.flatMap { sim.request($0) }?.purgeStartedAt == nil)
        if let id { sim.operate(id, .cancel) }
        sim.run(for: .seconds(60))
        #expect(id.flatMap { sim.state($0) } == .cancelled)
        #expect(sim.world.purgeCalls == 0)
    }

    /// Deletions of ten users, whose purge is under way when holds come.
    private static func underWay(_ seed: UInt64, bug: PlantedBug?) -> Simulator {
        var sim = Simulator(seed: seed, configuration: Scenario.configuration())
        sim.bug = bug
        sim.faults.callLatencyMaxMs = 30_000
        sim.at(.seconds(10)) { sim in
            for user in 1...10 { sim.submit(.deleteAccount, user: user) }
        }
        sim.at(.seconds(12)) { sim in
            if let id = sim.acknowledged.min() { sim.holdUntilDone(id) }
        }
        sim.at(.seconds(14)) { sim in
            sim.placeUntilDone(Simulator.hold("a", on: database, isOfRows: seed % 2 == 0))
            sim.placeUntilDone(Simulator.hold("b", on: files))
        }
        sim.run(for: .seconds(3600))
        return sim
    }

    @Test("what is acknowledged as held while a purge is under way is not purged by it")
    func underWay() {
        var isBugSeen = false
        for seed in 1...20 as ClosedRange<UInt64> {
            isBugSeen = !Self.underWay(seed, bug: .openGate).world.violations.isEmpty || isBugSeen
            var sim = Self.underWay(seed, bug: nil)
            sim.releaseAll()
            sim.liftAllHolds()
            sim.run(for: .seconds(86_400))
            #expect(sim.world.violations.isEmpty)
            #expect(sim.acknowledged.allSatisfy { sim.state($0) == .completed })
        }
        #expect(isBugSeen)
    }
}
