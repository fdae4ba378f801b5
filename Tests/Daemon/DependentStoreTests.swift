import Control
import Engine
import Lifecycle
import Settings
import Storage
import Stores
import Testing
import Vault

@testable import Daemon

/// Two folders that are purged of what the rows of a database name.
struct DependentStoreTests {
    private static let customer = "canary-customer-7f3a91c2"
    private static let space = "canary-space-55e0d418"

    @Test func `the source stands first, and the engine knows what depends on it`() async throws {
        let world = try await KeyWorld()
        let adapters = world.registry.current
        #expect(
            adapters.configuration.stores.map(\.name)
                == ["app-db", "spaces", "crm"].map {
                    StoreName($0)
                }
        )
        let source = StoreName("app-db")
        #expect(
            adapters.engineConfiguration.keySources
                == [StoreName("spaces"): source, StoreName("crm"): source]
        )
    }

    @Test func `what rows name goes with them, what others own with its last owner`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1", "w2")
        try await world.insert("u2", "c2", "w2")
        let first = try await world.submit("u1")
        let answers = await world.purge(first)
        #expect(try await world.users() == ["u2"])
        #expect(try world.names(in: "crm") == ["c2.json"])
        #expect(try world.names(in: "spaces") == ["w2"])
        guard case .done(let counts) = try #require(answers.last) else {
            Issue.record("\(answers)")
            return
        }
        let kept = counts.entries.first { $0.name == "app-db.workspace" }
        #expect(kept?.action == .shared && kept?.rowCount == 1)
        await world.purge(try await world.submit("u2"))
        #expect(try world.names(in: "crm").isEmpty)
        #expect(try world.names(in: "spaces").isEmpty)
    }

    @Test func `after a crash behind the rows' purge the ids are still there`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded, [StoreName("app-db")])
        #expect(try await world.users().isEmpty)
        // Nothing is left in memory: the other stores are asked by a new service.
        #expect(try await world.rows() == 2)
        await world.purge(loaded, KeyWorld.stores)
        #expect(try world.names(in: "crm").isEmpty && world.names(in: "spaces").isEmpty)
        // A look that finds nothing new stores nothing; what fell to the request is noted.
        #expect(try await world.rows() == 3)
    }

    @Test func `a store into which no key led is called neither verified nor clean`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        // The application was faster.
        try await world.remove("u1")
        let loaded = try await world.submit("u1")
        let stores = world.registry.current.stores
        for name in ["crm", "spaces"].map({ StoreName($0) }) {
            let store = try #require(stores[name])
            let answers = await store.purge([world.order(loaded)])
            guard case .done(let counts) = answers[0] else {
                Issue.record("\(answers)")
                return
            }
            #expect(counts.isNotLookedFor && counts.workedCount == 0)
            #expect(await store.verify([world.order(loaded)]) == [.notLookedFor])
        }
        #expect(try world.names(in: "crm") == ["c1.json"])
        // A row that is put back leads there after all.
        try await world.insert("u1", "c1")
        await world.purge(loaded, [StoreName("app-db"), StoreName("crm")])
        #expect(try world.names(in: "crm").isEmpty && world.names(in: "spaces") == ["w1"])
    }

    @Test func `the looks do not call a store clean into which no key led`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded, [StoreName("app-db"), StoreName("crm")])
        _ = await world.registry.current.stores[StoreName("spaces")]?.purge([world.order(loaded)])
        try await world.complete(loaded)
        try await world.look(after: KeyWorld.day)
        let record = try #require(try await world.bench.state.requestRecord(loaded.request.id))
        #expect(record.rechecks.map(\.missing) == [[StoreName("spaces")]])
    }

    @Test func `no found id stands in our files, and all are gone after the last look`()
        async throws
    {
        let world = try await KeyWorld()
        try await world.insert("u1", Self.customer, Self.space)
        let loaded = try await world.submit("u1")
        await world.purge(loaded)
        #expect(try await world.isInFiles("u1"))
        #expect(try await !world.isInFiles(Self.customer))
        #expect(try await !world.isInFiles(Self.space))
        try await world.complete(loaded)
        #expect(try await world.rows() == 3)
        try await world.look(after: KeyWorld.day)
        #expect(try await world.rows() == 3)
        try await world.look(after: KeyWorld.day * 7)
        #expect(try await world.rows() == 0)
        #expect(try await world.rows("rechecks") == 0)
        #expect(world.counter.counts == [.clean: 2])
        for log in world.bench.log.all {
            #expect(!log.contains(Self.customer) && !log.contains(Self.space))
        }
    }

    @Test func `without looks the ids go with the request's end`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded)
        try await world.complete(loaded, withRecheck: false)
        #expect(try await world.rows() == 0)
    }

    @Test func `a record that comes back under its own id is found by the looks`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded)
        try await world.complete(loaded)
        try world.write("crm/c1.json")
        try world.write("crm/u1.json")
        try await world.look(after: KeyWorld.day)
        let record = try #require(try await world.bench.state.requestRecord(loaded.request.id))
        let found = record.rechecks.first?.found
        #expect(found == [Recheck.Found(store: StoreName("crm"), rowCount: 1)])
    }

    @Test func `a space that others own is no data that came back`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        try await world.insert("u2", "c2", "w1")
        let first = try await world.submit("u1")
        await world.purge(first)
        try await world.complete(first)
        // The other owner's rows are gone, and its folder is not purged yet.
        await world.purge(try await world.submit("u2"), [StoreName("app-db")])
        try await world.look(after: KeyWorld.day)
        #expect(world.counter.counts == [.clean: 1])
        #expect(try world.names(in: "spaces") == ["w1"])
    }

    @Test func `a vault key that is missing or lost keeps everything as it is`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded, [StoreName("app-db")])
        for (vault, failure) in [
            (try SealedUsers.vault(2), EffectFailure.vaultSealed),
            (
                SealedVault(
                    keyring: VaultKeyring(active: try Bench.key(2)),
                    lostKeyIDs: [try Bench.key(1).id]
                ), .sealBroken
            ),
        ] {
            let service = FoundKeyService(
                state: world.bench.state,
                vault: vault,
                hasher: world.bench.hasher,
                logger: world.bench.log.logger
            )
            let name = KeyName(store: StoreName("app-db"), key: "customer")
            let id = loaded.request.id
            #expect(await service.keys(of: [id], as: name) == [id: .failure(failure)])
            let more = FoundKeys(request: id, name: name, ids: [])
            #expect(await service.add([more]) == failure)
        }
        #expect(try world.names(in: "crm") == ["c1.json"])
    }

    @Test func `a rotation of the vault key takes the found ids along`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1")
        let loaded = try await world.submit("u1")
        await world.purge(loaded, [StoreName("app-db")])
        let state = world.bench.state
        let rotation = KeyRotation(
            state: state,
            vault: try SealedUsers.vault(2, retired: [1]),
            clock: JumpingClock(),
            logger: world.bench.log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rotation.run() }
            try await rotation.begin()
            for await _ in world.bench.log.changes where rotation.progress.endedAt != nil { break }
            group.cancelAll()
        }
        #expect(rotation.progress.rewrapped == 2)
        #expect(try await state.vaultKeyUse() == [try Bench.key(2).id: 2])
        let service = FoundKeyService(
            state: state,
            vault: try SealedUsers.vault(2),
            hasher: world.bench.hasher,
            logger: world.bench.log.logger
        )
        let name = KeyName(store: StoreName("app-db"), key: "customer")
        let ids = await service.keys(of: [loaded.request.id], as: name)[loaded.request.id]
        #expect(ids == .found([try #require(UserID("c1"))]))
    }
}

