import Control
import Engine
import Lifecycle
import Storage
import Synchronization
import Testing

@testable import Daemon

/// A store of two rows for everybody, one of which any hold on rows is about.
private final class DisputedStore: RowHolding, StubStore {
    let name: StoreName
    private let rows = Mutex<[UserID: Int]>([:])

    init(_ name: StoreName = StoreName("app-db")) { self.name = name }

    func count(of user: UserID) -> Int { rows.withLock { $0[user, default: 2] } }

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        orders.map { order in
            let left = order.holds.isEmpty ? 0 : 1
            rows.withLock { $0[order.user] = left }
            guard left > 0 else { return .done(PurgeCounts()) }
            return .held(PurgeCounts(), under: Set(order.holds.map(\.name)))
        }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        orders.map { count(of: $0.user) == 0 ? .clean : .remaining(count(of: $0.user)) }
    }

    func check(_ filter: RowFilter) async -> FilterAnswer {
        filter.table == "orders" ? .accepted : .refused("no such table")
    }
}

@Suite("Holds on stores over the control API") struct HoldBackendTests {
    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let store = StoreName("app-db")
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

    private static func rows(_ table: String) -> RowFilter {
        RowFilter(table: table, conditions: [.init(column: "status", values: ["disputed"])])
    }

    private static let accounts = StoreName("accounts")
    private static let accountSettings = """

        [[store]]
        name = "accounts"
        kind = "firebase-auth"
        project = "example-project"
        key_credential = "service-account.json"
        """

    /// Runs a deletion of alice until it ends or waits, and hands over to `body`.
    private func run(
        holding: [(String, HoldInput)],
        accounts: DisputedStore? = nil,
        on known: Bench? = nil,
        _ body: @Sendable (DaemonBackend, RequestID, DisputedStore) async throws -> Void
    ) async throws {
        let bench = try known ?? Bench()
        let store = DisputedStore()
        let backend = try bench.backend(
            more: Self.settings + (accounts == nil ? "" : Self.accountSettings),
            stores: [Self.store: store, Self.accounts: accounts].compactMapValues(\.self),
            clock: StillClock()
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            for (name, input) in holding {
                let placed = try await backend.placeHold(name, input, caller: Self.caller)
                #expect(placed.name == name && placed.uid == 1000)
            }
            #expect(try await bench.state.pauses().holds.map(\.name) == holding.map(\.0))
            let changes = try await backend.events(nil, caller: Self.caller)
            let deletion = try BackendTests().ask("alice", .deleteAccount)
            let id = try await backend.submit(deletion, idempotencyKey: nil, caller: Self.caller).id
            await Self.wait(for: .parked, changes)
            try await body(backend, id, store)
            group.cancelAll()
        }
    }

    private static func wait(for state: RequestState, _ changes: AsyncStream<WireEvent>) async {
        for await change in changes where change.state == state.rawValue { return }
        Issue.record("never \(state)")
    }

