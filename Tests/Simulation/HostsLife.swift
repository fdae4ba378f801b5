import Engine
import Lifecycle

/// A random course of events on two to five hosts: as ``RandomLife``, with hosts that die, stand
/// still, stop and come back, clocks that differ, and connections that break.
enum HostsLife {
    static func run(seed: UInt64, bug: PlantedBug? = nil, isTracing: Bool = false) -> Simulator {
        // A few: what happens every day makes a life long.
        let approval = seed % 40 == 0 ? ApprovalPolicy.required : .none
        let configuration = Scenario.configuration(approval: approval, hasClocks: seed % 32 == 1)
        var sim = Simulator(seed: seed, configuration: configuration)
        sim.isTracing = isTracing
        sim.bug = bug
        sim.share(among: Int.random(in: 2...5, using: &sim.random))
        sim.drawHostFaults()
        sim.drawUsers()
        if approval == .required { sim.drawApprovals() }
        sim.drawStoreHolds()
        sim.drawDisturbances()
        sim.run(for: .seconds(3 * 86_400))
        sim.healHosts()
        sim.run(for: .seconds(45 * 86_400))
        sim.expectEverythingEnded()
        sim.checkOperations()
        return sim
    }
}

extension Simulator {
    fileprivate mutating func drawHostFaults() {
        faults.failurePerMille = pick([0, 0, 50, 200])
        faults.lostAnswerPerMille = pick([0, 20, 100])
        faults.lateSignInPerMille = pick([0, 100])
        faults.crashPerMille = pick([0, 0, 5, 20])
        faults.connectionPerMille = pick([0, 5, 30])
        faults.callLatencyMaxMs = Int64(pick([1, 400, 4_000, 30_000]))
        faults.commitLatencyMaxMs = Int64(pick([5, 200]))
        faults.repeatsMax = pick([0, 1])
        pausesInsteadOfCrash = chance(400)
    }

    fileprivate mutating func drawDisturbances() {
        for _ in 0..<pick([0, 3, 8]) {
            let most: Int64 = pick([30, 900, 200_000])
            let time = Duration.milliseconds(Int64.random(in: 0...most * 1000, using: &random))
            let length = Duration.milliseconds(Int64.random(in: 500...30_000, using: &random))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: at(time) { $0.goDown(for: length) }
            case 1: at(time) { $0.pause(for: length) }
            default: at(time) { $0.stopCleanly(for: length) }
            }
        }
    }

    fileprivate mutating func healHosts() {
        pausesInsteadOfCrash = false
        choose(nil)
        heal()
    }
}
