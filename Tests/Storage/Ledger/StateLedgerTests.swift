import Encoding
import Engine
import GRDB
import Ledger
import Lifecycle
import TestSupport
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateLedgerTests {
    private func leaves(_ fixture: StateFixture) async throws -> [String] {
        try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func `each change of a request is one leaf, and the erasure names a keyed hash`()
        async throws
    {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("alice", "token"))
        let opened = try await fixture.open("alice").request
        var revoking = opened
        revoking.phase = .open(.revoking)
        try await fixture.save(revoking, was: opened)
        try await fixture.save(revoking.completed(), was: revoking)
        let leaves = try await leaves(fixture)
        let id = opened.id.description
        let identity = opened.revocations[0].identity.description
        let user = Base64URL.text(StateFixture.hash("alice"))
        let time = #""time":"2027-01-15T08:00:00.000Z""#
        #expect(
            leaves == [
                #"{"event":"accepted","generation":1,"kind":"delete_account","request":"\#(id)","#
                    + #""role":"submit",\#(time),"uid":1000}"#,
                #"{"event":"state","request":"\#(id)","state":"revoking",\#(time)}"#,
                #"{"client":"com.example.app","event":"verdict","identity":"\#(identity)","#
                    + #""provider":"apple","request":"\#(id)",\#(time),"verdict":"proven"}"#,
                #"{"event":"verified","newer":0,"request":"\#(id)","rows":0,"store":"app-db","#
                    + #"\#(time)}"#,
                #"{"event":"erased","generation":1,"request":"\#(id)","state":"completed","#
                    + #""stores":["app-db"],\#(time),"user":"\#(user)"}"#,
            ]
        )
        #expect(fixture.database.ledgerSize == 5)
        #expect(try await fixture.database.ledgerSize(covering: opened.id) == 5)
    }

    @Test func `a store into which no key led is not called verified`() async throws {
        let fixture = try StateFixture()
        let opened = try await fixture.open("alice").request
        var ended = opened.completed()
        ended.purges[0].counts.entries = [
            .init(name: "app-db.customer", action: .notLookedFor, rowCount: 0)
        ]
        try await fixture.save(ended, was: opened)
        let events = try await leaves(fixture).filter { $0.contains(#""store":"app-db""#) }
        #expect(events.count == 1 && events[0].hasPrefix(#"{"event":"not_looked_for","#))
    }

    @Test func `the promise of a vendor has a name of its own`() async throws {
        let fixture = try StateFixture()
        let opened = try await fixture.open("alice").request
        var ended = opened.completed()
        ended.purges[0].counts.entries = [
            .init(name: "forget", action: .accepted, rowCount: 1)
        ]
        try await fixture.save(ended, was: opened)
        let leaves = try await leaves(fixture)
        let events = leaves.filter { $0.contains(#""store":"app-db""#) }
        #expect(events.count == 1 && events[0].hasPrefix(#"{"event":"promised","#))
        #expect(leaves.count { $0.contains(#""event":"accepted""#) } == 1)
    }

    @Test func `a pause, a hold on a user and their ends say who wanted them, once`() async throws {
        let fixture = try StateFixture()
        let (state, start) = (fixture.database, StateFixture.start)
        let (apple, store, user) =
            (ProviderName("apple"), StoreName("app-db"), StateFixture.hash("u"))
        // The engine repeats what an operator's call has committed, and does not know who it was.
        let changes: [StateChange] = [
            .pauseProvider(apple, reason: "operator", by: 7, at: start),
            .pauseProvider(apple, reason: "operator", at: start),
            .pauseStore(store, reason: "misconfigured", at: start),
            .resumeProvider(apple, by: 8, at: start), .resumeProvider(apple, at: start),
            .resumeStore(store, by: 8, at: start), .resumeStore(store, at: start),
        ]
        for change in changes { _ = try await state.commit([change]) }
        _ = try await state.releaseUser(user, by: 9, at: start)
        for uid in [7, 8] as [UInt32] { _ = try await state.holdUser(user, by: uid, at: start) }
        for uid in [7, 8] as [UInt32] { _ = try await state.releaseUser(user, by: uid, at: start) }
        let time = #""time":"2027-01-15T08:00:00.000Z""#
        let hash = Base64URL.text(user)
        #expect(
            try await leaves(fixture) == [
                #"{"detail":"operator","event":"paused","provider":"apple",\#(time),"uid":7}"#,
                #"{"detail":"misconfigured","event":"paused","store":"app-db",\#(time)}"#,
                #"{"event":"resumed","provider":"apple",\#(time),"uid":8}"#,
                #"{"event":"resumed","store":"app-db",\#(time),"uid":8}"#,
                #"{"event":"user_held",\#(time),"uid":7,"user":"\#(hash)"}"#,
                #"{"event":"user_released",\#(time),"uid":7,"user":"\#(hash)"}"#,
            ]
        )
    }

    @Test func `a change that is not committed leaves no leaf and no gap`() async throws {
        let fixture = try StateFixture()
        let opened = try await fixture.open("alice").request
        var tooEarly = opened
        tooEarly.phase = .open(.revoking)
        let writer = fixture.database.writer
        let appender = fixture.database.appender
        // The others of its batch are tried again, each in a savepoint.
        async let failed: Void = writer.perform { database in
            appender.write(StateFixture.start, [(.event, .word("lost"))])
            try database.run("INSERT INTO requests (id) VALUES (1)")
        }
        async let saved: Void = fixture.save(tooEarly, was: opened)
        var hasFailed = false
        do {
            try await failed
        } catch is StorageError {
            hasFailed = true
        }
        #expect(hasFailed)
        try await saved
        let all = try await leaves(fixture)
        #expect(all.count == 2)
        #expect(!all.contains { $0.contains("lost") })
        try await fixture.save(tooEarly.completed(), was: tooEarly)
        #expect(try await fixture.database.ledgerRows(from: 0).map(\.first) == [0, 1, 2])
    }

    @Test func `an ended request that is saved again adds nothing`() async throws {
        let fixture = try StateFixture()
        let opened = try await fixture.open("alice").request
        try await fixture.save(opened.completed(), was: opened)
        let size = fixture.database.ledgerSize
        try await fixture.save(opened.completed(), was: opened)
        var late = opened
        late.phase = .open(.revoking)
        try await fixture.save(late, was: opened)
        #expect(fixture.database.ledgerSize == size)
    }

    @Test(arguments: [
        "DELETE FROM ledger", "UPDATE ledger SET leaves = x'00'", "DELETE FROM ledger_checkpoints",
        "UPDATE ledger_checkpoints SET size = 0", "DELETE FROM ledger_nodes",
        "UPDATE ledger_nodes SET position = 9",
        "INSERT INTO ledger (first, count, leaves) VALUES (7, 1, x'7b7d')",
        "INSERT OR REPLACE INTO ledger (first, count, leaves) VALUES (0, 1, x'7b7d')",
    ])
    func `the database refuses to change what the ledger has`(_ sql: String) async throws {
        let fixture = try StateFixture()
        _ = try await fixture.open("alice")
        try await fixture.database.saveCheckpoint(
            StoredCheckpoint(size: 1, note: "n", endsAt: 1),
            nodes: MerkleFrontier.complete(1 << 8)
        )
        await #expect(throws: StorageError.self) { try await fixture.execute(sql) }
    }

    @Test func `proofs lead to the root, whatever was stored of the tree`() async throws {
        let fixture = try StateFixture()
        let appender = fixture.database.appender
        let opened = try await fixture.open("alice").request
        for page in 0..<7 {
            try await fixture.database.writer.perform { _ in
                for index in 0..<100 {
                    appender.write(
                        StateFixture.start,
                        [(.event, .word("x")), (.count, .number(Int64(page * 100 + index)))]
                    )
                }
            }
        }
        try await fixture.save(opened.completed(), was: opened)
        var tree = MerkleFrontier()
        var nodes: [MerkleFrontier.Subtree] = []
        for leaf in try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves) {
            nodes += tree.append(MerkleHash.leaf(leaf)).filter(StateDatabase.keepsNode)
        }
        #expect(tree.size == 703)
        let before = try await fixture.database.ledgerRoot(at: 703)
        try await fixture.database.saveCheckpoint(
            StoredCheckpoint(size: 703, note: "n", endsAt: 1),
            nodes: nodes
        )
        #expect(before == tree.root())
        #expect(try await fixture.database.ledgerRoot(at: 703) == tree.root())
        #expect(try await fixture.database.ledgerRoot(at: 704) == nil)
        let proofs = try await fixture.database.ledgerProofs(of: opened.id, in: 703)
        #expect(proofs.map(\.index) == [0, 701, 702])
        for proof in proofs {
            #expect(
                MerkleProof().isIncluded(
                    MerkleHash.leaf(proof.leaf),
                    at: proof.index,
                    in: 703,
                    root: tree.root(),
                    path: proof.path
                )
            )
        }
        let stored = try await fixture.database.storedFrontier()
        #expect(stored.size == 512)
        var grown = stored
        for leaf in try await fixture.database.ledgerRows(from: 512).flatMap(\.leaves).suffix(191) {
            _ = grown.append(MerkleHash.leaf(leaf))
        }
        #expect(grown.root() == tree.root())
    }
}

extension MerkleFrontier {
    /// The subtrees that are stored for so many leaves.
    fileprivate static func complete(_ count: Int) -> [Subtree] {
        var frontier = MerkleFrontier()
        return (0..<count).flatMap { _ in
            frontier.append(MerkleHash.empty).filter(StateDatabase.keepsNode)
        }
    }
}
