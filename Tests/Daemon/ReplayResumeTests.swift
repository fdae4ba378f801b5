import Control
import Engine
import Lifecycle
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Stores

/// A replay that goes on after one that was cut off between a purge and its record.
struct ReplayResumeTests {
    private static let (database, crm, spaces) = (
        StoreName("app-db"), StoreName("crm"), StoreName("spaces")
    )

    /// A store that looks into the state when it is asked to purge, and answers as it is told.
    private struct Watched: StoreWrapper {
        let inner: any PurgeStore
        let state: StateDatabase
        let answer: @Sendable (Int, PurgeAnswer) -> PurgeAnswer
        private let calls = SharedList()

        init(
            _ inner: any PurgeStore,
            _ state: StateDatabase,
            _ answer: @escaping @Sendable (Int, PurgeAnswer) -> PurgeAnswer = { $1 }
        ) {
            (self.inner, self.state, self.answer) = (inner, state, answer)
        }

        /// What was noted when each call came.
        var noted: [[BegunErasure]] { calls.all }

        func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
            do {
                calls.append(try await state.begunReplays(in: name))
            } catch {
                Issue.record("cannot read what a test began")
            }
            let count = calls.all.count
            return await inner.purge(orders).map { answer(count, $0) }
        }
    }

    private final class SharedList: Sendable {
        private let list = Mutex<[[BegunErasure]]>([])
        var all: [[BegunErasure]] { list.withLock { $0 } }

        func append(_ begun: [BegunErasure]) { list.withLock { $0.append(begun) } }
    }

    /// Two users of three are erased.
    private static func world() async throws -> KeyWorld {
        let world = try await KeyWorld()
        try await world.insert("u3", "c3", "w3")
        for number in 1...2 {
            try await world.insert("u\(number)", "c\(number)", "w\(number)")
            let loaded = try await world.submit("u\(number)")
            await world.purge(loaded)
            try await world.complete(loaded, withRecheck: false)
        }
        return world
    }

    /// The tombstone of a user, or of an id in a keyed store.
    private static func tombstone(
        of text: String,
        in store: StoreName = database,
        _ world: KeyWorld
    ) async throws -> Tombstone {
        let id = try #require(UserID(text))
        let keyed = (world.registry.current.stores[store] as? KeyedStore)?.byKey()
        let hash = keyed?.tombstone(of: id) ?? world.bench.hasher.hash(text, domain: .user)
        let page = try await world.bench.state.tombstones(since: Bench.start, after: 0, limit: 99)
        return try #require(page.page.first { $0.hash == hash })
    }

    @discardableResult
    private static func begin(
        _ text: String,
        in store: StoreName = database,
        _ world: KeyWorld
    ) async throws -> RequestID {
        let tombstone = try await tombstone(of: text, in: store, world)
        let begun = BegunErasure(request: tombstone.request, hash: tombstone.hash)
        _ = try await world.bench.state.beginReplay(of: [begun], in: store)
        return tombstone.request
    }

    /// What follows the event in each entry, without the time.
    private static func entries(_ world: KeyWorld) async throws -> Set<String> {
        let leaves = try await world.bench.state.ledgerRows(from: 0).flatMap(\.leaves)
            .map { String(decoding: $0, as: UTF8.self) }
        return Set(
            leaves.filter { $0.contains("\"replayed\"") }.compactMap { leaf in
                leaf.firstRange(of: ",\"time\"").map { String(leaf[..<$0.lowerBound]) }
            }
        )
    }

    private static func entry(_ request: RequestID, _ store: StoreName, rows: Int?) -> String {
        (rows == nil ? "{\"detail\":\"resumed\"," : "{")
            + "\"event\":\"replayed\",\"request\":\"\(request)\","
            + (rows.map { "\"rows\":\($0)," } ?? "") + "\"store\":\"\(store)\""
    }

    private static func use(_ store: any PurgeStore, _ world: KeyWorld) {
        var stores = world.registry.current.stores
        stores[store.name] = store
        _ = world.registry.replace(
            with: Adapters(
                configuration: world.registry.current.configuration,
                providers: [:],
                stores: stores
            )
        )
    }

    private static func app(_ world: KeyWorld) throws -> any PurgeStore {
        try #require(world.registry.current.stores[database])
    }

    @Test func `whoever was erased when it was cut off is found, and recorded`() async throws {
        let world = try await Self.world()
        let gone = try await Self.begin("u1", world)
        try await world.insert("u2", "c2")
        let there = try await Self.tombstone(of: "u2", world).request
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        let store = try #require(replay.stores.first { $0.name.rawValue == "app-db" })
        #expect([store.found, store.erased, store.rows] == [2, 2, 1])
        #expect(
            try await Self.entries(world) == [
                Self.entry(gone, Self.database, rows: nil),
                Self.entry(there, Self.database, rows: 1), Self.entry(there, Self.crm, rows: 1),
            ]
        )
        #expect(try await world.rows("begun_replays") == 0)
        #expect(try await world.replay().stores.map(\.found) == [0, 0, 0])
    }

    @Test func `it is on disk before the store is asked, and is not there after it`()
        async throws
    {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        let store = Watched(try Self.app(world), world.bench.state)
        Self.use(store, world)
        #expect(try await world.replay().state.known == .finished)
        let tombstone = try await Self.tombstone(of: "u1", world)
        let begun = BegunErasure(request: tombstone.request, hash: tombstone.hash)
        #expect(store.noted == [[begun]])
        #expect(try await world.rows("begun_replays") == 0)
    }

    @Test func `what was not carried out is erased as ever, and told to be a second try`()
        async throws
    {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        let request = try await Self.begin("u1", world)
        let replay = try await world.replay()
        #expect(replay.stores.first { $0.name.rawValue == "app-db" }?.rows == 1)
        let entries = try await Self.entries(world)
        let entry = Self.entry(request, Self.database, rows: 1).dropFirst()
        #expect(entries.contains("{\"detail\":\"resumed\"," + entry))
        #expect(entries.count == 2)
        #expect(try await world.rows("begun_replays") == 0)
    }

    @Test func `what a store did and did not answer is recorded by the next try`() async throws {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        Self.use(
            Watched(try Self.app(world), world.bench.state) { $0 == 1 ? .failure(.lost) : $1 },
            world
        )
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        #expect(replay.stores.first { $0.name.rawValue == "app-db" }?.erased == 1)
        let request = try await Self.tombstone(of: "u1", world).request
        let entry = Self.entry(request, Self.database, rows: nil)
        #expect(try await Self.entries(world).contains(entry))
    }

    @Test func `what never answers stays begun for the next replay`() async throws {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        let app = try Self.app(world)
        Self.use(Watched(app, world.bench.state) { _, _ in .failure(.unreachable) }, world)
        #expect(try await world.replay().state.known == .incomplete)
        #expect(try await world.rows("begun_replays") == 1)
        #expect(try await !Self.entries(world).contains { $0.contains("app-db") })
        Self.use(app, world)
        #expect(try await world.replay().state.known == .finished)
        let request = try await Self.tombstone(of: "u1", world).request
        let entry = Self.entry(request, Self.database, rows: nil)
        #expect(try await Self.entries(world).contains(entry))
    }

    @Test func `where something newer stays nothing is claimed`() async throws {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        try await Self.begin("u1", world)
        let newer = PurgeCounts.Entry(
            name: "posts",
            action: .rule(.delete),
            rowCount: 0,
            newerCount: 1
        )
        Self.use(
            Watched(try Self.app(world), world.bench.state) { _, _ in
                .done(PurgeCounts(entries: [newer]))
            },
            world
        )
        let replay = try await world.replay()
        let store = try #require(replay.stores.first { $0.name.rawValue == "app-db" })
        #expect([store.found, store.erased, store.newer] == [0, 0, 1])
        #expect(try await !Self.entries(world).contains { $0.contains("app-db") })
        #expect(try await world.rows("begun_replays") == 0)
    }

    @Test func `nor where a shared id has an owner again`() async throws {
        let world = try await Self.world()
        try await Self.begin("w1", in: Self.spaces, world)
        try world.write("spaces/w1")
        try await world.join("u3", "w1")
        #expect(try await world.replay().stores.map(\.found) == [0, 0, 0])
        #expect(try world.names(in: "spaces") == ["w1", "w3"])
        #expect(try await Self.entries(world).isEmpty)
        #expect(try await world.rows("begun_replays") == 0)
    }

    @Test func `ids of a keyed store, and what a restored source led to, are recorded, too`()
        async throws
    {
        let world = try await Self.world()
        let listed = try await Self.begin("c2", in: Self.crm, world)
        // Of the other user: the source is purged, what its rows named is, and that is all.
        try await world.insert("u1", "c1")
        let tombstone = try await Self.tombstone(of: "u1", world)
        let user = try #require(UserID("u1"))
        let order = PurgeOrder(request: tombstone.request, user: user, cutoff: .distantFuture)
        _ = try await Self.app(world).purge([order])
        let led = BegunErasure(request: tombstone.request, hash: [])
        _ = try await world.bench.state.beginReplay(of: [led], in: Self.crm)
        try world.delete("crm/c1.json")
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        #expect(replay.stores.map(\.erased).reduce(0, +) == 2)
        #expect(
            try await Self.entries(world) == [
                Self.entry(listed, Self.crm, rows: nil),
                Self.entry(tombstone.request, Self.crm, rows: nil),
            ]
        )
        #expect(try await world.rows("begun_replays") == 0)
    }

    @Test func `drills neither begin nor end anything`() async throws {
        let world = try await Self.world()
        try await Self.begin("c2", in: Self.crm, world)
        try world.write("crm/c1.json")
        try world.write("copy/c1.json")
        _ = try await world.replay { $0.isDrill = true }
        let files = try FilesStore(
            Self.crm,
            root: world.bench.directory + "/copy",
            paths: [PathPattern("{user_id}.json")]
        )
        let copy = Watched(files, world.bench.state)
        let drill = try await world.replay(copy: copy) { input in
            (input.isDrill, input.store, input.copy) = (true, Self.crm, "copy")
        }
        #expect(drill.stores.map(\.erased) == [1])
        #expect(copy.noted.map(\.count) == [1])
        #expect(try await world.rows("begun_replays") == 1)
        #expect(try await Self.entries(world).isEmpty)
    }

    @Test func `it waits for a replay of its own store, and of its time`() async throws {
        let world = try await Self.world()
        let request = try await Self.begin("u1", world)
        let begun = BegunErasure(request: request, hash: Array(repeating: 1, count: 32))
        _ = try await world.bench.state.beginReplay(of: [begun], in: StoreName("old-db"))
        _ = try await world.replay { $0.store = Self.crm }
        try await world.clock.sleep(until: Bench.start + KeyWorld.day)
        _ = try await world.replay { $0.since = Bench.start + .seconds(3600) }
        #expect(try await Self.entries(world).isEmpty)
        _ = try await world.replay { $0.store = Self.database }
        #expect(
            try await Self.entries(world) == [Self.entry(request, Self.database, rows: nil)]
        )
        // Of a store that is not configured any more.
        #expect(try await world.rows("begun_replays") == 1)
    }
}
