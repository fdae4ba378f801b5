import Encoding
import Engine
import Ledger
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateKeyTombstoneTests {
    private static let start = StateFixture.start
    private static let unknown = RequestID(TimeOrderedID(high: 9, low: 9))

    private static func sealed(_ request: RequestID, _ ids: [String]) -> SealedKeys {
        var keys = SealedKeys(
            request: request,
            name: KeyName(store: StoreName("app-db"), key: "customer"),
            keyID: "k1",
            ownKey: StateFixture.hash("own key"),
            sealedIDs: Array("sealed".utf8)
        )
        keys.hashes = ids.map(StateFixture.hash)
        return keys
    }

    private static func complete(_ open: LoadedRequest, _ fixture: StateFixture) async throws {
        try await fixture.save(open.request.completed(), was: open.request)
    }

    /// What stands for ids of stores, each as request and hash.
    private static func buried(_ fixture: StateFixture) async throws -> [[[UInt8]]] {
        try await fixture.database.tombstones(since: .distantPast, after: 0, limit: 1000)
            .page.filter(\.isKey).map { [Array($0.request.description.utf8), $0.hash] }
    }

    private static func entry(_ request: RequestID, _ ids: [String]) -> [[UInt8]] {
        ids.flatMap { [Array(request.description.utf8), StateFixture.hash($0)] }
    }

    private static func leaves(_ fixture: StateFixture) async throws -> [String] {
        try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves)
            .map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains("erased_keys") }
    }

    @Test func `the end of a request makes tombstones of its ids, and a leaf with their hashes`()
        async throws
    {
        let fixture = try StateFixture()
        let (open, other) = (try await fixture.open("a"), try await fixture.open("b"))
        let id = open.request.id
        // The second row brings nothing new: an id is buried once.
        try await fixture.database.addFoundKeys([
            Self.sealed(id, ["c1", "c2"]), Self.sealed(id, ["c2"]), Self.sealed(id, []),
            Self.sealed(other.request.id, ["c3"]),
        ])
        try await Self.complete(open, fixture)
        #expect(
            try await Self.buried(fixture)
                == [Self.entry(id, ["c1"]), Self.entry(id, ["c2"])]
        )
        let hashes = ["c1", "c2"].map { text in
            "\"\(Base64URL.text(StateFixture.hash(text)))\""
        }
        #expect(
            try await Self.leaves(fixture) == [
                #"{"event":"erased_keys","keys":[\#(hashes.joined(separator: ","))],"#
                    + #""request":"\#(id)","time":"2027-01-15T08:00:00.000Z"}"#
            ]
        )
        // The receipt's entries are those of before.
        let size = fixture.database.ledgerSize
        #expect(try await fixture.database.ledgerProofs(of: id, in: size).count == 3)
    }

    @Test func `an id that others may own, and one of a request that is cancelled, has none`()
        async throws
    {
        let fixture = try StateFixture()
        let (done, cancelled) = (try await fixture.open("a"), try await fixture.open("b"))
        try await fixture.database.addFoundKeys([
            Self.sealed(done.request.id, []), Self.sealed(cancelled.request.id, ["c1"]),
        ])
        try await Self.complete(done, fixture)
        var ended = cancelled.request
        ended.phase = .cancelled
        ended.endedAt = Self.start
        ended.dueAt = nil
        try await fixture.save(ended, was: cancelled.request)
        #expect(try await Self.buried(fixture).isEmpty)
        #expect(try await Self.leaves(fixture).isEmpty)
        #expect(try await fixture.int("SELECT count(*) FROM found_keys") == 0)
    }

    @Test func `a leaf has so many hashes that a note holds many of them`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let ids = (0..<150).map { "customer \($0)" }
        try await fixture.database.addFoundKeys([Self.sealed(open.request.id, ids)])
        try await Self.complete(open, fixture)
        let leaves = try await Self.leaves(fixture)
        #expect(leaves.count == 3 && leaves.allSatisfy { $0.utf8.count < 3200 })
        #expect(try await Self.buried(fixture).count == 150)
    }

    @Test func `what a replay used up is buried then, unless it was before`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let id = open.request.id
        try await fixture.database.addFoundKeys([Self.sealed(id, ["c1"])])
        try await Self.complete(open, fixture)
        let late = [Self.sealed(id, ["c1", "c2"]), Self.sealed(Self.unknown, ["c1"])]
        try await fixture.database.addFoundKeys(late)
        let earlier = Self.start - .seconds(60)
        try await fixture.database.forgetLateKeys(
            of: [id, Self.unknown].map { request in
                Tombstone(hash: StateFixture.hash("a"), erasedAt: earlier, request: request)
            }
        )
        #expect(
            try await Self.buried(fixture) == [
                Self.entry(id, ["c1"]), Self.entry(id, ["c2"]), Self.entry(Self.unknown, ["c1"]),
            ]
        )
        #expect(try await Self.leaves(fixture).count == 3)
        let page = try await fixture.database.tombstones(since: earlier, after: 0, limit: 10).page
        #expect(
            page.filter(\.isKey).map(\.cutoff) == [Self.start, earlier, earlier],
            "what came since the erasure is not meant"
        )
    }

    @Test func `tombstones that left the machine are learned once each`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let id = open.request.id
        try await fixture.database.addFoundKeys([Self.sealed(id, ["c1"])])
        try await Self.complete(open, fixture)
        let user = Tombstone(
            hash: StateFixture.hash("a"),
            generation: 1,
            erasedAt: Self.start,
            request: id
        )
        let keys = [id, Self.unknown].flatMap { request in
            ["c1", "c2"].map { text in
                Tombstone(
                    hash: StateFixture.hash(text),
                    erasedAt: Self.start,
                    request: request,
                    isKey: true
                )
            }
        }
        var buried = try await fixture.database.buriedRequests()
        #expect(buried == [id])
        #expect(try await fixture.database.learn([user] + keys + keys, buried: &buried) == 3)
        #expect(try await fixture.database.learn([user] + keys, buried: &buried) == 0)
        let stranger = Tombstone(
            hash: StateFixture.hash("b"),
            erasedAt: Self.start,
            request: Self.unknown
        )
        #expect(try await fixture.database.learn([stranger, stranger], buried: &buried) == 1)
        #expect(try await Self.buried(fixture).count == 4)
    }

    @Test func `a sample and a replay have the cutoff of the request whose the id was`()
        async throws
    {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        try await fixture.database.addFoundKeys([Self.sealed(open.request.id, ["c1"])])
        var done = open.request.completed()
        done.endedAt = Self.start + .seconds(60)
        try await fixture.save(done, was: open.request)
        let sample = try await fixture.database.tombstones(after: 0, limit: 10).page
        let all = try await fixture.database.tombstones(since: Self.start, after: 0, limit: 10).page
        for page in [sample, all] {
            #expect(page.map(\.isKey) == [false, true])
            #expect(page.allSatisfy { $0.cutoff == Self.start })
            #expect(page.allSatisfy { $0.erasedAt == Self.start + .seconds(60) })
        }
    }

    @Test func `a sample knows from which stores an operator gave up erasing`() async throws {
        let fixture = try StateFixture()
        let entries: [PurgeCounts.Entry] = [
            .init(name: "app-db", action: .passedOver(.spelledOtherwise), rowCount: 0),
            .init(name: "spelled_otherwise", action: .rule(.delete), rowCount: 1),
        ]
        for (user, entry) in zip(["a", "b"], entries) {
            let open = try await fixture.open(user)
            var done = open.request.completed()
            done.purges[0].counts.entries = [entry]
            try await fixture.save(done, was: open.request)
        }
        let all = try await fixture.database.tombstones(after: 0, limit: 10)
        #expect(all.page.map(\.givenUp) == [[StoreName("app-db")], []])
        let rest = try await fixture.database.tombstones(after: all.position, limit: 10)
        #expect(rest.page.isEmpty)
    }
}
