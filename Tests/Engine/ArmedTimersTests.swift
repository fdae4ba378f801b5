import Engine
import Lifecycle
import Testing

struct ArmedTimersTests {
    @Test func `a far timer is set once, however many nearer ones fire before it`() {
        let far = Sample.start + .seconds(1000)
        var timers = ArmedTimers()
        var set = 0
        func arm(_ time: WallTime?, at now: WallTime) -> Int {
            let isNew = timers.arm(time, at: now)
            return isNew ? 1 : 0
        }
        set += arm(far, at: Sample.start)
        for second in 1...100 {
            let now = Sample.start + .seconds(second)
            #expect(arm(now + .milliseconds(500), at: now) == 1)
            #expect(arm(now + .milliseconds(600), at: now) == 0)
            set += arm(far, at: now + .milliseconds(500))
        }
        #expect(set == 1)
        #expect(arm(nil, at: Sample.start) == 0)
        // It has fired: one for the same time is a new one.
        #expect(arm(far, at: far) == 1)
    }
}
