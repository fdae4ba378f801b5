import Engine
import Lifecycle
import Testing

@Suite("Erasing again by the ids that a store knows its users by")
struct KeyReplayTests {
    private static let first = KeyBench.order(1, "c1")
    private static let second = KeyBench.order(1, "c2")

    @Test("the store's own ids are purged and verified, and nobody asks what rows name")
    func purge() async {
        let bench = KeyBench(rows: [("u1", "c3")], objects: ["c1", "c2", "c3"])
        let store = bench.keyed().byKey()
        #expect(await store.verify([Self.first]) == [.remaining(1)])
        let answers = await store.purge([Self.first, Self.second])
        #expect(answers.count == 2)
        #expect(
            answers.allSatisfy { answer in
                if case .done(let counts) = answer { counts.workedCount == 1 } else { false }
            }
        )
        #expect(bench.objects == ["c3"])
        #expect(await store.verify([Self.first, Self.second]) == [.clean, .clean])
        #expect(!bench.calls.contains("named") && !bench.calls.contains("read"))
        #expect(bench.cutoffs == [Sample.start, Sample.start])
    }

    @Test("orders of one request are told apart as in its purge")
    func marks() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u1", "c2")], objects: ["c1", "c2"])
        _ = await bench.source().purge([KeyBench.order(1, "u1")])
        _ = await bench.keyed().purge([KeyBench.order(1, "u1")])
        _ = await bench.keyed().byKey().purge([Self.first, Self.second])
        let marks = bench.marks
        #expect(marks.count == 4 && Set(marks).count == 2 && !marks.contains(nil))
        #expect(Set(marks.prefix(2)) == Set(marks.suffix(2)))
    }

    @Test("what rows name again stays, what none names goes however new it is")
    func shared() async {
        let bench = KeyBench(rows: [("u9", "c1")], objects: ["c1", "c2"])
        let store = bench.keyed(isShared: true).byKey()
        #expect(await store.verify([Self.first, Self.second]) == [.clean, .remaining(1)])
        let answers = await store.purge([Self.first, Self.second])
        #expect(bench.objects == ["c1"])
        #expect(bench.cutoffs == [.distantFuture])
        guard case .done(let counts) = answers[0] else {
            Issue.record("\(answers)")
            return
        }
        #expect(counts.workedCount == 0)
    }

    @Test("an owner who cannot be asked about is no reason to purge")
    func unknownOwners() async {
        let bench = KeyBench(rows: [], objects: ["c1"])
        bench.fail("named", .unreachable)
        let store = bench.keyed(isShared: true).byKey()
        #expect(await store.purge([Self.first]) == [.failure(.unreachable)])
        #expect(await store.verify([Self.first]) == [.failure(.unreachable)])
        #expect(bench.objects == ["c1"])
    }

    @Test("a failure with one id, or a hold on its rows, leaves the others alone")
    func failures() async {
        let bench = KeyBench(rows: [], objects: ["c1", "c2", "c3"])
        bench.fail("purge c1", .unusable)
        bench.hold("c2")
        let orders = [Self.first, Self.second, KeyBench.order(2, "c3")]
        let answers = await bench.keyed().byKey().purge(orders)
        #expect(answers[0] == .failure(.unusable))
        guard case .held(_, let names) = answers[1] else {
            Issue.record("\(answers)")
            return
        }
        #expect(names == ["case 7"] && bench.objects == ["c1", "c2"])
    }

    @Test("the store lists its ids; one that cannot is told from where they come")
    func users() async {
        let bench = KeyBench(rows: [("u1", "c1")], objects: ["c1", "c2"])
        let listed = await bench.keyed().byKey().users { $0.exposeText() == "c2" }
        guard case .found(let ids) = listed else {
            Issue.record("not listed")
            return
        }
        #expect(ids == [Self.second.user])
        let silent = bench.keyed(inner: Silent()).byKey()
        guard case .unknown(let why) = await silent.users(where: { _ in true }) else {
            Issue.record("listed")
            return
        }
        #expect(why.contains("app-db"))
    }

    @Test("a tombstone is bound to what the id is, and to whether others may own it")
    func hashes() async {
        let bench = KeyBench(rows: [])
        let own = bench.keyed().byKey().tombstone(of: Self.first.user)
        let shared = bench.keyed(isShared: true).byKey().tombstone(of: Self.first.user)
        #expect(own == Array("app-db.customer\0c1".utf8))
        #expect(shared == Array("crm.of app-db.customer\0c1".utf8))
    }

    @Test("only what is a request's own to erase is kept as that")
    func own() async {
        let bench = KeyBench(rows: [("u1", "w")], objects: ["w"])
        let order = KeyBench.order(1, "u1")
        _ = await bench.source(shared: ["customer"]).purge([order])
        #expect(bench.own.isEmpty)
        _ = await bench.keyed(isShared: true).purge([order])
        #expect(bench.own == [KeyName(store: StoreName("crm"), key: "of app-db.customer")])
        _ = await bench.source("mail", keys: ["box"]).purge([order])
        #expect(bench.own.contains(KeyName(store: StoreName("mail"), key: "box")))
    }

    @Test("of a chain every source is known, the next one first")
    func sources() async {
        let bench = KeyBench(rows: [])
        let upstream = bench.keyed()
        let name = KeyName(store: StoreName("crm"), key: "ticket")
        #expect(
            bench.keyed(by: name, upstream: upstream).byKey().sources
                == ["crm", "app-db"].map { StoreName($0) }
        )
    }

    private struct Silent: StubStore {
        let name = StoreName("crm")

        func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] { [] }
        func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] { [] }
    }
}
