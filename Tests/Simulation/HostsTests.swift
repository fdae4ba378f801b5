import Engine
import FoundationEssentials
import Lifecycle
import TestSupport
import Testing

/// Several hosts on one store, in virtual time.
@Suite("hosts")
struct HostsTests {
    /// What the gate has time for; `make lives` runs more.
    private static let seedCount: UInt64 = 60

    /// Boundaries of a scenario that the gate has time for; `make lives` takes each.
    private static let boundariesMax =
        ProcessInfo.processInfo.environment["HOSTS_BOUNDARIES"] == "all" ? Int.max : 10

    static func run(
        _ scenario: Scenario,
        hosts: Int = 2,
        _ adjust: (inout Simulator) -> Void = { _ in }
    ) -> Simulator {
        var sim = Simulator(
            seed: 1,
            configuration: Scenario.configuration(approval: scenario.approval)
        )
        sim.share(among: hosts)
        sim.run(for: .seconds(20))
        adjust(&sim)
        sim.actionCount = 0
        scenario.prepare(&sim)
        sim.run(for: scenario.span)
        sim.checkOperations()
        return sim
    }

    @Test("every scenario ends as it should on three hosts", arguments: Scenario.all)
    func quietRun(_ scenario: Scenario) {
        let sim = Self.run(scenario, hosts: 3)
        #expect(sim.world.violations.isEmpty)
        #expect(SimulationTests.states(sim).isSubset(of: scenario.ends))
    }

    @Test(
        "a takeover at any boundary harms nothing, after a crash and after a pause",
        arguments: Scenario.all.filter { $0.span <= .seconds(40 * 86_400) },
        [false, true]
    )
    func everyBoundary(_ scenario: Scenario, isPause: Bool) {
        let actionCount = Self.run(scenario).actionCount
        #expect(actionCount > 4)
        let step = max(1, actionCount / Self.boundariesMax)
        for point in stride(from: 1, through: actionCount, by: step) {
            let sim = Self.run(scenario) { sim in
                sim.crashAtAction = point
                sim.pausesInsteadOfCrash = isPause
            }
            #expect(sim.crashCount == 1)
            let states = SimulationTests.states(sim)
            #expect(
                sim.world.violations.isEmpty,
                "boundary \(point): \(sim.world.violations)"
            )
            #expect(states.isSubset(of: scenario.ends), "boundary \(point): \(states)")
        }
    }

    /// `HOST_SEEDS=4711 EXPUNGED_SUITE=Simulation swift test` replays one life alone.
    @Test("random lives on several hosts hold every invariant and end by themselves")
    func randomLives() async {
        let seeds = Seeds.chosen("HOST_SEEDS") ?? 1...Self.seedCount
        let results = await Self.sweep(seeds, bug: nil)
        for failure in results.failures.prefix(5) {
            Issue.record("HOST_SEEDS=\(failure.seed): \(failure.violations.prefix(3))")
        }
        #expect(results.failures.count == 0)
        print(
            "hosts: \(seeds.count) seeds, \(results.failuresOfHosts) failures of hosts,",
            "\(results.takeovers) takeovers of partitions, \(results.refusals) refused commits"
        )
    }

    /// Which invariant has to see each bug.
    static let bugs: [(PlantedBug, String)] = [
        (.noEpochCheck, "H-1:"), (.staleLease, "H-2:"), (.lostOperation, "H-4:"),
    ]

    @Test("every planted bug turns a run red", arguments: bugs)
    func plantedBug(_ bug: PlantedBug, _ invariant: String) async {
        let results = await Self.sweep(1...400, bug: bug)
        let found = results.failures.flatMap(\.violations)
        #expect(found.contains { $0.hasPrefix(invariant) }, "\(found.prefix(3))")
    }

    struct Results: Sendable {
        var failures: [(seed: UInt64, violations: [String])] = []
        var failuresOfHosts = 0
        var takeovers = 0
        var refusals = 0
    }

    static func sweep(_ seeds: ClosedRange<UInt64>, bug: PlantedBug?) async -> Results {
        await withTaskGroup(of: Results.self) { group in
            for part in 0..<4 {
                group.addTask {
                    var results = Results()
                    for seed in seeds where Int(seed % 4) == part {
                        let isReplay = seeds.count == 1 && bug == nil
                        let sim = HostsLife.run(seed: seed, bug: bug, isTracing: isReplay)
                        results.failuresOfHosts += sim.crashCount
                        results.takeovers += sim.disk.shared.takeovers
                        results.refusals += sim.disk.shared.refusals
                        if !sim.world.violations.isEmpty {
                            results.failures.append((seed, sim.world.violations))
                            if bug != nil { break }
                        }
                    }
                    return results
                }
            }
            var total = Results()
            for await part in group {
                total.failures += part.failures
                total.failuresOfHosts += part.failuresOfHosts
                total.takeovers += part.takeovers
                total.refusals += part.refusals
            }
            return total
        }
    }
}