    private func problem(
        _ backend: DaemonBackend,
        _ name: String,
        _ input: HoldInput
    ) async -> ControlProblem.Code? {
        do throws(ControlProblem) {
            _ = try await backend.placeHold(name, input, caller: Self.caller)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a held store is left alone, and the request ends by itself", .timeLimit(.minutes(5)))
    func wholeStore() async throws {
        let whole = HoldInput(store: Self.store, reason: "case 7")
        try await run(holding: [("case", whole)]) { backend, id, store in
            let alice = try #require(UserID("alice"))
            #expect(try await backend.show(id, caller: Self.caller).detail == "on_hold")
            #expect(store.count(of: alice) == 2)
            let health = try await backend.stores(caller: Self.caller).items[0]
            #expect(health.state == .known(.held) && health.detail == "on_hold")
            #expect(try await backend.holds(caller: Self.caller).items.map(\.reason) == ["case 7"])
            let changes = try await backend.events(nil, caller: Self.caller)
            #expect(try await backend.liftHold("case", caller: Self.caller).store == "app-db")
            await Self.wait(for: .completed, changes)
            #expect(store.count(of: alice) == 0)
            #expect(try await backend.holds(caller: Self.caller).items.isEmpty)
        }
    }

    @Test(
        "a refused abandon changes nothing of the receipt",
        .timeLimit(.minutes(5)),
        arguments: [nil, "7 earlier"]
    )
    func refusedAbandon(note: String?) async throws {
        let whole = HoldInput(store: Self.store, reason: "case 7")
        try await run(holding: [("case", whole)]) { backend, id, _ in
            let name = AbandonNote.name(of: id)
            try await backend.parts.state.setNote(name, to: note)
            await #expect(throws: ControlProblem.self) {
                try await backend.act(
                    .abandon(reason: "refused", provider: nil),
                    on: id,
                    caller: Self.caller
                )
            }
            let after = try await backend.parts.state.note(name)
            #expect(after == note)
        }
    }

    @Test("held rows stay, and the request ends by itself", .timeLimit(.minutes(5)))
    func rows() async throws {
        let input = HoldInput(store: Self.store, rows: Self.rows("orders"))
        try await run(holding: [("rows", input)]) { backend, id, store in
            let alice = try #require(UserID("alice"))
            #expect(try await backend.show(id, caller: Self.caller).detail == "on_hold")
            #expect(store.count(of: alice) == 1)
            let changes = try await backend.events(nil, caller: Self.caller)
            _ = try await backend.liftHold("rows", caller: Self.caller)
            await Self.wait(for: .completed, changes)
            #expect(store.count(of: alice) == 0)
        }
    }

    @Test(
        "a Firebase account stays for as long as the user's data elsewhere is held",
        .timeLimit(.minutes(5)),
        arguments: [false, true]
    )
    func accountStays(isOfRows: Bool) async throws {
        let accounts = DisputedStore(Self.accounts)
        let input = HoldInput(store: Self.store, rows: isOfRows ? Self.rows("orders") : nil)
        try await run(holding: [("case", input)], accounts: accounts) { backend, id, store in
            let alice = try #require(UserID("alice"))
            #expect(try await backend.show(id, caller: Self.caller).detail == "on_hold")
            #expect(store.count(of: alice) == (isOfRows ? 1 : 2))
            #expect(accounts.count(of: alice) == 2)
            let changes = try await backend.events(nil, caller: Self.caller)
            _ = try await backend.liftHold("case", caller: Self.caller)
            await Self.wait(for: .completed, changes)
            #expect(store.count(of: alice) == 0 && accounts.count(of: alice) == 0)
        }
    }

    @Test("a request's own hold is lifted although its store is held", .timeLimit(.minutes(5)))
    func ownHoldOnHeldStore() async throws {
        let bench = try Bench()
        let log = bench.log
        let whole = HoldInput(store: Self.store, reason: "case 7")
        try await run(holding: [("case", whole)], on: bench) { backend, id, store in
            let alice = try #require(UserID("alice"))
            _ = try await backend.act(.hold(reason: nil), on: id, caller: Self.caller)
            let released = try await backend.act(.release, on: id, caller: Self.caller)
            #expect(released.heldBy == [WireRequestHold(name: "case", store: "app-db")])
            #expect(log.all.contains { $0.contains("request.id=\(id) step=release") })
            await #expect(throws: ControlProblem.self) {
                _ = try await backend.act(.release, on: id, caller: Self.caller)
            }
            let changes = try await backend.events(nil, caller: Self.caller)
            _ = try await backend.liftHold("case", caller: Self.caller)
            await Self.wait(for: .completed, changes)
            #expect(store.count(of: alice) == 0)
        }
    }

    @Test(
        "a hold on a request whose store was held ends like any other",
        .timeLimit(.minutes(5)),
        arguments: [false, true]
    )
    func holdAfterStoreHold(isOfUser: Bool) async throws {
        let whole = HoldInput(store: Self.store)
        try await run(holding: [("case", whole)]) { backend, id, store in
            let alice = try #require(UserID("alice"))
            func set(_ isHeld: Bool) async throws {
                if isOfUser {
                    _ = try await backend.setHold(
                        isHeld,
                        user: alice,
                        reason: nil,
                        caller: Self.caller
                    )
                } else {
                    let action = isHeld ? RequestAction.hold(reason: nil) : .release
                    _ = try await backend.act(action, on: id, caller: Self.caller)
                }
            }
            try await set(true)
            _ = try await backend.liftHold("case", caller: Self.caller)
            // The request was woken, and parked again for the other hold.
            for _ in 0..<3 { await backend.parts.engine.probe() }
            #expect(store.count(of: alice) == 2)
            let changes = try await backend.events(nil, caller: Self.caller)
            try await set(false)
            await Self.wait(for: .completed, changes)
            #expect(store.count(of: alice) == 0)
        }
    }

    @Test("a hold that cannot be kept is refused", .timeLimit(.minutes(5)))
    func refusals() async throws {
        let whole = HoldInput(store: Self.store)
        try await run(holding: [("case", whole)]) { backend, _, _ in
            #expect(await problem(backend, "case", whole) == nil)
            let other = HoldInput(store: Self.store, rows: Self.rows("orders"))
            #expect(await problem(backend, "case", other) == .wrongState)
            let strange = HoldInput(store: Self.store, rows: Self.rows("posts"))
            #expect(await problem(backend, "a", strange) == .filterRefused)
            let nowhere = HoldInput(store: StoreName("nowhere"))
            #expect(await problem(backend, "a", nowhere) == .unknownStore)
            await #expect(throws: ControlProblem(.holdNotFound)) {
                _ = try await backend.liftHold("a", caller: Self.caller)
            }
        }
    }
}
