import Engine
import Glibc
import Lifecycle
import Testing

@testable import Storage

/// Figures for people who look; they assert nothing, because a machine under load proves nothing.
@Suite(.serialized, .enabled(if: unsafe getenv("EXPUNGED_FIGURES") != nil))
struct StateSpeedTests {
    private static func report(_ what: String, _ count: Int, _ time: Duration) {
        let perSecond = Double(count) / (Double(time.milliseconds) / 1000)
        print("\(what): \(Int(perSecond))/s")
    }

    @Test func `small mutations from 64 callers`() async throws {
        let fixture = try StateFixture()
        let writer = fixture.database.writer
        for callers in [1, 64, 512] {
            let each = callers == 1 ? 3000 : 60_000 / callers
            let time = try await ContinuousClock().measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for caller in 0..<callers {
                        group.addTask {
                            for index in 0..<each {
                                let id = Int64(caller * each + index)
                                _ = try await writer.perform { database in
                                    try database.run(
                                        "INSERT OR REPLACE INTO purge_log VALUES (?, 1)",
                                        [.int(id)]
                                    )
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            Self.report("small mutations, \(callers) callers", callers * each, time)
        }
    }

    @Test func `submissions and whole lives`() async throws {
        let fixture = try StateFixture()
        let count = 20_000
        for start in stride(from: 0, to: count, by: 500) {
            let new = (start..<start + 500).map { StateFixture.credential("u\($0)", "t\($0)") }
            _ = try await fixture.database.storeCredentials(
                new,
                now: StateFixture.start,
                newID: { IdentityID(StateFixture.newID()) }
            )
        }
        let submissions = (0..<count).map { StateFixture.submission("u\($0)") }
        var loaded: [LoadedRequest] = []
        let accepting = try await ContinuousClock().measure {
            for start in stride(from: 0, to: count, by: 500) {
                let outcomes = try await fixture.database.accept(
                    Array(submissions[start..<start + 500]),
                    policy: StateFixture.policy,
                    now: StateFixture.start,
                    newID: { RequestID(StateFixture.newID()) }
                )
                for case .accepted(let request, _) in outcomes { loaded.append(request) }
            }
        }
        Self.report("submissions, batches of 500", count, accepting)
        let fetching = try await ContinuousClock().measure {
            _ = try await fixture.database.dueRequests(
                at: StateFixture.start,
                limit: 2000,
                excluding: [],
                laneLimits: [:]
            )
        }
        Self.report("due requests read", 2000, fetching)
        let lives = loaded.map { $0.request.life() }
        let names = ["revoke intents", "purge intents", "purges", "completions"]
        for step in 1..<lives[0].count {
            let living = try await ContinuousClock().measure {
                for start in stride(from: 0, to: count, by: 128) {
                    _ = try await fixture.database.commit(
                        lives[start..<min(start + 128, count)].map {
                            .save(now: $0[step], was: $0[step - 1], at: StateFixture.start)
                        }
                    )
                }
            }
            Self.report(names[step - 1], count, living)
        }
        let scrub = try await ContinuousClock().measure { try await fixture.database.scrub() }
        print("scrub: \(scrub)")
    }
}

extension Request {
    /// The states that are made durable on the way of a deletion without failure.
    fileprivate func life() -> [Request] {
        var revoking = self
        revoking.phase = .open(.revoking)
        revoking.revocations[0].credentials[0].step = .revoking
        revoking.revocations[0].attempts = 1
        revoking.revocations[0].isBusy = true
        var purging = completed()
        purging.phase = .open(.purging)
        purging.endedAt = nil
        purging.purgeStartedAt = acceptedAt
        purging.purges[0].step = .waiting
        purging.purges[0].attempts = 1
        var verifying = purging
        verifying.phase = .open(.verifying)
        verifying.purges[0].step = .purged
        verifying.purges[0].counts = PurgeCounts(entries: [
            .init(name: "posts", action: .rule(.delete), rowCount: 16)
        ])
        var done = verifying
        done.purges[0].step = .verified
        done.phase = .completed
        done.endedAt = acceptedAt
        done.dueAt = nil
        return [self, revoking, purging, verifying, done]
    }
}
