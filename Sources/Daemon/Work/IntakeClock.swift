import Engine
import Lifecycle
import Synchronization

/// Dates what comes in by the clock whose jumps the store has all accepted.
final class IntakeClock: Sendable {
    private let clock: AnchoredClock
    private let floor: @Sendable () -> WallTime
    private let settleStore: @Sendable () async -> Void
    let beginAdmission: @Sendable () -> ReadNumber
    private let settledCount = Mutex(0)

    init(
        clock: AnchoredClock,
        floor: @escaping @Sendable () -> WallTime,
        settleStore: @escaping @Sendable () async -> Void,
        beginAdmission: @escaping @Sendable () -> ReadNumber
    ) {
        self.clock = clock
        self.floor = floor
        self.settleStore = settleStore
        self.beginAdmission = beginAdmission
    }

    /// Waits until the store has accepted every jump, and returns how many there were.
    func settle() async -> Int {
        let stepCount = clock.stamp().stepCount
        guard settledCount.withLock({ $0 < stepCount }) else { return stepCount }
        await settleStore()
        settledCount.withLock { $0 = max($0, stepCount) }
        return stepCount
    }

    /// The time; `nil` when the clock has jumped since.
    func now(after stepCount: Int) -> WallTime? {
        let stamp = clock.stamp()
        return stamp.stepCount == stepCount ? stamp.time : nil
    }

    /// What the right clock would have shown when an application noted `time`.
    func corrected(_ time: WallTime) -> WallTime {
        clock.isSteady(since: time) ? time : clock.corrected(time)
    }

    /// Judges when an application noted a submission.
    ///
    /// Its time counts only without a jump of the clock since; otherwise the acceptance counts, and
    /// what a clock ahead has dated goes, too. While the clock is behind, its floor counts.
    func corrected(_ submission: Submission) -> Submission {
        var submission = submission
        let (now, floor) = (clock.now(), floor())
        if now < floor { submission.datedUpTo = floor }
        guard let noted = submission.createdAt, !clock.isSteady(since: noted) else {
            return submission
        }
        submission.createdAt = nil
        // A slew back leaves a clock that is ahead of itself.
        if noted > now, noted.since(now) < Limits.clockStepMin || clock.hasShown(noted) {
            submission.datedUpTo = max(submission.datedUpTo ?? noted, noted)
        }
        return submission
    }
}
