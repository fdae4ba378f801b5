import Engine
import Lifecycle
import Testing

/// Tokens that would die unused, in virtual months.
@Suite("keeping tokens alive")
struct KeepAliveTests {
    private static func isRevoked(_ sim: Simulator) -> Bool {
        sim.disk.requests.values.flatMap(\.request.revocations).allSatisfy {
            $0.verdict?.isRevoked ?? false
        }
    }

    @Test("an identity that is idle for ten months is revoked all the same, with few refreshes")
    func tenMonths() {
        let sim = SimulationTests.run(.tenMonthsIdle, seed: 1, hasClocks: true)
        #expect(sim.world.violations.isEmpty)
        #expect(SimulationTests.states(sim) == [.completed])
        #expect(Self.isRevoked(sim))
        // 300 days, each refresh 108 to 144 days after the last, and the revocation's own.
        #expect(sim.renewalUses(idling) == 2)
    }

    @Test("a crash at each boundary of a renewal loses no token that could be kept")
    func crashes() {
        let quiet = SimulationTests.run(.tenMonthsIdle, seed: 1, hasClocks: true)
        // Both ends of ten months, and the middle; every third of the rest, for time.
        let points = quiet.renewalActions.enumerated().filter { index, _ in
            index < 12 || index % 89 == 0
        }.map(\.element)
        #expect(points.count > 15)
        for point in points {
            let sim = SimulationTests.run(.tenMonthsIdle, seed: 1, hasClocks: true) {
                $0.crashAtAction = point
            }
            #expect(sim.crashCount == 1)
            #expect(sim.world.violations.isEmpty, "action \(point): \(sim.world.violations)")
            #expect(SimulationTests.states(sim) == [.completed], "action \(point)")
            // What was rotated away unheard cannot be kept; nothing else is lost.
            #expect(Self.isRevoked(sim) || !sim.world.unheard.isEmpty, "action \(point)")
        }
    }

    @Test("without it the token is dead after ten months, so the run is red")
    func plantedBug() {
        let sim = SimulationTests.run(.tenMonthsIdle, seed: 1, hasClocks: true) {
            $0.bug = .forgottenRenewal
        }
        #expect(!Self.isRevoked(sim))
    }

    @Test("a provider that is down for weeks is asked again, and its tokens live on")
    func outage() {
        let sim = SimulationTests.run(.tenMonthsIdle, seed: 3, hasClocks: true) { sim in
            sim.faults.outages[idling] = sim.now + .seconds(150 * 86_400)
        }
        #expect(sim.world.violations.isEmpty)
        #expect(Self.isRevoked(sim))
    }

    @Test("a token that cannot be refreshed in time is warned about before it dies")
    func warning() {
        var sim = Simulator(seed: 5, configuration: Scenario.configuration(hasClocks: true))
        sim.faults.outages[idling] = sim.now + .seconds(300 * 86_400)
        sim.storeToken(user: 1, provider: idling)
        sim.run(for: .seconds(165 * 86_400))
        #expect(sim.warnings.isEmpty)
        sim.run(for: .seconds(3 * 86_400))
        #expect(sim.warnings == [idling])
        sim.run(for: .seconds(100 * 86_400))
        #expect(sim.warnings == [idling])
    }

    @Test("where nothing can be asked, a renewal whose answer was lost leaves it unconfirmed")
    func lostAnswer() {
        let policy = Scenario.clocked(
            .seconds(86_400),
            .proceed,
            mayRotate: true,
            canCheck: false
        )
        let configuration = EngineConfiguration(
            providers: [rotating: policy],
            lanes: [rotating: LaneLimits(concurrency: 8), directory: LaneLimits(concurrency: 8)],
            stores: [database, files],
            withoutIdentities: .proceed,
            purgesPerHourMax: 1000,
            directory: directory
        )
        var sim = Simulator(seed: 9, configuration: configuration)
        sim.storeToken(user: 1, provider: rotating)
        // The first is heard, so that the token was seen live.
        for count in 1...2 {
            sim.faults.lostAnswerPerMille = count == 1 ? 0 : 1000
            for _ in 0..<4000 where sim.renewed.count < count { sim.run(for: .seconds(60)) }
        }
        sim.faults.lostAnswerPerMille = 0
        #expect(sim.renewed.count == 2)
        #expect(sim.world.unheard.count == 1)
        sim.submit(.deleteAccount, user: 1)
        sim.run(for: .seconds(20 * 86_400))
        #expect(sim.world.violations.isEmpty)
        #expect(SimulationTests.states(sim) == [.completed])
        let revocations = sim.disk.requests.values.flatMap(\.request.revocations)
        #expect(revocations.map(\.verdict) == [.unconfirmed])
    }

    @Test("a hundred tokens of one day are refreshed at a hundred moments, one at a time")
    func spread() {
        var sim = Simulator(seed: 7, configuration: Scenario.configuration(hasClocks: true))
        for user in 1...100 { sim.storeToken(user: user, provider: idling) }
        sim.run(for: .seconds(150 * 86_400))
        let uses = sim.renewTimes
        #expect(uses.count == 100)
        let gaps = zip(uses.dropFirst(), uses).map { $0.since($1) }
        #expect((uses.last ?? sim.now).since(uses[0]) > .seconds(30 * 86_400))
        #expect(gaps.count { $0 < .seconds(1) } < 5)
    }
}

extension Simulator {
    fileprivate func renewalUses(_ provider: ProviderName) -> Int {
        renewed.count { $0.provider == provider }
    }

    fileprivate var renewTimes: [WallTime] { renewed.map(\.at) }
}
