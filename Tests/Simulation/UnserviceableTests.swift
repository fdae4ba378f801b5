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
        with failure: EffectFailure,
        seed: UInt64
    ) -> (time: Duration, sim: Simulator) {
        var sim = Simulator(seed: seed, configuration: Scenario.configuration())
        for user in 1...(healthy + refused) { sim.storeToken(user: user, provider: apple) }
        for user in (healthy + 1)..<(healthy + refused + 1) {
            sim.faults.userFailures[user] = failure
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
            (EffectFailure.rejected, 12), (.rejected, 3), (.unusable, 3), (.lost, 7),
            (.unreachable, 7),
        ],
        [1, 2, 3] as [UInt64]
    )
    func others(_ refusal: (failure: EffectFailure, users: Int), seed: UInt64) {
        let alone = Self.time(refusing: 0, with: refusal.failure, seed: seed).time
        let (beside, sim) = Self.time(
            refusing: refusal.users,
            with: refusal.failure,
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

    @Test("users whose tokens alone are refused for ever end as unrevoked, after the deadline")
    func refusedForEver() {
        let refused = EffectFailure.refused(Refusal(status: 422))
        var sim = Self.time(refusing: 12, with: refused, seed: 4).sim
        #expect(sim.openHealthyCount(upTo: Self.healthy) == 0)
        // First the check is refused, then the revocation.
        sim.run(for: .seconds(12 * 3600))
        let waiting = sim.disk.requests.values.filter { !$0.request.phase.isEnded }
        #expect(waiting.count == 12)
        #expect(waiting.allSatisfy { $0.request.phase.parkReason == .needsReauthentication })
        sim.run(for: .seconds(40 * 86_400))
        let verdicts = sim.disk.requests.values.filter { $0.user > Self.healthy }
            .flatMap { $0.request.revocations.map(\.verdict) }
        #expect(verdicts == Array(repeating: .unrevoked, count: 12))
        #expect(sim.world.violations.isEmpty)
    }

    @Test("an endpoint that is none makes nobody unrevocable, and all end once it is right")
    func refusesAll() {
        var sim = Simulator(seed: 5, configuration: Scenario.configuration())
        for user in 1...12 {
            sim.storeToken(user: user, provider: apple)
            sim.faults.userFailures[user] = .refusesAll(Refusal(status: 404))
            sim.submit(.deleteAccount, user: user)
        }
        sim.run(for: .seconds(3 * 86_400))
        #expect(sim.core.lanes[apple]?.isTrusted == false)
        let states = sim.disk.requests.values.flatMap { $0.request.revocations }
        #expect(states.allSatisfy { $0.verdict == nil && $0.waitingSince == nil })
        sim.faults.userFailures = [:]
        sim.run(for: .seconds(2 * 86_400))
        #expect(sim.disk.requests.values.allSatisfy { $0.request.phase.isEnded })
        #expect(sim.world.violations.isEmpty)
    }

    @Test(
        "codes are exchanged within a second",
        arguments: [
            EffectFailure.rejected, .refused(Refusal(status: 422)), .throttled(retryAfter: nil),
        ]
    )
    func codes(_ failure: EffectFailure) {
        var sim = Self.time(refusing: 12, with: failure, seed: 9).sim
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
        disk.requests.values.count { $0.user <= user && !$0.request.phase.isEnded }
    }
}
