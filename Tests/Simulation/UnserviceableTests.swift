import Lifecycle
import Testing

@testable import Engine

/// Users that a provider cannot serve, beside users that it serves.
@Suite("unserviceable users")
struct UnserviceableTests {
    private static let healthy = 30

    /// How long the deletions of the users that are served take.
    private static func time(
        refusing refused: Int,
        with trouble: Trouble,
        seed: UInt64
    ) -> (time: Duration, sim: Simulator) {
        var sim = Simulator(seed: seed, configuration: Scenario.configuration())
        for user in 1...(healthy + refused) { sim.storeToken(user: user, provider: apple) }
        for user in (healthy + 1)..<(healthy + refused + 1) {
            sim.faults.userTroubles[user] = trouble
            sim.submit(.deleteAccount, user: user)
        }
        // Long enough for everything that refused users can do to the provider's breaker.
        sim.run(for: .seconds(120))
        let start = sim.now
        for user in 1...healthy { sim.submit(.deleteAccount, user: user) }
        while sim.openHealthyCount(upTo: healthy) > 0, sim.now.since(start) < .seconds(600) {
            sim.run(for: .milliseconds(50))
        }
        return (sim.now.since(start), sim)
    }

    @Test(
        "the others take at most twice the time that they need alone",
        arguments: [
            (Trouble.rejected, 12), (.rejected, 3), (.unusable, 3), (.lost, 7), (.unreachable, 7),
        ],
        [1, 2, 3] as [UInt64]
    )
    func others(_ refusal: (trouble: Trouble, users: Int), seed: UInt64) {
        let alone = Self.time(refusing: 0, with: refusal.trouble, seed: seed).time
        let (beside, sim) = Self.time(
            refusing: refusal.users,
            with: refusal.trouble,
            seed: seed
        )
        #expect(beside <= alone * 2, "alone \(alone), beside \(beside)")
        #expect(sim.world.violations.isEmpty)
        #expect(sim.core.lanes[apple]?.isTrusted == true)
    }

    @Test("who is served gets through although enough others fail to open the breaker")
    func behindTheBreaker() {
        for seed in 1...5 as ClosedRange<UInt64> {
            let (time, sim) = Self.time(refusing: 12, with: .unusable, seed: seed)
            #expect(time < .seconds(320), "seed \(seed): \(time)")
            #expect(sim.openHealthyCount(upTo: Self.healthy) == 0)
        }
    }

    @Test(
        "codes are exchanged within a second",
        arguments: [Trouble.rejected, .throttled(retryAfter: nil)]
    )
    func codes(_ trouble: Trouble) {
        var sim = Self.time(refusing: 12, with: trouble, seed: 9).sim
        for user in 100..<120 {
            sim.signIn(user: user, provider: apple)
            sim.run(for: .seconds(1))
            let uses = sim.world.codes.values.first { $0.user == user }?.uses
            #expect(uses == 1, "user \(user)")
        }
    }
}

extension Simulator {
    fileprivate func openHealthyCount(upTo user: Int) -> Int {
        store.requests.values.count { $0.user <= user && !$0.request.phase.isEnded }
    }
}
