import FoundationEssentials
import Glibc
package import Lifecycle
import Synchronization

/// Reads the clocks of the machine.
package struct MachineClocks: Sendable {
    let wall: @Sendable () -> WallTime
    /// Time since the machine started, suspended time included.
    package let uptime: @Sendable () -> Duration

    package static let system = MachineClocks(
        wall: { WallTime(unixMilliseconds: BootClock.read(CLOCK_REALTIME).milliseconds) },
        uptime: { BootClock.now }
    )
}

/// Wall time that follows the system's clock, and notices when that jumps.
///
/// Every reading compares the system's clock with what the boot-time clock lets expect. A small
/// difference is a slew and is followed, never backwards. From ``Lifecycle/Limits/clockStepMin`` on
/// it is a step: time jumps with the system's, whoever asked to hear of it does, and every sleep
/// ends.
package final class AnchoredClock: EngineClock {
    /// Where the service's time comes from: a reading of both clocks.
    package struct Anchor: Hashable, Sendable {
        package let wall: WallTime
        package let uptime: Duration

        package init(wall: WallTime, uptime: Duration) { (self.wall, self.uptime) = (wall, uptime) }
    }

    /// A time of the service, and which clock it is of.
    package struct Stamp: Hashable, Sendable {
        package let time: WallTime
        package let reading: Anchor
        /// Since when the clock had not jumped, by its own time.
        package let epoch: WallTime
        package let stepCount: Int
    }

    fileprivate struct State {
        /// Steps that are remembered, to correct what an application dated before them.
        static let stepsMax = 16

        var anchor: Anchor
        /// What the clock showed after its last step, or at the start.
        var epoch: WallTime
        var last: WallTime
        /// Since when no jump is known, by the clock's own time.
        var steadySince = WallTime.distantPast
        var steps: [ClockStep] = []
        var stepCount = 0
        var unheard: [ClockStep] = []
        var sleepers: [UInt64: WakeSignal] = [:]
        var lastSleeper: UInt64 = 0
    }

    private struct Listener: Sendable {
        var body: (@Sendable (ClockStep) -> Void)?
    }

    /// Readings of both clocks that lie further apart are taken again: the thread was held up.
    private static let readingMax = Duration.milliseconds(100)

    private let clocks: MachineClocks
    private let state: Mutex<State>
    private let listener = Mutex(Listener())

    package init(clocks: MachineClocks = .system) {
        self.clocks = clocks
        let anchor = Self.read(clocks)
        state = Mutex(State(anchor: anchor, epoch: anchor.wall, last: anchor.wall))
    }

    private static func read(_ clocks: MachineClocks) -> Anchor {
        var tries = 0
        while true {
            let before = clocks.uptime()
            let wall = clocks.wall()
            let after = clocks.uptime()
            tries += 1
            guard after - before >= readingMax, tries < 8 else {
                return Anchor(wall: wall, uptime: after)
            }
        }
    }

    /// It hears of each step before anyone reads the new time, and of those before at once.
    package func onStep(_ body: @escaping @Sendable (ClockStep) -> Void) {
        state.withLock { state in
            listener.withLock { $0.body = body }
            state.unheard.forEach(body)
            state.unheard = []
        }
    }

    package var epoch: WallTime { state.withLock { $0.epoch } }

    /// Goes on where an earlier process stopped; `shown` is what the clock showed without a slew.
    package func begin(
        epoch: WallTime,
        steadySince: WallTime,
        notBefore shown: WallTime = .distantPast
    ) {
        state.withLock { state in
            state.epoch = min(state.epoch, epoch)
            state.steadySince = max(state.steadySince, steadySince)
            guard shown.since(state.last) < Limits.clockStepMin else { return }
            state.last = max(state.last, shown)
        }
    }

    package var stepCount: Int { state.withLock { $0.stepCount } }

    /// The system's time; at its first call after a step, with everything that follows one.
    package func now() -> WallTime { stamp().time }

    package func stamp() -> Stamp { state.withLock { read(&$0) } }

    /// ``stamp()`` for one who takes over all steps until then: a listener hears of later ones.
    package func takeOver() -> Stamp {
        state.withLock { state in
            let stamp = read(&state)
            state.unheard = []
            return stamp
        }
    }

    /// Inside the lock, so that no thread takes over a reading of before another one's.
    private func read(_ state: inout State) -> Stamp {
        let (time, step) = state.take(Self.read(clocks))
        if let step {
            if let body = listener.withLock({ $0 }).body {
                body(step)
            } else {
                state.postpone(step)
            }
            for sleeper in state.sleepers.values { sleeper.send() }
        }
        return Stamp(
            time: time,
            reading: state.anchor,
            epoch: state.epoch,
            stepCount: state.stepCount
        )
    }

    /// What the right clock would have shown when an application noted a time.
    package func corrected(_ time: WallTime) -> WallTime {
        state.withLock { state in
            state.steps.reduce(time) { $1.corrected($0) }
        }
    }

    package func learn(_ step: ClockStep) { state.withLock { $0.remember(step) } }

    /// A clock shows some times twice: only those after its last jump are known to be its own.
    package func isSteady(since time: WallTime) -> Bool {
        state.withLock { state in
            let now = read(&state).time
            return state.steadySince <= time && time <= now
        }
    }

    package func hasShown(_ time: WallTime) -> Bool {
        state.withLock { $0.steps.contains { time <= $0.latest } }
    }

    /// Sleeps on the boot-time clock, until the time has come or the system's clock has jumped.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until time: WallTime) async throws {
        let stepCount = stepCount
        let rest = time.since(now())
        let step = WakeSignal()
        let number = state.withLock { state -> UInt64? in
            guard state.stepCount == stepCount else { return nil }
            state.lastSleeper += 1
            state.sleepers[state.lastSleeper] = step
            return state.lastSleeper
        }
        guard let number else { return }
        defer { _ = state.withLock { $0.sleepers.removeValue(forKey: number) } }
        try await step.wait { try await BootClock.sleep(for: rest) }
    }
}

extension AnchoredClock.State {
    fileprivate mutating func remember(_ step: ClockStep) {
        steps.append(step)
        if steps.count > Self.stepsMax { steps.removeFirst() }
    }

    /// Steps without end become one.
    fileprivate mutating func postpone(_ step: ClockStep) {
        guard unheard.count >= Self.stepsMax, let last = unheard.popLast() else {
            unheard.append(step)
            return
        }
        unheard.append(
            ClockStep(from: last.from, to: last.to, by: last.by + step.by, number: step.number)
        )
    }

    /// The time, and the step if the clock has jumped.
    fileprivate mutating func take(_ reading: AnchoredClock.Anchor) -> (WallTime, ClockStep?) {
        let expected = anchor.wall + (reading.uptime - anchor.uptime)
        let difference = reading.wall.since(expected)
        guard abs(difference.milliseconds) >= Limits.clockStepMin.milliseconds else {
            anchor = reading
            last = max(last, reading.wall)
            return (last, nil)
        }
        stepCount += 1
        // A slew back right after a start leaves the clock before its epoch.
        let step = ClockStep(
            from: min(epoch, expected),
            to: max(last, expected),
            by: difference,
            number: stepCount
        )
        remember(step)
        (anchor, epoch, last) = (reading, step.epochAfter, reading.wall)
        steadySince = step.noticedAt
        return (last, step)
    }
}
