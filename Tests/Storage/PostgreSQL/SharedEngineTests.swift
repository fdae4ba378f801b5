import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Storage

/// An engine of one host, with one store that has no rows.
private final class EngineHost: Sendable {
    let database: SharedDatabase
    let engine: DeletionEngine
    let completed: AsyncStream<RequestID>

    init(_ database: SharedDatabase, _ clock: AnchoredClock) {
        self.database = database
        let (completed, signal) = AsyncStream.makeStream(of: RequestID.self)
        self.completed = completed
        var core = EngineCore(
            configuration: EngineConfiguration(
                providers: [:],
                lanes: [:],
                stores: [StoreName("app-db")],
                withoutIdentities: .proceed,
                purgesPerHourMax: 1000
            ),
            pauses: StoredPauses(),
            isVaultOpen: true,
            seed: 1,
            ownership: .none
        )
        core.start(suspects: [], purgesInLastHour: 0, exchanges: [], at: clock.now())
        var ports = EnginePorts(
            state: database.state,
            vault: SealedShut(),
            hasher: PlainHasher(),
            observer: Watcher(signal: signal),
            clock: clock,
            makeRowNonce: { [] }
        )
        ports.shared = SharedState(store: database, leases: database)
        engine = DeletionEngine(
            core: core,
            ports: ports,
            adapters: EngineAdapters(
                providers: [:],
                stores: [StoreName("app-db"): EmptyStore()]
            )
        )
    }

    /// Returns when all of these are completed by this host.
    func complete(_ ids: [RequestID]) async {
        var open = Set(ids)
        for await id in completed {
            open.remove(id)
            if open.isEmpty { return }
        }
    }
}

private struct Watcher: EngineObserver {
    let signal: AsyncStream<RequestID>.Continuation

    func changed(_ request: Request) { if request.phase == .completed { signal.yield(request.id) } }
    func announced(_ announcement: Announcement, of request: RequestID) {}
    func reported(_ report: EngineReport) {}
}

private struct EmptyStore: PurgeStore {
    let name = StoreName("app-db")

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        orders.map { _ in .done(PurgeCounts()) }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] { orders.map { _ in .clean } }
    func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }
    func inspect(withOutages: Bool) async -> StoreFindings { StoreFindings(problems: []) }
    func shutdown() async {}
}

private struct SealedShut: CredentialVault {
    let isOpen = true

    func makeUserKey(userHash: [UInt8]) throws(VaultError) -> WrappedKey {
        throw VaultError(kind: .sealed)
    }

    func seal(
        _ secret: Secret,
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> [UInt8] { throw VaultError(kind: .sealed) }

    func open(
        _ sealed: [UInt8],
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> Secret { throw VaultError(kind: .sealed) }
}

private struct PlainHasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] { StateFixture.hash(text) }
}

@Suite("Engines of several hosts on one server")
struct SharedEngineTests {
    @Test(.timeLimit(.minutes(10)))
    func `a host goes on where one died, and where one was stopped, and answers for all`()
        async throws
    {
        let clock = AnchoredClock()
        let bench = try SharedBench("a", "b", "c", now: { clock.now() })
        let hosts = bench.hosts.map { EngineHost($0, clock) }
        @Sendable func accept(_ count: Int, at host: EngineHost) async throws -> [RequestID] {
            var ids: [RequestID] = []
            for _ in 0..<count {
                let user = "user \(StateFixture.newID())"
                ids.append(try await host.database.accept(user, at: clock.now()).request.id)
            }
            return ids
        }
        // b accepts for a, which owns everything, and hears of it at once.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hosts[0].engine.run() }
            let ids = try await accept(30, at: hosts[1])
            await hosts[0].complete(ids)
            let outcome = try await hosts[1].engine.submit(.operate(ids[0], .cancel))
            #expect(outcome == .notOpen)
            group.cancelAll()
        }
        // a is gone without a word.
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ids = try await accept(30, at: hosts[1])
            group.addTask { try await hosts[1].engine.run() }
            await hosts[1].complete(ids)
            hosts[1].engine.leaveAll()
            // It may end with the cancellation of what was under way.
            _ = await group.nextResult()
        }
        // What a renewed last has ended, however slowly it did.
        try bench.forget("a")
        // b has given all back: c need not wait for the end of a lease.
        let view = try await bench.hosts[2].renew([], rulesSeen: 1).leases
        #expect(view.free == .all && view.share == Partition.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ids = try await accept(30, at: hosts[2])
            group.addTask { try await hosts[2].engine.run() }
            await hosts[2].complete(ids)
            group.cancelAll()
        }
        #expect(try await bench.int("SELECT completed FROM totals") == 90)
        #expect(try await bench.int("SELECT count(*) FROM requests WHERE ended_at IS NULL") == 0)
    }
}
