import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateFoundKeyTests {
    private static let start = StateFixture.start
    private static let name = KeyName(store: StoreName("app-db"), key: "customer")
    private static let other = KeyName(store: StoreName("app-db"), key: "workspace")

    private static func sealed(
        _ text: String,
        of request: RequestID,
        as name: KeyName = name,
        under keyID: String = "k1"
    ) -> SealedKeys {
        SealedKeys(
            request: request,
            name: name,
            keyID: keyID,
            ownKey: StateFixture.hash("own key of \(text)"),
            sealedIDs: Array("sealed \(text)".utf8)
        )
    }

    private static func texts(_ rows: [StoredKeys]?) -> [String]? {
        rows?.map { String(decoding: $0.sealed.sealedIDs, as: UTF8.self) }
    }

    private static func sealedRechecks(of id: RequestID) -> StateChange {
        let sealed = SealedRecheck(
            request: id,
            keyID: "k1",
            recheckKey: StateFixture.hash("case key"),
            sealedUser: Array("sealed user".utf8)
        )
        return .openRecheck(OpenedRecheck(sealed: sealed, openedAt: start, dueAt: start))
    }

    @Test func `what is found is added to what is stored, each under its own name`() async throws {
        let fixture = try StateFixture()
        let id = try await fixture.open("a").request.id
        let stranger = try await fixture.open("b").request.id
        try await fixture.database.addFoundKeys([
            Self.sealed("c1", of: id), Self.sealed("w1", of: id, as: Self.other),
        ])
        try await fixture.database.addFoundKeys([Self.sealed("c2", of: id)])
        let found = try await fixture.database.foundKeys(of: [id, stranger], as: Self.name)
        #expect(Self.texts(found[id]) == ["sealed c1", "sealed c2"])
        #expect(found[stranger] == nil && found[id]?.contains { $0.isLate } == false)
        let shared = try await fixture.database.foundKeys(of: [id], as: Self.other)
        #expect(shared[id]?.first?.sealed == Self.sealed("w1", of: id, as: Self.other))
        #expect(try await fixture.database.open(among: [id, Self.unknown]) == [id])
        #expect(try await fixture.database.vaultKeyIDs() == ["k1"])
        #expect(try await fixture.database.vaultKeyUse() == ["k1": 3])
    }

    private static let unknown = RequestID(TimeOrderedID(high: 9, low: 9))

    @Test func `with nobody to look again they go in the commit that completes`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let neighbour = try await fixture.open("b").request.id
        try await fixture.database.addFoundKeys([
            Self.sealed("c1", of: open.request.id), Self.sealed("c2", of: neighbour),
        ])
        _ = try await fixture.database.commit([
            .save(now: open.request.completed(), was: open.request, at: Self.start)
        ])
        let left = try await fixture.database.foundKeys(
            of: [open.request.id, neighbour],
            as: Self.name
        )
        #expect(left.keys.map(\.self) == [neighbour])
    }

    @Test(arguments: [true, false])
    func `with a case they stay as long as it does`(isAbandoned: Bool) async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let id = open.request.id
        try await fixture.database.addFoundKeys([Self.sealed("c1", of: id)])
        _ = try await fixture.database.commit([
            .save(now: open.request.completed(), was: open.request, at: Self.start),
            Self.sealedRechecks(of: id),
        ])
        #expect(try await fixture.int("SELECT count(*) FROM found_keys") == 1)
        if isAbandoned {
            _ = try await fixture.database.abandonRecheck(
                of: id,
                by: 1,
                at: Self.start,
                note: ("abandon", "1 reason")
            )
        } else {
            let due = try await fixture.database.dueRechecks(
                under: ["k1"],
                at: Self.start,
                limit: 1
            )
            let first = try #require(due.rechecks.first)
            let next = EndedRecheck.Next.due(Self.start, stage: 1, openedAt: Self.start)
            let clean = Recheck(at: Self.start, .clean)
            _ = try await fixture.database.endRechecks([EndedRecheck(first, clean, next: next)])
            #expect(try await fixture.int("SELECT count(*) FROM found_keys") == 1)
            _ = try await fixture.database.endRechecks([EndedRecheck(first, clean, next: .closed)])
        }
        #expect(try await fixture.int("SELECT count(*) FROM found_keys") == 0)
    }

    @Test func `what a replay finds outlives the case, and goes when it is used up`() async throws {
        let fixture = try StateFixture()
        let open = try await fixture.open("a")
        let id = open.request.id
        try await fixture.database.addFoundKeys([Self.sealed("c1", of: id)])
        _ = try await fixture.database.commit([
            .save(now: open.request.completed(), was: open.request, at: Self.start),
            Self.sealedRechecks(of: id),
        ])
        // Of a request that this machine never knew, too.
        let late = [Self.sealed("c2", of: id), Self.sealed("c3", of: Self.unknown)]
        try await fixture.database.addFoundKeys(late)
        _ = try await fixture.database.abandonRecheck(
            of: id,
            by: 1,
            at: Self.start,
            note: ("abandon", "1 reason")
        )
        let found = try await fixture.database.foundKeys(of: [id, Self.unknown], as: Self.name)
        #expect(Self.texts(found[id]) == ["sealed c2"] && found[id]?.first?.isLate == true)
        #expect(
            try await fixture.database.lateKeyRequests(among: [id, Self.unknown])
                == [id, Self.unknown].sorted()
        )
        #expect(try await fixture.database.lateKeyRequests(among: [id]) == [id])
        let erased = Tombstone(hash: [], erasedAt: Self.start, request: id)
        try await fixture.database.forgetLateKeys(of: [erased])
        #expect(
            try await fixture.database.lateKeyRequests(among: [id, Self.unknown]) == [Self.unknown]
        )
    }

    @Test func `a rotation goes through all of them and replaces only what it read`() async throws {
        let fixture = try StateFixture()
        let id = try await fixture.open("a").request.id
        let old = (0..<5).map { Self.sealed("c\($0)", of: id) }
        try await fixture.database.addFoundKeys(old)
        let first = try await fixture.database.foundKeys(under: "k1", after: 0, limit: 3)
        let last = try #require(first.last)
        let rest = try await fixture.database.foundKeys(
            under: "k1",
            after: last.position,
            limit: 3
        )
        #expect(first.count == 3 && rest.count == 2)
        let fresh = (first + rest).map { row in
            (
                old: row,
                new: Self.sealed("new \(row.position)", of: id, under: "k2")
            )
        }
        #expect(try await fixture.database.replaceFoundKeys(fresh) == 5)
        #expect(try await fixture.database.replaceFoundKeys(fresh) == 0)
        #expect(try await fixture.database.vaultKeyUse() == ["k2": 5])
    }
}
