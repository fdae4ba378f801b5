import Control
import Engine
import Lifecycle
import Testing

@testable import Daemon

@Suite("Holds on a request and on its user") struct TwoHoldsTests {
    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)

    /// A request of alice that a clock that stands still leaves alone.
    private func withRequest(
        _ body: @Sendable (DaemonBackend, RequestID, UserID) async throws -> Void,
        log: ([String]) -> Void = { _ in }
    ) async throws {
        let bench = try Bench()
        let backend = try bench.backend(clock: StillClock())
        let alice = try #require(UserID("alice"))
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            var deletion = try BackendTests().ask("alice", .deleteAccount)
            deletion.options.graceSeconds = 3600
            let id = try await backend.submit(deletion, idempotencyKey: nil, caller: Self.caller).id
            try await body(backend, id, alice)
            group.cancelAll()
        }
        log(bench.log.all)
    }

    private func heldBy(
        _ backend: DaemonBackend,
        _ id: RequestID
    ) async throws -> [WireRequestHold]? {
        try await backend.show(id, caller: Self.caller).heldBy
    }

    @Test("the reasons are shown to operators, end with their holds, and are in no journal")
    func reasons() async throws {
        try await withRequest { backend, id, alice in
            let hold = RequestAction.hold(reason: "canary-71")
            _ = try await backend.act(hold, on: id, caller: Self.caller)
            let user = { (isHeld: Bool) in
                _ = try await backend.setHold(
                    isHeld,
                    user: alice,
                    reason: isHeld ? "canary-72: Ann" : nil,
                    caller: Self.caller
                )
            }
            try await user(true)
            let name = backend.holdName(of: alice)
            let own = WireRequestHold(reason: "canary-71")
            let both = [own, WireRequestHold(name: name, reason: "canary-72: Ann")]
            #expect(try await heldBy(backend, id) == both)
            try await user(false)
            #expect(try await heldBy(backend, id) == [own])
            _ = try await backend.act(.release, on: id, caller: Self.caller)
            _ = try await backend.act(.hold(reason: nil), on: id, caller: Self.caller)
            #expect(try await heldBy(backend, id) == [WireRequestHold()])
        } log: { log in
            // One entry for each act.
            #expect(log.count { $0.contains("operator.uid=1000") || $0.hasPrefix("hold") } == 5)
            #expect(!log.contains { $0.contains("canary") })
        }
    }

    @Test(
        "each is lifted by its own command, whichever was placed first",
        .timeLimit(.minutes(5)),
        arguments: [false, true]
    )
    func both(isUserFirst: Bool) async throws {
        try await withRequest { backend, id, alice in
            for isOfUser in [isUserFirst, !isUserFirst] {
                if isOfUser {
                    _ = try await backend.setHold(
                        true,
                        user: alice,
                        reason: nil,
                        caller: Self.caller
                    )
                } else {
                    _ = try await backend.act(.hold(reason: nil), on: id, caller: Self.caller)
                }
            }
            #expect(
                try await heldBy(backend, id) == [
                    WireRequestHold(), WireRequestHold(name: backend.holdName(of: alice)),
                ]
            )
            _ = try await backend.setHold(false, user: alice, reason: nil, caller: Self.caller)
            #expect(try await heldBy(backend, id) == [WireRequestHold()])
            #expect(try await backend.show(id, caller: Self.caller).detail == "on_hold")
            _ = try await backend.act(.release, on: id, caller: Self.caller)
            #expect(try await heldBy(backend, id) == nil)
            #expect(try await backend.show(id, caller: Self.caller).state == .known(.scheduled))
        }
    }

    @Test("the release of a request leaves the hold on its user", .timeLimit(.minutes(5)))
    func userStays() async throws {
        try await withRequest { backend, id, alice in
            _ = try await backend.setHold(true, user: alice, reason: nil, caller: Self.caller)
            _ = try await backend.act(.hold(reason: nil), on: id, caller: Self.caller)
            _ = try await backend.act(.release, on: id, caller: Self.caller)
            let held = WireRequestHold(name: backend.holdName(of: alice))
            #expect(try await heldBy(backend, id) == [held])
            #expect(try await backend.show(id, caller: Self.caller).detail == "on_hold")
            await #expect(throws: ControlProblem.self) {
                _ = try await backend.act(.release, on: id, caller: Self.caller)
            }
            _ = try await backend.setHold(false, user: alice, reason: nil, caller: Self.caller)
            #expect(try await backend.show(id, caller: Self.caller).state == .known(.scheduled))
        }
    }

    @Test("a hold on a user is listed, and released by its name", .timeLimit(.minutes(5)))
    func byName() async throws {
        try await withRequest { backend, id, alice in
            let held = try await backend.setHold(
                true,
                user: alice,
                reason: "case 7",
                caller: Self.caller
            )
            let listed = try await backend.holds(caller: Self.caller).items
            #expect(listed.map(\.name) == [held.name] && held.name == backend.holdName(of: alice))
            #expect(listed[0].reason == "case 7" && listed[0].uid == 1000)
            #expect(listed[0].since == held.since && listed[0].store == nil)
            let released = try await backend.liftHold(held.name, caller: Self.caller)
            #expect(released == listed[0])
            #expect(try await backend.show(id, caller: Self.caller).state == .known(.scheduled))
            #expect(try await backend.holds(caller: Self.caller).items.isEmpty)
            await #expect {
                let input = HoldInput(store: StoreName("app-db"), rows: nil, reason: nil)
                _ = try await backend.placeHold(held.name, input, caller: Self.caller)
            } throws: { error in
                (error as? ControlProblem)?.code == .malformedField
            }
            for name in [held.name, "user.", "user.a b", "user.posts"] {
                await #expect(throws: ControlProblem.self) {
                    _ = try await backend.liftHold(name, caller: Self.caller)
                }
            }
        }
    }

    @Test("a user who is not on hold cannot be released", .timeLimit(.minutes(5)))
    func notHeld() async throws {
        try await withRequest { backend, id, alice in
            _ = try await backend.act(.hold(reason: nil), on: id, caller: Self.caller)
            await #expect(throws: ControlProblem(.holdNotFound, "this user is not on hold")) {
                _ = try await backend.setHold(false, user: alice, reason: nil, caller: Self.caller)
            }
            #expect(try await heldBy(backend, id) == [WireRequestHold()])
        }
    }
}

extension DaemonBackend {
    fileprivate func holdName(of user: UserID) -> String { WireHold.name(ofUser: hash(user)) }
}
