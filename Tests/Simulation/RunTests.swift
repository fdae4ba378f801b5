import Engine
import Lifecycle
import Testing

/// Rechecks, samples and replays in virtual time, crashed at every boundary.
@Suite("runs")
struct RunTests {
    static func run(_ scenario: RunScenario, bug: PlantedBug? = nil) -> Simulator {
        var sim = prepared(scenario, bug: bug)
        sim.run(for: scenario.span)
        return sim
    }

    private static func prepared(_ scenario: RunScenario, bug: PlantedBug? = nil) -> Simulator {
        let configuration = Scenario.configuration(isKeyed: scenario.isKeyed)
        var sim = Simulator(seed: 1, configuration: configuration)
        sim.bug = bug
        scenario.prepare(&sim)
        return sim
    }

    @Test("every scenario ends as it should without a crash", arguments: RunScenario.all)
    func quiet(_ scenario: RunScenario) {
        let sim = Self.run(scenario)
        #expect(sim.world.violations.isEmpty)
        #expect(scenario.judge(sim).isEmpty, "\(scenario.judge(sim))")
        #expect(sim.book.runCount > 0)
    }

    @Test("a crash at any action harms nothing", arguments: RunScenario.all)
    func everyCrashPoint(_ scenario: RunScenario) {
        let sim = Self.prepared(scenario)
        let quiet = sim.crashed(atEachActionFor: scenario.span) { point, sim in
            #expect(sim.crashCount == 1)
            let wrong = sim.world.violations + scenario.judge(sim)
            #expect(wrong.isEmpty, "crash at action \(point): \(wrong)")
        }
        let count = quiet.actionCount
        #expect(count > 40)
        print("simulation: \(scenario.name): crashed at each of \(count) actions")
    }

    @Test("the scenarios reach every phase, and everything that a run asks for")
    func coverage() throws {
        var reached = RunCoverage()
        for scenario in RunScenario.all { reached.merge(Self.run(scenario).book.coverage) }
        // Only after a crash there is something to end that a replay began.
        let first = try #require(RunScenario.all.first)
        Self.prepared(first).crashed(atEachActionFor: first.span) { _, sim in
            reached.merge(sim.book.coverage)
        }
        #expect(reached.missingPhases == [])
        #expect(reached.missingEffects == [])
    }

    /// Which invariant has to see each bug.
    static let bugs: [(PlantedBug, String)] = [
        (.blindReplay, "R-1:"), (.lateCutoff, "R-2:"), (.deafReplay, "I-10:"),
        (.silentRecheck, "R-4:"), (.skippedHoldCheck, "R-3:"), (.skippedNote, "R-5:"),
        (.droppedLateData, "R-6:"), (.unheardAlarm, "R-7:"), (.originalForCopy, "R-8:"),
    ]

    @Test("every planted bug turns a scenario red", arguments: bugs)
    func plantedBug(_ bug: PlantedBug, _ invariant: String) {
        let found = RunScenario.all.flatMap { Self.run($0, bug: bug).world.violations }
        #expect(found.contains { $0.hasPrefix(invariant) }, "\(found.prefix(3))")
    }
}
