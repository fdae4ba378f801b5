import Engine
import Lifecycle
import Testing

@Suite("Stores whose ids are found in another one")
struct DependentStoreTests {
    private static func counts(_ answer: PurgeAnswer) -> [String] {
        switch answer {
        case .done(let counts):
            counts.entries.map { "\($0.name) \($0.action.code) \($0.rowCount)" }.sorted()
        case .held(_, let names): names.sorted()
        case .stopped: ["stopped"]
        case .halted: ["halted"]
        case .failure(let failure): [failure.code]
        }
    }

    @Test("ids are kept before anything of the user goes, and used after it is gone")
    func keptFirst() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u2", "c2")], objects: ["c1", "c2"])
        #expect(await bench.source().purge([KeyBench.order(1, "u1")]) == [.done(PurgeCounts())])
        #expect(bench.calls == ["find u1", "keep", "purge u1"])
        #expect(bench.rows == ["u2:c2"] && bench.kept(1) == ["c1"])
        let answer = await bench.keyed().purge([KeyBench.order(1, "u1")])
        #expect(Self.counts(answer[0]) == ["files delete 1"])
        #expect(bench.objects == ["c2"])
        #expect(await bench.keyed().verify([KeyBench.order(1, "u1")]) == [.clean])
    }

    @Test(
        "an id that cannot be found or kept keeps the user's rows",
        arguments: [
            ("find", EffectFailure.keys(.tooMany)), ("keep", .unusable), ("keep", .vaultSealed),
        ]
    )
    func nothingIsLost(step: String, failure: EffectFailure) async {
        let bench = KeyBench(rows: [("u1", "c1")], objects: ["c1"])
        bench.fail(step, failure)
        let order = KeyBench.order(1, "u1")
        #expect(await bench.source().purge([order]) == [.failure(failure)])
        #expect(bench.rows == ["u1:c1"])
        bench.fail(step, nil)
        #expect(await bench.source().purge([order]) == [.done(PurgeCounts())])
        #expect(bench.kept(1) == ["c1"])
    }

    @Test("a plan is the same before and after the rows are gone that name the ids")
    func samePlan() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u1", "c2")], objects: ["c1", "c2"])
        let order = KeyBench.order(1, "u1")
        let before = await bench.keyed().plan(order)
        _ = await bench.source().purge([order])
        #expect(bench.rows.isEmpty)
        #expect(await bench.keyed().plan(order) == before)
    }

    @Test("one user's failure leaves the others of a call alone")
    func neighbours() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u2", "c2")], objects: ["c1", "c2"])
        bench.fail("find u1", .keys(.unfit))
        let orders = [KeyBench.order(1, "u1"), KeyBench.order(2, "u2")]
        let answers = await bench.source().purge(orders)
        #expect(answers == [.failure(.keys(.unfit)), .done(PurgeCounts())])
        #expect(bench.rows == ["u1:c1"])
    }

    @Test("a look after a crash adds to what is kept, and takes nothing away")
    func addsAfterCrash() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u1", "c2")], objects: ["c1", "c2", "c3"])
        let order = KeyBench.order(1, "u1")
        bench.fail("purge u1", .lost)
        // As a crash between the two: the ids are kept and the rows are there still.
        #expect(await bench.source().purge([order]) == [.failure(.lost)])
        #expect(bench.kept(1) == ["c1", "c2"])
        bench.fail("purge u1", nil)
        bench.add("u1", "c3")
        #expect(await bench.source().purge([order]) == [.done(PurgeCounts())])
        // And once more, when nothing names any of them any more.
        #expect(await bench.source().purge([order]) == [.done(PurgeCounts())])
        #expect(bench.kept(1) == ["c1", "c2", "c3"])
        _ = await bench.keyed().purge([order])
        #expect(bench.objects.isEmpty)
    }

    @Test("a hold reaches every id of its order, and what went before it is counted at the end")
    func stopped() async {
        let bench = KeyBench(
            rows: [("u1", "a"), ("u1", "b"), ("u2", "c")],
            objects: ["a", "b", "c"]
        )
        let keyed = bench.keyed()
        var orders = [KeyBench.order(1, "u1"), KeyBench.order(2, "u2")]
        let (gate, first) = (PurgeGate(), orders[0].request)
        for index in orders.indices { orders[index].gate = gate }
        _ = await bench.source().purge(orders)
        bench.onPurge("a") { gate.close(for: [first]) }
        let answers = await keyed.purge(orders)
        #expect(answers[0] == .stopped)
        #expect(Self.counts(answers[1]) == ["files delete 1"])
        #expect(bench.objects == ["b"])
        orders[0].gate = nil
        #expect(Self.counts(await keyed.purge([orders[0]])[0]) == ["files delete 2"])
        #expect(bench.objects.isEmpty)
    }

    @Test("an order is done when all of its ids are, and its counts are theirs together")
    func merges() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u1", "c2")], objects: ["c1", "c2"])
        let order = KeyBench.order(1, "u1")
        let keyed = bench.keyed()
        _ = await bench.source().purge([order])
        bench.fail("purge c2", .unreachable)
        #expect(await keyed.purge([order]) == [.failure(.unreachable)])
        #expect(await keyed.verify([order]) == [.remaining(1)])
        bench.fail("verify c1", .lost)
        #expect(await keyed.verify([order]) == [.failure(.lost)])
        bench.fail("purge c2", nil)
        // What the first try did counts, too.
        #expect(await keyed.purge([order]).map(Self.counts) == [["files delete 2"]])
        bench.hold("c1")
        #expect(await keyed.purge([order]).map(Self.counts) == [["case 7"]])
    }

    @Test("what an operator has to mend is told before what passes by itself")
    func worst() async {
        let bench = KeyBench(rows: [("u1", "c1"), ("u1", "c2")])
        _ = await bench.source().purge([KeyBench.order(1, "u1")])
        bench.fail("purge c1", .unreachable)
        bench.fail("purge c2", .misconfigured)
        let answer = await bench.keyed().purge([KeyBench.order(1, "u1")])
        #expect(answer == [.failure(.misconfigured)])
    }

    @Test("a store into which no id leads was not looked for, and is asked nothing")
    func noIDs() async {
        let bench = KeyBench(rows: [])
        let order = KeyBench.order(1, "u1")
        _ = await bench.source().purge([order])
        #expect(bench.kept(1) == [])
        guard case .done(let counts) = await bench.keyed().purge([order]).first else {
            Issue.record("not done")
            return
        }
        #expect(counts.entries.map(\.action) == [.notLookedFor])
        #expect(await bench.keyed().verify([order]) == [.notLookedFor])
        #expect(!bench.calls.contains { $0.hasPrefix("purge c") })
    }

    @Test("a request that never had the source looks for the ids itself, once, and keeps them")
    func withoutSource() async {
        let bench = KeyBench(rows: [("u1", "c1")], objects: ["c1"])
        let keyed = bench.keyed()
        let order = KeyBench.order(1, "u1")
        bench.fail("find", .unreachable)
        #expect(await keyed.purge([order]) == [.failure(.unreachable)])
        #expect(bench.objects == ["c1"])
        bench.fail("find", nil)
        #expect(await keyed.purge([order]).map(Self.counts) == [["files delete 1"]])
        #expect(bench.kept(1) == ["c1"])
    }

    @Test("ids that cannot be read keep the object, and the request from completion")
    func unreadable() async {
        let bench = KeyBench(rows: [("u1", "c1")], objects: ["c1"])
        let order = KeyBench.order(1, "u1")
        _ = await bench.source().purge([order])
        bench.fail("read", .sealBroken)
        #expect(await bench.keyed().purge([order]) == [.failure(.sealBroken)])
        #expect(await bench.keyed().verify([order]) == [.failure(.sealBroken)])
        #expect(bench.objects == ["c1"])
    }

    @Test("an id found by an id that was found: chains keep every link")
    func chain() async {
        let bench = KeyBench(
            rows: [("u1", "c1"), ("c1", "t1"), ("c1", "t2")],
            objects: ["t1", "t2"]
        )
        let ticket = KeyName(store: StoreName("crm-db"), key: "ticket")
        let middle = bench.keyed(inner: bench.source("crm-db", keys: ["ticket"]))
        let last = bench.keyed(by: ticket, upstream: middle)
        let order = KeyBench.order(1, "u1")
        #expect(await last.plan(order) == .items([.init(name: "files", action: .delete, count: 2)]))
        #expect(bench.kept(1) == nil)
        _ = await bench.source().purge([order])
        _ = await middle.purge([order])
        #expect(bench.rows.isEmpty && bench.kept(1, as: ticket) == ["t1", "t2"])
        #expect(await last.purge([order]).map(Self.counts) == [["files delete 2"]])
        // Where neither store was part of the request, the way is gone from its beginning.
        let other = KeyBench(rows: [("u1", "c1"), ("c1", "t1")], objects: ["t1"])
        let upstream = other.keyed(inner: other.source("crm-db", keys: ["ticket"]))
        _ = await other.keyed(by: ticket, upstream: upstream).purge([order])
        #expect(other.objects.isEmpty)
    }

    @Test("the ids of one order differ in their marks, and those of a plan are the same each time")
    func plans() async {
        let ids = (0..<5).map { "c\($0)" }
        let bench = KeyBench(rows: ids.map { ("u1", $0) }, objects: ids)
        let keyed = bench.keyed()
        let first = await keyed.plan(KeyBench.order(1, "u1"))
        #expect(first == .items([PlanItem(name: "files", action: .delete, count: 5)]))
        for _ in 0..<5 { #expect(await keyed.plan(KeyBench.order(1, "u1")) == first) }
        #expect(!bench.calls.contains("keep"))
        bench.fail("find", .unreachable)
        #expect(await keyed.plan(KeyBench.order(1, "u1")) == .failure(.unreachable))
    }

    @Test("a plan names a store into which no id leads, and what a deletion would do then")
    func planWithoutIDs() async {
        let bench = KeyBench(rows: [])
        for (policy, outcome) in [
            (WithoutKeys.park, "the request would park as without_keys"),
            (.proceed, "this store would not be searched"),
        ] {
            let item = PlanItem(
                name: "app-db.customer",
                action: .keep,
                reason: "no key was found: \(outcome)",
                count: 0
            )
            let plan = await bench.keyed(withoutKeys: policy).plan(KeyBench.order(1, "u1"))
            #expect(plan == .items([item]))
        }
    }

    @Test("a plan counts every id, however many there are")
    func manyIDs() async {
        let ids = (0..<500).map { "c\($0)" }
        let bench = KeyBench(rows: ids.map { ("u1", $0) }, objects: ids)
        let items = PlanItem(name: "files", action: .delete, count: 500)
        #expect(await bench.keyed().plan(KeyBench.order(1, "u1")) == .items([items]))
    }
}
