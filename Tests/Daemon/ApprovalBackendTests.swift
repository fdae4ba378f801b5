import Control
import Encoding
import Engine
import Lifecycle
import Testing

@testable import Daemon

@Suite("Plans and approvals over the control API") struct ApprovalBackendTests {
    private static let first = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let second = Caller(role: .operator, uid: 0, operatorUID: 1001)
    private static let hidden = Caller(role: .operator, uid: 0)

    /// Runs the engine behind a backend that asks for approvals.
    private func run(
        sentBy sender: Caller = first,
        _ body: @Sendable (DaemonBackend, RequestID) async throws -> Void
    ) async throws {
        let bench = try Bench()
        let settings = "[requests]\napproval = \"required\""
        let clock = JumpingClock()
        try await bench.enforce(settings)
        let backend = try bench.backend(more: settings, clock: clock)
        let deletion = try BackendTests().ask("alice", .deleteAccount)
        let id = try await backend.submit(deletion, idempotencyKey: nil, caller: sender).id
        try await withThrowingTaskGroup { group in
            // Before the engine runs, so that no change is missed.
            let changes = try await backend.events(id, caller: Self.first)
            group.addTask { try await backend.parts.engine.run() }
            try await Self.wait(for: .parked, changes)
            try await body(backend, id)
            group.cancelAll()
        }
    }

    private static func wait(
        for state: RequestState,
        _ changes: AsyncStream<WireEvent>
    ) async throws {
        for await change in changes where change.state == state.rawValue { return }
        Issue.record("never \(state)")
    }

    @Test("two root shells of one login are one operator, another login is another")
    func operators() async throws {
        try await run { backend, id in
            let plan = try await backend.plan(of: id, caller: Self.first)
            #expect(plan.state == .known(.awaitingApproval) && plan.requestID == id)
            func refusal(_ hash: String, _ caller: Caller) async -> ControlProblem.Code? {
                do throws(ControlProblem) {
                    _ = try await backend.act(.approve(plan: hash), on: id, caller: caller)
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(await refusal(plan.hash, Self.first) == .sameOperator)
            #expect(await refusal(plan.hash, Self.hidden) == .operatorUnknown)
            #expect(await refusal("another", Self.second) == .planChanged)
            do throws(ControlProblem) {
                _ = try await backend.act(.approve(plan: "another"), on: id, caller: Self.second)
            } catch {
                let text = "the hash of the plan is \(plan.hash): it changed since, or another was"
                #expect(error.detail == text + " given")
            }
            let changes = try await backend.events(id, caller: Self.second)
            #expect(await refusal(plan.hash, Self.second) == nil)
            try await Self.wait(for: .completed, changes)
            let approved = try await backend.plan(of: id, caller: Self.first)
            #expect(approved.state == .known(.approved) && approved.approvedBy == 1001)
            let receipt = try await backend.receipt(id, caller: Self.first).compactText
            #expect(receipt.contains("\"uid\":1001") && receipt.contains(plan.hash))
        }
    }

    @Test(
        "what a hidden peer hands in takes two operators, on either socket",
        arguments: [hidden, Caller(role: .submit, uid: 1000, isHidden: true)]
    )
    func hiddenPeer(_ sender: Caller) async throws {
        try await run(sentBy: sender) { backend, id in
            let plan = try await backend.plan(of: id, caller: Self.first)
            #expect(plan.approvalsRequired == 2)
            _ = try await backend.act(.approve(plan: plan.hash), on: id, caller: Self.first)
            let once = try await backend.plan(of: id, caller: Self.first)
            #expect(once.state == .known(.awaitingApproval) && once.firstApprovedBy == 1000)
            let steps = try await backend.show(id, caller: Self.first).steps
            #expect(steps.first { $0.kind == .known(.plan) }?.verdict == "approved_1_of_2")
            await #expect(throws: ControlProblem(.sameOperator)) {
                _ = try await backend.act(.approve(plan: plan.hash), on: id, caller: Self.first)
            }
            let changes = try await backend.events(id, caller: Self.second)
            _ = try await backend.act(.approve(plan: plan.hash), on: id, caller: Self.second)
            try await Self.wait(for: .completed, changes)
        }
    }

    @Test("what an application hands in that the service can see takes one operator")
    func application() async throws {
        try await run(sentBy: Caller(role: .submit, uid: 1000)) { backend, id in
            let plan = try await backend.plan(of: id, caller: Self.first)
            #expect(plan.approvalsRequired == 1)
            let changes = try await backend.events(id, caller: Self.first)
            _ = try await backend.act(.approve(plan: plan.hash), on: id, caller: Self.first)
            try await Self.wait(for: .completed, changes)
        }
    }

    @Test("a dry run has the hash of the request that would come of it")
    func dryRun() async throws {
        try await run { backend, id in
            let user = try #require(UserID("alice"))
            let dry = try await backend.makePlan(for: user, caller: Self.first)
            #expect(dry.state == .known(.notRequired) && dry.requestID == nil)
            #expect(dry.hash == (try await backend.plan(of: id, caller: Self.first)).hash)
            let other = try #require(UserID("bob"))
            #expect(try await backend.makePlan(for: other, caller: Self.first).hash != dry.hash)
        }
    }
}
