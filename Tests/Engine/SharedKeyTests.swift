import Engine
import Lifecycle
import Testing

@Suite("Objects that go with their last owner")
struct SharedKeyTests {
    private static let first = KeyBench.order(1, "u1")
    private static let second = KeyBench.order(2, "u2")

    private static func lines(_ answers: [PurgeAnswer]) -> [[String]] {
        answers.map { answer in
            guard case .done(let counts) = answer else { return ["\(answer)"] }
            return counts.entries.map { "\($0.name): \($0.action.code) \($0.rowCount)" }.sorted()
        }
    }

    private static let kept = "app-db.customer: shared 1"
    private static let gone = ["app-db.customer: shared 0", "files: delete 1"]

    @Test("what others own stays and is said to, and the last owner takes it along")
    func lastOwner() async {
        let bench = KeyBench(rows: [("u1", "w"), ("u2", "w"), ("u3", "x")], objects: ["w", "x"])
        let keyed = bench.keyed(isShared: true)
        _ = await bench.source().purge([Self.first])
        #expect(Self.lines(await keyed.purge([Self.first])) == [[Self.kept]])
        #expect(await keyed.verify([Self.first]) == [.clean])
        #expect(bench.objects == ["w", "x"])
        _ = await bench.source().purge([Self.second])
        // Between the two the object has no owner, and is not the first one's to answer for.
        #expect(await keyed.verify([Self.first]) == [.clean])
        #expect(Self.lines(await keyed.purge([Self.second])) == [Self.gone])
        #expect(await keyed.verify([Self.second]) == [.clean])
        #expect(bench.objects == ["x"])
    }

    /// Both source purges come first in their own request; otherwise the steps mix in any way.
    static let orders: [[Int]] = [
        [1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 2, 1], [2, 1, 1, 2], [2, 1, 2, 1], [2, 2, 1, 1],
    ]

    @Test("of two owners who go at once one takes it, in every order of events", arguments: orders)
    func race(_ steps: [Int]) async {
        let bench = KeyBench(rows: [("u1", "w"), ("u2", "w")], objects: ["w"])
        let keyed = bench.keyed(isShared: true)
        var begun: Set<Int> = []
        for step in steps {
            let order = step == 1 ? Self.first : Self.second
            _ =
                begun.insert(step).inserted
                ? await bench.source().purge([order]) : await keyed.purge([order])
        }
        #expect(bench.objects.isEmpty)
        #expect(await keyed.verify([Self.first, Self.second]) == [.clean, .clean])
    }

    @Test("two owners in one call purge it once, and count it once")
    func together() async {
        let bench = KeyBench(rows: [("u1", "w"), ("u2", "w")], objects: ["w"])
        let orders = [Self.first, Self.second]
        _ = await bench.source().purge(orders)
        let answers = Self.lines(await bench.keyed(isShared: true).purge(orders))
        #expect(answers == [Self.gone, [Self.gone[0]]])
        #expect(bench.calls.count { $0 == "purge w" } == 1)
    }

    @Test("what is to go is noted before it goes, and stays the request's own after a crash")
    func noted() async {
        let bench = KeyBench(rows: [("u1", "w")], objects: ["w"])
        let keyed = bench.keyed(isShared: true)
        _ = await bench.source().purge([Self.first])
        bench.fail("keep", .unusable)
        #expect(await keyed.purge([Self.first]) == [.failure(.unusable)])
        #expect(bench.objects == ["w"])
        bench.fail("keep", nil)
        bench.fail("purge w", .lost)
        #expect(await keyed.purge([Self.first]) == [.failure(.lost)])
        #expect(await keyed.verify([Self.first]) == [.remaining(1)])
        bench.fail("purge w", nil)
        _ = await keyed.purge([Self.first])
        #expect(await keyed.verify([Self.first]) == [.clean])
        // A new owner of an id that is used again is nobody's leftover.
        bench.add("u9", "w")
        #expect(await keyed.verify([Self.first]) == [.clean])
    }

    @Test("an owner who cannot be asked about is no reason to purge")
    func unknownOwners() async {
        let bench = KeyBench(rows: [("u1", "w"), ("u2", "w")], objects: ["w"])
        let keyed = bench.keyed(isShared: true)
        _ = await bench.source().purge([Self.first])
        bench.fail("named", .unreachable)
        #expect(await keyed.purge([Self.first]) == [.failure(.unreachable)])
        #expect(await keyed.plan(Self.second) == .failure(.unreachable))
        #expect(bench.objects == ["w"])
    }

    @Test("a plan counts what would have no owner without this user")
    func plan() async {
        let bench = KeyBench(rows: [("u1", "w"), ("u2", "w"), ("u2", "v")], objects: ["w", "v"])
        let plan = await bench.keyed(isShared: true).plan(Self.second)
        let stays = PlanItem(
            name: "app-db.customer",
            action: .keep,
            reason: "still has other owners",
            count: 1
        )
        #expect(plan == .items([PlanItem(name: "files", action: .delete, count: 1), stays]))
    }

    @Test("what nobody owns goes however new it is; one's own objects keep the time cutoff")
    func cutoff() async {
        let recorder = CutoffRecorder()
        for isShared in [true, false] {
            let bench = KeyBench(rows: [("u1", "w")])
            _ = await bench.source().purge([Self.first])
            _ = await bench.keyed(isShared: isShared, inner: recorder).purge([Self.first])
        }
        #expect(await recorder.cutoffs == [.distantFuture, Sample.start])
    }

    @Test("a plan says what has no date, unless that is no matter")
    func undated() async {
        let bench = KeyBench(rows: [("u1", "v"), ("u1", "w")])
        for isShared in [true, false] {
            let keyed = bench.keyed(isShared: isShared, inner: CutoffRecorder())
            let item = PlanItem(
                name: "notes",
                action: .delete,
                count: 6,
                undatedCount: isShared ? 0 : 2,
                hasNoTimestamps: !isShared
            )
            #expect(await keyed.plan(Self.first) == .items([item]))
        }
    }

    private actor CutoffRecorder: StubStore {
        nonisolated let name = StoreName("crm")
        private(set) var cutoffs: [WallTime] = []

        func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
            cutoffs += orders.map(\.cutoff)
            return orders.map { _ in .done(PurgeCounts()) }
        }

        func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] { orders.map { _ in .clean } }
        func plan(_ order: PurgeOrder) async -> PlanAnswer {
            .items([
                PlanItem(
                    name: "notes",
                    action: .delete,
                    count: 3,
                    undatedCount: 1,
                    hasNoTimestamps: true
                )
            ])
        }
    }
}
