import Engine
import Lifecycle
import Testing

/// How long users wait once nothing stands in their way any more.
@Suite("after an outage")
struct AfterOutageTests {
    /// Twice the longest pause of a call that failed for a reason of the other side's own.
    private static let patience = Duration.seconds(600)

    @Test("of six hours, at all stores and providers, every deletion ends within minutes")
    func hours() {
        var sim = Self.deletions(20, seed: 11)
        sim.faults.failurePerMille = 1000
        sim.run(for: .seconds(6 * 3600))
        #expect(sim.acknowledged.allSatisfy { sim.state($0) != .completed })
        sim.faults.failurePerMille = 0
        sim.run(for: Self.patience)
        #expect(Self.open(sim) == [])
        #expect(sim.world.violations.isEmpty)
    }

    @Test("of six hours, at the stores, every deletion ends within minutes")
    func stores() {
        var sim = Self.deletions(20, seed: 12)
        sim.faults.storeFailurePerMille = 1000
        sim.run(for: .seconds(6 * 3600))
        #expect(sim.acknowledged.allSatisfy { sim.state($0) == .purging })
        sim.faults.storeFailurePerMille = 0
        sim.run(for: Self.patience)
        #expect(Self.open(sim) == [])
        #expect(sim.world.violations.isEmpty)
    }

    @Test("a crash at any action, where nothing else fails, adds seconds")
    func crash() {
        var calm = Self.deletions(5, seed: 13)
        calm.run(for: .seconds(30))
        #expect(Self.open(calm) == [])
        for point in 1...calm.actionCount {
            var sim = Self.deletions(5, seed: 13)
            sim.crashAtAction = point
            sim.run(for: .seconds(30))
            #expect(Self.open(sim) == [], "crash at action \(point)")
            #expect(sim.world.violations.isEmpty)
        }
    }

    private static func deletions(_ count: Int, seed: UInt64) -> Simulator {
        var sim = Simulator(seed: seed, configuration: Scenario.configuration())
        for user in 1...count {
            sim.storeToken(user: user, provider: apple)
            sim.submit(.deleteAccount, user: user)
        }
        return sim
    }

    private static func open(_ sim: Simulator) -> [RequestState] {
        sim.acknowledged.compactMap { sim.state($0) }.filter { $0 != .completed }
    }
}
