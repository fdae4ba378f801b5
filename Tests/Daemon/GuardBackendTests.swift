import Control
import Engine
import Lifecycle
import Storage
import Testing

@testable import Daemon

@Suite("The mass-deletion guard over the control API") struct GuardBackendTests {
    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let stopped = ParkReason.massDeletionGuard.rawValue

    /// Hands deletions in and waits until each of them ended or waits.
    private func submit(_ users: [String], to backend: DaemonBackend) async throws -> [String] {
        let changes = try await backend.events(nil, caller: Self.caller)
        for user in users {
            let deletion = try BackendTests().ask(user, .deleteAccount)
            _ = try await backend.submit(deletion, idempotencyKey: nil, caller: Self.caller)
        }
        return await Self.settled(users.count, changes)
    }

    private static func settled(_ count: Int, _ changes: AsyncStream<WireEvent>) async -> [String] {
        var ends: [RequestID: String] = [:]
        var told: [String] = []
        for await change in changes {
            told.append("\(change)")
            guard let id = change.requestID, let state = change.state else { continue }
            let isEnd =
                state == RequestState.completed.rawValue || state == RequestState.parked.rawValue
            if isEnd { ends[id] = change.detail ?? state }
            if ends.count == count { break }
        }
        // One passes at least, by the limit or an override.
        #expect(count == 1 || ends.values.contains { $0 != stopped }, "\(told)")
        return ends.values.sorted()
    }

    private func refusal(
        _ backend: DaemonBackend,
        count: Int? = nil
    ) async -> ControlProblem.Code? {
        do throws(ControlProblem) {
            _ = try await backend.overrideGuard(OverrideInput(count: count), caller: Self.caller)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "an override lets exactly so many go beyond the limit, and works once",
        .timeLimit(.minutes(5)),
        arguments: [nil, 1, 2]
    )
    func overriding(count: Int?) async throws {
        let bench = try Bench()
        let settings = "[requests]\nmax_deletions_per_hour = 1"
        let backend = try bench.backend(more: settings, clock: StillClock())
        let passing = count ?? 3
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            #expect(await refusal(backend) == .wrongState)
            let users = ["alice", "bob", "carol", "dave"]
            let ends = try await submit(users, to: backend)
            #expect(ends == ["completed"] + Array(repeating: Self.stopped, count: 3))
            #expect(try await backend.status(caller: Self.caller).guardState.waiting == 3)

            let changes = try await backend.events(nil, caller: Self.caller)
            #expect(await refusal(backend, count: count) == nil)
            let after = await Self.settled(passing, changes)
            #expect(after == Array(repeating: "completed", count: passing))
            await backend.parts.engine.probe()
            #expect(try await bench.state.guardOverride(at: Bench.start) == nil)
            let state = try await backend.status(caller: Self.caller).guardState
            #expect(!state.isOpen && state.waiting == 3 - passing)
            #expect(state.overrideRemaining == nil)

            #expect(try await submit(["eve"], to: backend) == [Self.stopped])
            group.cancelAll()
        }
    }

    @Test(
        "an override for more than wait keeps the rest for an hour",
        .timeLimit(.minutes(5))
    )
    func keeping() async throws {
        let bench = try Bench()
        let settings = "[requests]\nmax_deletions_per_hour = 1"
        let backend = try bench.backend(more: settings, clock: StillClock())
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            #expect(try await submit(["alice"], to: backend) == ["completed"])
            // Closed, but nobody waits: how many is for the operator to say.
            #expect(await refusal(backend) == .wrongState)
            #expect(await refusal(backend, count: 2) == nil)
            let written = try await bench.state.guardOverride(at: Bench.start)
            #expect(bench.log.all.filter { $0.contains("operator.uid=1000") }.count == 1)
            #expect(written?.purges == 2)
            #expect(written?.until == Bench.start + .seconds(3600))
            let ends = try await submit(["bob", "carol", "dave"], to: backend)
            #expect(ends == ["completed", "completed", Self.stopped])
            group.cancelAll()
        }
    }

    @Test("a state that fails under the engine ends it", .timeLimit(.minutes(5)))
    func failingState() async throws {
        let bench = try Bench()
        let backend = try bench.backend(more: "", clock: StillClock())
        await #expect(throws: (any Error).self) {
            try await withThrowingTaskGroup { group in
                group.addTask { try await backend.parts.engine.run() }
                #expect(try await submit(["alice"], to: backend) == ["completed"])
                try await bench.state.close()
                backend.parts.engine.post(
                    .guardOverride(purges: 1, until: Bench.start + .seconds(3600))
                )
                try await group.waitForAll()
            }
        }
    }
}
