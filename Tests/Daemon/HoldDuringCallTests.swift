import Control
import Engine
import Lifecycle
import Storage
import Synchronization
import Testing

@testable import Daemon

/// A store of two rows for everybody that begins and ends each order when it is told to.
private final class SteppedStore: RowHolding, StubStore {
    let name = StoreName("app-db")
    private let rows = Mutex<[UserID: Int]>([:])
    /// Whose order has begun.
    let begun = AsyncStream.makeStream(of: String.self)
    private let steps = AsyncStream.makeStream(of: Void.self)

    func count(of user: String) -> Int? {
        UserID(user).map { user in rows.withLock { $0[user, default: 2] } }
    }

    /// Lets the order that has begun end.
    func step() { steps.continuation.yield() }

    func awaitBegin() async -> String? {
        for await user in begun.stream { return user }
        return nil
    }

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        var answers: [PurgeAnswer] = []
        for order in orders {
            guard !order.isStopped else {
                answers.append(.stopped)
                continue
            }
            begun.continuation.yield(order.user.exposeText())
            for await _ in steps.stream { break }
            let left = order.holds.isEmpty ? 0 : 1
            rows.withLock { $0[order.user] = left }
            let names = Set(order.holds.map(\.name))
            answers.append(
                left == 0 ? .done(PurgeCounts()) : .held(PurgeCounts(), under: names)
            )
        }
        return answers
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        orders.map { order in
            let left = rows.withLock { $0[order.user, default: 2] }
            return left == 0 ? .clean : .remaining(left)
        }
    }

    func check(_ filter: RowFilter) async -> FilterAnswer { .accepted }
}

@Suite("Holds that come while a call runs") struct HoldDuringCallTests {
    enum Hold: CaseIterable { case request, user, store, rows }

    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let settings = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[store.table]]
        table = "orders"
        column = "buyer"
        action = "delete"
        """
    private static let disputed = RowFilter(
        table: "orders",
        conditions: [.init(column: "status", values: ["disputed"])]
    )

    private static func place(
        _ hold: Hold,
        _ backend: DaemonBackend,
        _ id: RequestID
    ) async throws {
        switch hold {
        case .request:
            _ = try await backend.act(.hold(reason: nil), on: id, caller: caller)
        case .user:
            let bob = try #require(UserID("bob"))
            _ = try await backend.setHold(true, user: bob, reason: nil, caller: caller)
        case .store:
            let input = HoldInput(store: StoreName("app-db"))
            _ = try await backend.placeHold("case", input, caller: caller)
        case .rows:
            let input = HoldInput(store: StoreName("app-db"), rows: disputed)
            _ = try await backend.placeHold("case", input, caller: caller)
        }
    }

    private static func lift(
        _ hold: Hold,
        _ backend: DaemonBackend,
        _ id: RequestID
    ) async throws {
        switch hold {
        case .request:
            _ = try await backend.act(.release, on: id, caller: caller)
        case .user:
            let bob = try #require(UserID("bob"))
            _ = try await backend.setHold(false, user: bob, reason: nil, caller: caller)
        case .store, .rows:
            _ = try await backend.liftHold("case", caller: caller)
        }
    }

    /// Returns when each request has been in its state, in whatever order.
    private static func wait(
        for states: [RequestID: RequestState],
        _ changes: AsyncStream<WireEvent>
    ) async {
        var states = states
        for await change in changes {
            guard let id = change.requestID else { continue }
            if states[id]?.rawValue == change.state { states[id] = nil }
            if states.isEmpty { return }
        }
        Issue.record("never \(states)")
    }

    @Test(
        "an order that has begun ends, the next one waits for the release and then goes by itself",
        .timeLimit(.minutes(5)),
        arguments: Hold.allCases
    )
    func hold(_ hold: Hold) async throws {
        let bench = try Bench()
        let store = SteppedStore()
        let backend = try bench.backend(
            more: Self.settings,
            stores: [store.name: store],
            clock: StillClock()
        )
        func submit(_ user: String) async throws -> RequestID {
            let deletion = try BackendTests().ask(user, .deleteAccount)
            return try await backend.submit(deletion, idempotencyKey: nil, caller: Self.caller).id
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            var changes = try await backend.events(nil, caller: Self.caller)
            _ = try await submit("first")
            #expect(await store.awaitBegin() == "first")
            // Both wait for that call to end, and so go into one.
            let alice = try await submit("alice")
            await Self.wait(for: [alice: .purging], changes)
            let bob = try await submit("bob")
            await Self.wait(for: [bob: .purging], changes)
            store.step()
            #expect(await store.awaitBegin() == "alice")
            changes = try await backend.events(nil, caller: Self.caller)
            try await Self.place(hold, backend, bob)
            store.step()
            if hold == .rows {
                #expect(await store.awaitBegin() == "bob")
                store.step()
            }
            await Self.wait(for: [alice: .completed, bob: .parked], changes)
            #expect(store.count(of: "alice") == 0)
            #expect(store.count(of: "bob") == (hold == .rows ? 1 : 2))
            let held = try await backend.show(bob, caller: Self.caller)
            #expect(held.state == .known(.parked) && held.detail == "on_hold")
            changes = try await backend.events(nil, caller: Self.caller)
            try await Self.lift(hold, backend, bob)
            #expect(await store.awaitBegin() == "bob")
            store.step()
            await Self.wait(for: [bob: .completed], changes)
            #expect(store.count(of: "bob") == 0)
            group.cancelAll()
        }
    }
}
