import Engine
import Lifecycle
import TestSupport
import Testing

/// The whole life of requests in virtual time, with crashes and faults.
@Suite("simulation")
struct SimulationTests {
    @Test("every scenario ends as it should without any fault", arguments: Scenario.all)
    func quietRun(_ scenario: Scenario) {
        let sim = Self.run(scenario, seed: 1)
        #expect(sim.world.violations.isEmpty)
        #expect(Self.states(sim).isSubset(of: scenario.ends), "\(Self.states(sim))")
    }

    @Test("a crash at any single action harms nothing and needs nobody", arguments: Scenario.all)
    func everyCrashPoint(_ scenario: Scenario) {
        let sim = Self.prepared(scenario, seed: 1)
        let quiet = sim.crashed(atEachActionFor: scenario.span) { point, sim in
            #expect(sim.crashCount == 1)
            #expect(
                sim.world.violations.isEmpty,
                "crash at action \(point): \(sim.world.violations)"
            )
            #expect(
                Self.states(sim).isSubset(of: scenario.ends),
                "crash at action \(point): \(Self.states(sim))"
            )
        }
        #expect(quiet.actionCount > 4)
    }

    /// `LIFE_SEEDS=4711 EXPUNGED_SUITE=Simulation swift test` replays one life alone.
    @Test("random lives hold every invariant and end by themselves")
    func randomLives() async {
        let seeds = Seeds.chosen("LIFE_SEEDS") ?? 1...Self.seedCount
        let results = await Self.sweep(seeds, bug: nil)
        for failure in results.failures.prefix(5) {
            Issue.record("LIFE_SEEDS=\(failure.seed): \(failure.violations.prefix(3))")
        }
        #expect(results.failures.count == 0)
        print(
            "simulation: \(seeds.count) seeds, \(results.crashes) crashes,",
            "\(results.days) virtual days, \(results.runs) runs, \(results.replays) replays"
        )
        for row in results.coverage.table { print("simulation: \(row)") }
        if seeds.count >= Int(Self.seedCount) {
            #expect(Self.coverageExpected.subtracting(results.coverage.pairs) == [])
            #expect(results.runs > seeds.count)
            #expect(results.replays > seeds.count)
            #expect(results.runCoverage.missingPhases == [])
        }
    }

    @Test(
        "every planted bug turns a run red",
        arguments: PlantedBug.allCases.filter {
            ![.forgottenRenewal, .openGate].contains($0) && !PlantedBug.ofHosts.contains($0)
                && !PlantedBug.ofRuns.contains($0)
        }
    )
    func plantedBug(_ bug: PlantedBug) async {
        let invariant = Self.invariants[bug] ?? ""
        var found: [String] = []
        // In small groups: most bugs show in the first.
        for first in stride(from: UInt64(1), to: 401, by: 20) {
            let results = await Self.sweep(first...first + 19, bug: bug)
            found += results.failures.flatMap(\.violations)
            if found.contains(where: { $0.hasPrefix(invariant) }) { return }
        }
        Issue.record("no run is red for it: \(found.prefix(3))")
    }

    /// Which invariant has to see a bug, where it is one of its own.
    private static let invariants: [PlantedBug: String] = [
        .lostImport: "I-1:", .undoneStep: "I-7:", .forgottenKey: "I-8:", .heldStorePurged: "I-10:",
        .unreadSpool: "I-14:", .unheardSeal: "I-14:", .lowFloor: "I-15:",
        .staleTime: "I-15:",
    ]

    @Test(
        "a request that crashes the process is quarantined at the third crash and stops nobody else"
    )
    func poison() {
        var sim = Simulator(seed: 3, configuration: Scenario.configuration())
        for user in 1...10 { sim.storeToken(user: user, provider: apple) }
        sim.at(.seconds(1)) { sim in
            for user in 1...10 {
                let id = sim.submit(.deleteAccount, user: user)
                if user == 5 { sim.poison = id }
            }
        }
        sim.run(for: .seconds(86_400))
        let poisoned = sim.poison.flatMap { sim.request($0) }
        #expect(poisoned?.phase.parkReason == .quarantined)
        #expect(poisoned?.crashCount == 3)
        #expect(sim.acknowledged.count { sim.state($0) == .completed } == 9)
    }

    @Test("no request ends by an outage of three months, and each ends minutes after it")
    func monthsOfOutage() {
        var sim = Simulator(seed: 5, configuration: Scenario.configuration())
        sim.faults.outages[apple] = sim.now + .seconds(90 * 86_400)
        sim.storeToken(user: 1, provider: apple)
        let id = sim.submit(.deleteAccount, user: 1)
        for _ in 0..<89 {
            sim.run(for: .seconds(86_400))
            #expect(sim.state(id) == .revoking)
            #expect(sim.world.violations.isEmpty)
        }
        sim.run(for: .seconds(86_400 + 600))
        #expect(sim.state(id) == .completed)
    }

    @Test("a code at sign-in is exchanged at once, without any request")
    func codeLane() {
        var sim = Simulator(seed: 7, configuration: Scenario.configuration())
        sim.signIn(user: 1, provider: apple)
        sim.run(for: .seconds(1))
        #expect(sim.disk.exchanges.isEmpty)
        #expect(sim.world.liveTokenCount(user: 1) == 1)
    }

    struct Results: Sendable {
        var failures: [(seed: UInt64, violations: [String])] = []
        var crashes = 0
        var days = 0
        var runs = 0
        var replays = 0
        var coverage = Coverage()
        var runCoverage = RunCoverage()
    }

    /// What the gate has time for; `make lives` runs more.
    static let seedCount: UInt64 = 2_000
    static let coverageExpected: Set<String> = [
        "accepted × due", "scheduled × due", "revoking × due", "purging × due", "verifying × due",
        "revoking × lookedUp",
        "revoking × checked", "revoking × revoked", "revoking × confirmed", "parked × checked",
        "purging × purged", "verifying × verified", "parked × release", "revoking × hold",
    ]

    static func sweep(_ seeds: ClosedRange<UInt64>, bug: PlantedBug?) async -> Results {
        await withTaskGroup(of: Results.self) { group in
            for part in 0..<4 {
                group.addTask {
                    var results = Results()
                    for seed in seeds where Int(seed % 4) == part {
                        let start = Simulator.start
                        let isReplay = seeds.count == 1 && bug == nil
                        let sim = RandomLife.run(seed: seed, bug: bug, isTracing: isReplay)
                        results.crashes += sim.crashCount
                        results.days += Int(sim.now.since(start).milliseconds / 86_400_000)
                        results.coverage.merge(sim.coverage)
                        results.runCoverage.merge(sim.book.coverage)
                        results.runs += sim.book.runCount
                        results.replays += sim.book.reports.count
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
                total.crashes += part.crashes
                total.days += part.days
                total.runs += part.runs
                total.replays += part.replays
                total.coverage.merge(part.coverage)
                total.runCoverage.merge(part.runCoverage)
            }
            return total
        }
    }

    static func run(
        _ scenario: Scenario,
        seed: UInt64,
        hasClocks: Bool = false,
        _ adjust: (inout Simulator) -> Void = { _ in }
    ) -> Simulator {
        var sim = prepared(scenario, seed: seed, hasClocks: hasClocks, adjust)
        sim.run(for: scenario.span)
        return sim
    }

    private static func prepared(
        _ scenario: Scenario,
        seed: UInt64,
        hasClocks: Bool = false,
        _ adjust: (inout Simulator) -> Void = { _ in }
    ) -> Simulator {
        let configuration = Scenario.configuration(
            approval: scenario.approval,
            hasClocks: hasClocks
        )
        var sim = Simulator(seed: seed, configuration: configuration)
        adjust(&sim)
        scenario.prepare(&sim)
        return sim
    }

    static func states(_ sim: Simulator) -> Set<RequestState> {
        Set(sim.acknowledged.compactMap { sim.state($0) })
    }
}
