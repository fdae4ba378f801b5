import Control
import Engine
import GRDB
import Lifecycle
import Settings
import Storage
import Testing
import Vault

@testable import Daemon
@testable import Stores

/// Erasing again where a store that knows users by other ids was restored alone.
struct KeyReplayTests {
    private static let service = StoreName("service")

    /// A store that is keyed and has keys of its own, and one behind it.
    private static func chain(_ directory: String) -> String {
        """

        [[store]]
        name = "threads"
        kind = "files"
        root = "\(directory)/threads"
        paths = ["{user_id}"]
        keyed_by = "service.thread"
        [[store]]
        name = "service"
        kind = "sqlite"
        path = "\(directory)/service.db"
        keyed_by = "app-db.customer"
        [[store.table]]
        table = "tickets"
        column = "customer"
        action = "delete"
        [[store.key]]
        name = "thread"
        table = "tickets"
        column = "customer"
        value = "thread"
        """
    }

    /// Two users are erased, with their space; the third stays.
    private static func world(_ more: (String) -> String = { _ in "" }) async throws -> KeyWorld {
        let world = try await KeyWorld(more: more)
        try await world.insert("u3", "c3", "w3")
        for number in 1...2 { try await world.insert("u\(number)", "c\(number)", "w") }
        for number in 1...2 {
            let loaded = try await world.submit("u\(number)")
            await world.purge(loaded, world.registry.current.configuration.stores.map(\.name))
            try await world.complete(loaded, withRecheck: number == 1)
        }
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try world.names(in: "spaces") == ["w3"])
        return world
    }

    private static func erased(_ replay: WireReplay) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: replay.stores.map { ($0.name.rawValue, $0.erased) })
    }

    @Test func `what comes back in keyed stores alone is erased again, and nothing else`()
        async throws
    {
        let world = try await Self.world()
        for path in ["crm/c1.json", "crm/c2.json", "spaces/w"] { try world.write(path) }
        // Neither a user's own id nor an id of the other store is what was erased here.
        for path in ["crm/u1.json", "crm/w.json", "spaces/c1"] { try world.write(path) }
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        #expect(replay.tombstones == 2)
        #expect(Self.erased(replay) == ["app-db": 0, "crm": 2, "spaces": 1])
        #expect(try world.names(in: "crm") == ["c3.json", "u1.json", "w.json"])
        #expect(try world.names(in: "spaces") == ["c1", "w3"])
        let leaves = try await world.bench.state.ledgerRows(from: 0).flatMap(\.leaves)
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(leaves.count { $0.contains("\"replayed\"") } == 3)
        #expect(Self.erased(try await world.replay()) == ["app-db": 0, "crm": 0, "spaces": 0])
    }

    @Test func `a space that somebody owns again stays`() async throws {
        let world = try await Self.world()
        try world.write("spaces/w")
        try await world.join("u3", "w")
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        #expect(replay.stores.map(\.found) == [0, 0, 0])
        #expect(try world.names(in: "spaces") == ["w", "w3"])
    }

    @Test func `what others still own has no tombstone`() async throws {
        let world = try await KeyWorld()
        try await world.insert("u1", "c1", "w1", "w2")
        try await world.insert("u2", "c2", "w2")
        let loaded = try await world.submit("u1")
        await world.purge(loaded)
        try await world.complete(loaded)
        // The customer number and the one space that nobody else had.
        #expect(try await world.rows("tombstones WHERE is_key = 1") == 2)
    }

    @Test func `a state that forgot everything takes the ids' tombstones from the file`()
        async throws
    {
        let world = try await Self.world()
        try await world.bench.keeper(world.clock).checkpoint()
        try await world.bench.state.writer.perform {
            for table in ["tombstones", "found_keys", "requests"] {
                try $0.run("DELETE FROM \(table)")
            }
        }
        for path in ["crm/c1.json", "crm/c2.json", "spaces/w"] { try world.write(path) }
        let replay = try await world.replay()
        #expect(replay.state.known == .finished && replay.tombstones == 2)
        #expect(Self.erased(replay) == ["app-db": 0, "crm": 2, "spaces": 1])
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try world.names(in: "spaces") == ["w3"])
    }

    @Test func `a drill counts in the store, or erases in a copy of it`() async throws {
        let world = try await Self.world()
        try world.write("crm/c1.json")
        let counted = try await world.replay { $0.isDrill = true }
        #expect(counted.stores.map(\.found) == [0, 0, 1])
        #expect(counted.stores.map(\.erased) == [0, 0, 0])
        for name in ["c2", "c3", "u1"] { try world.write("copy/\(name).json") }
        let copy = FilesStore(
            StoreName("crm"),
            root: world.bench.directory + "/copy",
            paths: [try PathPattern("{user_id}.json")]
        )
        let erased = try await world.replay(copy: copy) { input in
            (input.isDrill, input.store, input.copy) = (true, StoreName("crm"), "copy")
        }
        #expect(Self.erased(erased) == ["crm": 1])
        #expect(try world.names(in: "copy") == ["c3.json", "u1.json"])
        #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
    }

    @Test(arguments: [("crm", nil), ("app-db", nil), ("app-db", "accounts")])
    func `a hold on the store or on its source keeps what came back`(
        store: String,
        table: String?
    ) async throws {
        let world = try await Self.world()
        let hold = StoreHold(
            name: "case 7",
            store: StoreName(store),
            rows: table.map { table in
                let of = RowFilter.Condition(column: "crm_id", values: ["c3"])
                return RowFilter(table: table, conditions: [of])
            },
            since: Bench.start,
            uid: 1
        )
        _ = try await world.bench.state.commit([.placeHold(hold)])
        try world.write("crm/c1.json")
        let held = try await world.replay()
        #expect(held.state.known == .incomplete)
        #expect(held.stores.map(\.error) == [nil, nil, "on_hold"])
        #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
        _ = try await world.bench.state.commit([.liftHold(hold, by: 1, at: Bench.start)])
        #expect(Self.erased(try await world.replay()) == ["app-db": 0, "crm": 1, "spaces": 0])
    }

    @Test func `what the restored source led to, and was left, is not counted again`()
        async throws
    {
        let world = try await Self.world()
        try await world.insert("u1", "c1")
        let hold = StoreHold(
            name: "case 7",
            store: StoreName("crm"),
            since: Bench.start,
            uid: 1
        )
        _ = try await world.bench.state.commit([.placeHold(hold)])
        let held = try await world.replay()
        #expect(Self.erased(held) == ["app-db": 1, "crm": 0, "spaces": 0])
        #expect(held.stores.map(\.found) == [1, 0, 1])
        _ = try await world.bench.state.commit([.liftHold(hold, by: 1, at: Bench.start)])
        #expect(try await world.replay().state.known == .finished)
        #expect(try world.names(in: "crm") == ["c3.json"])
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }

    @Test(arguments: [true, false])
    func `what a store knows of a user on hold stays`(isKnown: Bool) async throws {
        let world = try await Self.world()
        try world.write("crm/c1.json")
        let state = world.bench.state
        let user = world.bench.hasher.hash("u1", domain: .user)
        _ = try await state.holdUser(user, by: 1000, at: Bench.start)
        if !isKnown {
            // As after a restore of the machine, with the tombstones of the checkpoint file.
            try await state.writer.perform { _ = try $0.run("DELETE FROM requests") }
        }
        let held = try await world.replay()
        #expect(held.stores.map(\.error) == [nil, nil, "on_hold"])
        #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
        _ = try await state.releaseUser(user, by: 1000, at: Bench.start)
        #expect(Self.erased(try await world.replay())["crm"] == 1)
        #expect(try world.names(in: "crm") == ["c3.json"])
    }

    @Test func `a replay of the source leads to what its rows name now, and to nothing of then`()
        async throws
    {
        let world = try await Self.world()
        #expect(try await world.rows("found_keys") > 0)
        // Of a later account; the case of the deletion still has its id.
        try world.write("crm/c1.json")
        try await world.insert("u1", "c9")
        let replay = try await world.replay { $0.store = StoreName("app-db") }
        #expect(replay.state.known == .finished)
        #expect(try world.names(in: "crm") == ["c1.json", "c3.json"])
    }

    @Test func `a sample finds it, too`() async throws {
        let world = try await Self.world()
        try world.write("crm/c1.json")
        try await world.sample()
        #expect(world.bench.log.all.last == "dataReturned count=1 detail=sample store=crm")
    }

    @Test func `what a sample finds in a keyed store is looked at until it is gone`() async throws {
        let world = try await Self.world()
        try await world.look(after: KeyWorld.day)
        try await world.look(after: KeyWorld.day * 7)
        #expect(try await world.rows("rechecks") == 0)
        try world.write("crm/c1.json")
        try await world.sample()
        // Nobody's name: only the id of the store is known.
        #expect(try await world.rows("rechecks WHERE is_reopened = 1 AND is_nameless = 1") == 1)
        #expect(try await world.rows("found_keys WHERE is_late = 0") == 1)
        // A second sample has nothing to add.
        try await world.sample()
        #expect(try await world.rows("found_keys") == 1)
        try await world.look(after: KeyWorld.day * 20)
        #expect(try await world.rows("rechecks WHERE returned_at IS NOT NULL") == 1)
        try world.delete("crm/c1.json")
        try await world.look(after: KeyWorld.day * 60)
        try await world.look(after: KeyWorld.day * 90)
        #expect(try await world.rows("rechecks") == 0)
        #expect(try await world.rows("found_keys") == 0)
        let looks = try await Self.looks(world)
        let outcomes: [Recheck.Outcome] = [.clean, .clean, .returned, .returned, .clean]
        #expect(looks.map(\.outcome) == outcomes)
        #expect(looks.last?.missing == [StoreName("app-db"), StoreName("spaces")])
    }

    @Test func `a case of an id alone takes on the user, and what else is found`() async throws {
        let world = try await Self.world()
        try await world.look(after: KeyWorld.day)
        try await world.look(after: KeyWorld.day * 7)
        try world.write("crm/c1.json")
        try await world.sample()
        try await world.insert("u1", "c1")
        try await world.sample()
        #expect(try await world.rows("rechecks WHERE is_nameless = 0") == 1)
        #expect(try await world.rows("found_keys WHERE is_late = 0") == 1)
        try await world.look(after: KeyWorld.day * 60)
        var looks = try await Self.looks(world)
        let both = [StoreName("app-db"), StoreName("crm")]
        #expect(looks.last?.found.map(\.store) == both)
        try await world.remove("u1")
        try world.delete("crm/c1.json")
        try await world.look(after: KeyWorld.day * 90)
        looks = try await Self.looks(world)
        #expect(looks.last?.outcome == .clean)
        #expect(looks.last?.missing == [StoreName("spaces")])
    }

    @Test func `a keyed store that had data again is not called clean without the ids`()
        async throws
    {
        let world = try await Self.world()
        try await world.look(after: KeyWorld.day)
        try await world.look(after: KeyWorld.day * 7)
        try await world.insert("u1", "c1")
        try world.write("crm/c1.json")
        try await world.sample()
        // As an earlier version left it.
        try await world.bench.state.writer.perform { _ = try $0.run("DELETE FROM found_keys") }
        try await world.look(after: KeyWorld.day * 20)
        let found = try await Self.looks(world).last?.found.map(\.store.rawValue)
        #expect(found?.contains("crm") == true)
        try await world.remove("u1")
        try await world.look(after: KeyWorld.day * 60)
        #expect(try await Self.looks(world).last?.outcome == .unverified)
    }

    /// Of the deletion that was looked at most.
    private static func looks(_ world: KeyWorld) async throws -> [Recheck] {
        let state = world.bench.state
        let page = try await state.requestRecords(RequestFilter(), cursor: nil, limit: 9)
        return try #require(page.records.map(\.rechecks).max { $0.count < $1.count })
    }

    @Test func `a keyed store that names ids of others leads on to them`() async throws {
        let world = try await Self.world(Self.chain)
        try await world.insert("u4", "c4")
        try await world.insertTicket("c4", "t4")
        try await world.insertTicket("c3", "t3")
        for thread in ["t3", "t4", "t5"] { try world.write("threads/\(thread)") }
        let loaded = try await world.submit("u4")
        await world.purge(loaded, world.registry.current.configuration.stores.map(\.name))
        try await world.complete(loaded)
        #expect(try world.names(in: "threads") == ["t3", "t5"])
        // A row of then and one that nobody had read before.
        for thread in ["t4", "t5"] {
            try await world.insertTicket("c4", thread)
            try world.write("threads/\(thread)")
        }
        let replay = try await world.replay()
        #expect(replay.state.known == .finished)
        #expect(try await world.customersWithTickets() == ["c3"])
        #expect(try world.names(in: "threads") == ["t3"])
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
        // What was found now is known from now on.
        try world.write("threads/t5")
        #expect(Self.erased(try await world.replay())["threads"] == 1)
        #expect(try world.names(in: "threads") == ["t3"])
    }

    @Test func `a replay that was cut off between two keyed stores is ended by the next one`()
        async throws
    {
        let world = try await Self.world(Self.chain)
        try await world.insertTicket("c1", "t1")
        try world.write("threads/t1")
        try await Self.purgeTickets(of: "c1", world)
        #expect(try world.names(in: "threads") == ["t1"])
        #expect(try await world.replay().state.known == .finished)
        #expect(try world.names(in: "threads").isEmpty)
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }

    @Test(arguments: [2, 130])
    func `of several ids of a request none leads on while rows with one are held`(
        count: Int
    ) async throws {
        let world = try await Self.world(Self.chain)
        let ids = 100..<(100 + count)
        for id in ids { try await world.insert("u4", "c\(id)") }
        let loaded = try await world.submit("u4")
        await world.purge(loaded, world.registry.current.configuration.stores.map(\.name))
        try await world.complete(loaded, withRecheck: false)
        let last = ids.upperBound - 1
        let held = RowFilter.Condition(column: "customer", values: ["c\(last)"])
        let hold = StoreHold(
            name: "case 7",
            store: Self.service,
            rows: RowFilter(table: "tickets", conditions: [held]),
            since: Bench.start,
            uid: 1
        )
        _ = try await world.bench.state.commit([.placeHold(hold)])
        try await world.insertTicket("c\(last)", "t\(last)")
        // What the first replay keeps of the held row is there when the second one begins.
        for _ in 1...2 {
            for id in ids.dropLast() { try await world.insertTicket("c\(id)", "t\(id)") }
            for id in ids { try world.write("threads/t\(id)") }
            let replay = try await world.replay()
            #expect(replay.state.known == .incomplete)
            #expect(replay.stores.first { $0.name.rawValue == "service" }?.error == "on_hold")
            #expect(try await world.customersWithTickets() == ["c\(last)"])
            #expect(try world.names(in: "threads").contains("t\(last)"))
            #expect(try await world.rows("found_keys WHERE is_late = 1") > 0)
        }
        _ = try await world.bench.state.commit([.liftHold(hold, by: 1, at: Bench.start)])
        #expect(try await world.replay().state.known == .finished)
        #expect(try await world.customersWithTickets().isEmpty)
        #expect(try world.names(in: "threads").isEmpty)
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }

    @Test func `a replay that was cut off is ended where the user was erased before its time`()
        async throws
    {
        let world = try await Self.world(Self.chain)
        try await world.clock.sleep(until: Bench.start + KeyWorld.day)
        // Of the request nothing is of that day but an id.
        let request = try await Self.tombstone(of: "c1", world).tombstone.request
        let late = Tombstone(
            hash: [7],
            erasedAt: world.clock.now(),
            request: request,
            isKey: true
        )
        var buried = try await world.bench.state.buriedRequests()
        #expect(try await world.bench.state.learn([late], buried: &buried) == 1)
        try await world.insertTicket("c1", "t2")
        try world.write("threads/t2")
        try await Self.purgeTickets(of: "c1", world)
        #expect(try world.names(in: "threads") == ["t2"])
        let replay = try await world.replay { $0.since = Bench.start + KeyWorld.day / 2 }
        #expect(replay.state.known == .finished && replay.tombstones == 0)
        #expect(try world.names(in: "threads").isEmpty)
        #expect(try await world.rows("found_keys WHERE is_late = 1") == 0)
    }

    /// What a store's own id has, and the store.
    private static func tombstone(
        of customer: String,
        _ world: KeyWorld
    ) async throws -> (tombstone: Tombstone, store: KeyReplayStore) {
        let page = try await world.bench.state.tombstones(since: Bench.start, after: 0, limit: 10)
        let store = try #require((world.registry.current.stores[service] as? KeyedStore)?.byKey())
        let hash = store.tombstone(of: try #require(UserID(customer)))
        return (try #require(page.page.first { $0.hash == hash }), store)
    }

    /// As a replay does that is cut off then.
    private static func purgeTickets(of customer: String, _ world: KeyWorld) async throws {
        let (tombstone, store) = try await tombstone(of: customer, world)
        let user = try #require(UserID(customer))
        let order = PurgeOrder(request: tombstone.request, user: user, cutoff: .distantFuture)
        _ = await store.purge([order])
        #expect(try await world.customersWithTickets().isEmpty)
    }
}