/// Erasing again in what depends on a restored store.
struct DependentReplayTests {
    /// Three users, two of them erased for good.
    private static func world() async throws -> KeyWorld {
        let world = try await KeyWorld()
        try await world.insert("u3", "c3", "w3")
        for number in 1...2 {
            try await world.insert("u\(number)", "c\(number)", "w")
            let loaded = try await world.submit("u\(number)")
            await world.purge(loaded)
            try await world.complete(loaded, withRecheck: number == 1)
        }
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try world.names(in: "spaces") == ["w3"])
        return world
    }

    @Test func `rows that a backup brings back lead to what they name again`() async throws {
        let world = try await Self.world()
        try await world.insert("u1", "c1", "w")
        try await world.insert("u2", "c2", "w")
        let replay = try await world.replay()
        let stores = replay.stores
        #expect(try await world.users() == ["u3"])
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try world.names(in: "spaces") == ["w3"])
        let erased = Dictionary(uniqueKeysWithValues: stores.map { ($0.name.rawValue, $0.erased) })
        #expect(erased == ["app-db": 2, "crm": 2, "spaces": 1])
        #expect(replay.state.known == .finished && stores.allSatisfy { $0.error == nil })
        #expect(stores.map(\.found) == stores.map(\.erased))
        // What the case of the one still needs stays, what the replay found is used up.
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
        #expect(try await world.rows() == 3)
    }

    @Test func `a replay that was cut off behind the rows is ended by the next one`() async throws {
        let world = try await Self.world()
        try await world.insert("u1", "c1", "w")
        let page = try await world.bench.state.tombstones(since: Bench.start, after: 0, limit: 10)
        let tombstone = try #require(
            page.0.first { $0.hash == world.bench.hasher.hash("u1", domain: .user) }
        )
        let order = PurgeOrder(
            request: tombstone.request,
            user: try #require(UserID("u1")),
            cutoff: .distantFuture
        )
        _ = await world.registry.current.stores[StoreName("app-db")]?.purge([order])
        #expect(try await world.users() == ["u3"])
        #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
        _ = try await world.replay()
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try world.names(in: "spaces") == ["w3"])
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }

    @Test func `what held rows name is kept by the replays until the hold is lifted`()
        async throws
    {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        let held = RowFilter.Condition(column: "crm_id", values: ["c1"])
        let hold = StoreHold(
            name: "case 7",
            store: StoreName("app-db"),
            rows: RowFilter(table: "accounts", conditions: [held]),
            since: Bench.start,
            uid: 1
        )
        _ = try await world.bench.state.commit([.placeHold(hold)])
        for _ in 1...2 {
            let replay = try await world.replay()
            #expect(replay.state.known == .incomplete)
            #expect(replay.stores.first?.error == "on_hold")
            #expect(replay.stores.last?.error == "on_hold")
            #expect(try await world.users() == ["u1", "u3"])
            #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
            #expect(try await world.rows("found_keys WHERE is_late = 1") > 0)
        }
        _ = try await world.bench.state.commit([.liftHold(hold, by: 1, at: Bench.start)])
        #expect(try await world.replay().state.known == .finished)
        #expect(try await world.users() == ["u3"])
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }
}
