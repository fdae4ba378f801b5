import Lifecycle
import Testing

struct AlarmLimitTests {
    /// Seconds after the first ten alarms, and whether one more of the same event is passed on.
    static let cases: [(Int64, Bool)] = [
        (0, false), (3599, false), (3600, true), (3601, true), (-9000, false),
    ]

    @Test("ten alarms of one event are passed on in any hour", arguments: cases)
    func flood(_ second: Int64, _ isExpected: Bool) {
        var limit = AlarmLimit()
        for _ in 0..<AlarmLimit.perHourMax {
            let isAdmitted = limit.admit(.checkpointFailed, at: Sample.start)
            #expect(isAdmitted)
        }
        let now = Sample.start + .seconds(second)
        let other = limit.admit(.storePaused, at: now)
        #expect(other, "another event")
        let more = limit.admit(.checkpointFailed, at: now)
        #expect(more == isExpected)
    }

    @Test func `an alarm that is not passed on does not count`() {
        var limit = AlarmLimit()
        let admitted = (0..<36).filter { index in
            limit.admit(.checkpointFailed, at: Sample.start + .seconds(300 * Int64(index)))
        }
        // One every five minutes: the first ten of each twelve.
        let expected = (0..<36).filter { $0 % 12 < AlarmLimit.perHourMax }
        #expect(admitted == expected)
    }
}
