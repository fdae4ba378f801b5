import Lifecycle
import Testing

struct SampleScheduleTests {
    private static let week = Sample.day * 7
    private static let first = SampleSchedule(startedAt: Sample.start)

    private static func report(position: Int, found: [Int]) -> RecheckReport {
        var report = RecheckReport()
        report.position = position
        report.stores = found.enumerated().map { index, count in
            var store = StoreReport(name: StoreName("store-\(index)"))
            store.found = count
            return store
        }
        return report
    }

    @Test(
        "a sample is due an interval after the last one began",
        arguments: [
            (.zero - Sample.day, false), (.milliseconds(-1), false), (Duration.zero, true),
            (week, true),
        ]
    )
    func due(late: Duration, isDue: Bool) throws {
        let begunAt = Sample.start + Self.week
        let next = try #require(
            Self.first.after(RecheckReport(), isFollowed: true, begunAt: begunAt)
        )
        for schedule in [Self.first, next] {
            let dueAt = schedule.lastAt + Self.week
            #expect(schedule.dueAt(every: Self.week) == dueAt)
            #expect(schedule.isDue(at: dueAt + late, every: Self.week) == isDue)
        }
        #expect(next.lastAt == begunAt)
    }

    @Test(
        "a sample advances, and says whether data was found",
        arguments: [([Int](), false), ([0, 0], false), ([0, 1], true)]
    )
    func advances(found: [Int], isFound: Bool) throws {
        let report = Self.report(position: 70, found: found)
        let next = try #require(
            Self.first.after(report, isFollowed: false, begunAt: Sample.start + Self.week)
        )
        #expect(next.position == 70)
        #expect(next.isFound == isFound)
        #expect(next.run.kind == .sample(after: 70))
    }

    @Test func `data that rechecks follow is their alarm`() {
        let report = Self.report(position: 70, found: [1])
        let next = Self.first.after(report, isFollowed: true, begunAt: Sample.start)
        #expect(next?.isFound == false && next?.position == 70)
    }

    @Test func `a sample that broke off advances nothing`() {
        let report = Self.report(position: 70, found: [1]).broken("other_host")
        #expect(
            Self.first.after(report, isFollowed: false, begunAt: Sample.start + Self.week) == nil
        )
    }

    @Test func `a store that could not be searched does not hold the others up`() {
        var report = Self.report(position: 70, found: [0])
        report.stores[0].error = "unreachable"
        let next = Self.first.after(report, isFollowed: false, begunAt: Sample.start + Self.week)
        #expect(next?.position == 70)
    }

    @Test("the state keeps it as text", arguments: [[], [3], [0]])
    func text(found: [Int]) throws {
        let report = Self.report(position: 9, found: found)
        let schedule = try #require(
            Self.first.after(report, isFollowed: false, begunAt: Sample.start)
        )
        #expect(SampleSchedule(text: schedule.text) == schedule)
        let isFound = found.contains(3)
        #expect(schedule.text == "\(Sample.start.unixMilliseconds) 9 \(isFound ? 1 : 0)")
    }

    @Test(
        "other text is no schedule",
        arguments: ["", "1 2", "1 2 3 4", "a 2 1", "1 2 a 1", "1 -2 1", "99999999999999999999 2 1"]
    )
    func malformed(text: String) {
        #expect(SampleSchedule(text: text) == nil)
    }
}
