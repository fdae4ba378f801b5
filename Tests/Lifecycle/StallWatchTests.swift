import Lifecycle
import Testing

@Suite("Work that stands still") struct StallWatchTests {
    private let apple = QueueProgress.Place.provider(ProviderName("apple"))

    private func place(_ isDue: Bool, _ begunCount: Int) -> [QueueProgress] {
        [QueueProgress(place: apple, isDue: isDue, begunCount: begunCount)]
    }

    @Test("due work that is not begun for longer than the bound is found")
    func stalled() {
        var watch = StallWatch()
        #expect(watch.note(place(true, 3), at: .zero) == nil)
        #expect(watch.note(place(true, 3), at: StallWatch.bound) == nil)
        #expect(watch.note(place(true, 3), at: StallWatch.bound + .seconds(1)) == apple)
    }

    @Test("progress, and a moment in which nothing was due, begin the time anew")
    func progress() {
        var watch = StallWatch()
        let later = StallWatch.bound + .seconds(1)
        #expect(watch.note(place(true, 3), at: .zero) == nil)
        #expect(watch.note(place(true, 4), at: later) == nil)
        #expect(watch.note(place(false, 4), at: later * 2) == nil)
        #expect(watch.note(place(true, 4), at: later * 3) == nil)
        #expect(watch.note(place(true, 4), at: later * 4) == apple)
    }

    @Test("an idle month and a month of an outage are no stall")
    func idle() {
        var watch = StallWatch()
        for day in 0..<30 {
            #expect(watch.note(place(false, 0), at: .seconds(86_400 * day)) == nil)
        }
    }
}
