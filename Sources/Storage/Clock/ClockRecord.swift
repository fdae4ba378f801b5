package import Engine
import GRDB
package import Lifecycle

/// What outlives a restart about the clock; the state keeps it as a note.
///
/// It changes in the commit that takes over a jump, so a start that compares the reading with its
/// own finds exactly the jumps that the state has not taken over.
package struct ClockRecord: Hashable, Sendable {
    /// Empty when it is unknown.
    package var bootID: String
    /// Since when the clock has not jumped, by its own time.
    package var epoch: WallTime
    /// What a right clock is not behind of.
    package var floor: WallTime
    /// What the clock showed before it was set back a little.
    package var awaited = WallTime.distantPast
    /// Checkpoints up to this time are of a clock that was ahead.
    package var forgiven = WallTime.distantPast
    /// Since when no jump is known, by the clock's own time; also across a boot.
    package var steadySince = WallTime.distantPast
    package var reading: AnchoredClock.Anchor
    /// How far slewing may have moved the clock since the reading, below the size of any step.
    private static let slewMax = Duration.seconds(10)

    /// The last jump of this process that the state has taken over.
    package var stepNumber = 0
    /// The last jumps of this boot: an application may have noted times before them.
    package var steps: [ClockStep] = []
    private static let stepsMax = 16

    package init(
        bootID: String,
        epoch: WallTime,
        floor: WallTime,
        reading: AnchoredClock.Anchor
    ) {
        self.bootID = bootID
        self.epoch = epoch
        self.floor = floor
        self.reading = reading
    }

    /// Reads ``text``; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard parts.count >= 9, numbers.count == parts.count - 1, parts.count % 3 == 0 else {
            return nil
        }
        bootID = String(parts[0])
        epoch = WallTime(unixMilliseconds: numbers[0])
        floor = WallTime(unixMilliseconds: numbers[1])
        forgiven = WallTime(unixMilliseconds: numbers[2])
        reading = AnchoredClock.Anchor(
            wall: WallTime(unixMilliseconds: numbers[3]),
            uptime: .milliseconds(numbers[4])
        )
        awaited = WallTime(unixMilliseconds: numbers[5])
        stepNumber = Int(numbers[6])
        steadySince = WallTime(unixMilliseconds: numbers[7])
        steps = stride(from: 8, to: numbers.count, by: 3).map { index in
            ClockStep(
                from: WallTime(unixMilliseconds: numbers[index]),
                to: WallTime(unixMilliseconds: numbers[index + 1]),
                by: .milliseconds(numbers[index + 2])
            )
        }
    }

    /// The boot's id, then numbers: milliseconds but for the number of the last jump; then three
    /// for each jump.
    package var text: String {
        let times = [epoch, floor, forgiven, reading.wall].map(\.unixMilliseconds)
        let more = [
            reading.uptime.milliseconds, awaited.unixMilliseconds, Int64(stepNumber),
            steadySince.unixMilliseconds,
        ]
        let jumps = steps.flatMap {
            [$0.from.unixMilliseconds, $0.to.unixMilliseconds, $0.by.milliseconds]
        }
        return ([bootID] + (times + more + jumps).map(String.init)).joined(separator: " ")
    }

    /// From when on something may be destroyed.
    package var earliest: WallTime { max(floor, awaited) }

    /// What a clock shows at a later reading that has not been set since this one.
    package func expected(at now: AnchoredClock.Anchor) -> WallTime {
        reading.wall + (now.uptime - reading.uptime)
    }

    /// The jump between this reading and a later one of the same boot.
    package func step(to now: AnchoredClock.Anchor) -> ClockStep? {
        let expected = expected(at: now)
        let by = now.wall.since(expected)
        guard now.uptime >= reading.uptime,
            abs(by.milliseconds) >= Limits.clockStepMin.milliseconds
        else { return nil }
        // The clock may have been slewed since the reading: what it then showed lies a bit beyond.
        let slack = Duration.milliseconds(min(abs(by.milliseconds) / 2, Self.slewMax.milliseconds))
        return ClockStep(from: epoch, to: expected + slack, by: by)
    }

    /// Takes over a jump.
    ///
    /// A clock that is set back was ahead: what it has signed and waited for is so, too.
    package mutating func take(_ step: ClockStep) {
        epoch = step.epochAfter
        steadySince = step.noticedAt
        reading = AnchoredClock.Anchor(wall: reading.wall + step.by, uptime: reading.uptime)
        stepNumber = max(stepNumber, step.number)
        steps = (steps + [step]).suffix(Self.stepsMax)
        guard step.by < .zero else { return }
        forgiven = max(forgiven, step.to)
        awaited = step.waitsUntil.map { max(awaited, $0) } ?? .distantPast
        // Several small jumps back are a large one.
        if awaited.since(step.noticedAt) > Limits.clockWaitMax { awaited = .distantPast }
    }

    /// A clock that has not jumped for long is believed.
    package mutating func trust(at now: WallTime) {
        guard now.since(epoch) >= Limits.clockTrustAge else { return }
        floor = max(floor, now - Limits.clockTrustAge)
    }
}

extension StateDatabase {
    /// What is kept about the clock.
    package func clockRecord() async throws -> ClockRecord? {
        try await note(Self.clockNote).flatMap { ClockRecord($0) }
    }

    /// Changes what is kept about the clock.
    ///
    /// Returns the new record; `nil` without one.
    @discardableResult package func changeClock(
        _ change: @escaping @Sendable (inout ClockRecord) -> Void
    ) async throws -> ClockRecord? {
        try await writer.perform { try ClockWriter(database: $0).change(change) }
    }
}
