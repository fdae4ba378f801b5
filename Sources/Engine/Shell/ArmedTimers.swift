package import Lifecycle

/// The timers that a loop has set and that have not fired, each earlier than the one before it.
///
/// A timer cannot be taken back, so one that is set is remembered: else a far one would be set anew
/// behind every nearer one that fires, and they would pile up until its time.
package struct ArmedTimers: Sendable {
    private var times: [WallTime] = []
    private var stepCount = 0

    package init() {}

    /// Whether the caller must set a timer for a time: none fires at it or before.
    package mutating func arm(_ time: WallTime?, at now: WallTime, stepCount: Int = 0) -> Bool {
        if self.stepCount != stepCount { (self.stepCount, times) = (stepCount, []) }
        while let next = times.last, next <= now { times.removeLast() }
        guard let time, times.last.map({ time < $0 }) ?? true else { return false }
        times.append(time)
        return true
    }

    /// Has `wake` called at a time, or when the clock jumps before it, unless that is so already.
    package mutating func arm(
        _ time: WallTime?,
        at now: WallTime,
        by clock: any EngineClock,
        in group: inout ThrowingDiscardingTaskGroup<any Error>,
        wake: @escaping @Sendable () -> Void
    ) {
        guard let time, arm(time, at: now, stepCount: clock.stepCount) else { return }
        group.addTask {
            do {
                try await clock.sleep(until: time)
            } catch {
                // Only cancellation ends a sleep early, and then nothing waits for the timer.
                return
            }
            wake()
        }
    }
}
