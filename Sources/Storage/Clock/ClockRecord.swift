import Encoding
package import Engine
package import Lifecycle

/// What outlives a restart about the clock, as a note.
///
/// It changes in the commit that takes over a jump: a start finds the jumps that are missing.
package struct ClockRecord: Hashable, Sendable {
    /// Empty when it is unknown.
    package var bootID: String
    /// The last jump, by the clock's own time.
    package var epoch: WallTime
    /// A right clock is not behind this.
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

    /// The last jump of this process that the state has.
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
        (self.bootID, self.epoch, self.floor, self.reading) = (bootID, epoch, floor, reading)
    }

    /// Reads ``text``; `nil` for anything else.
    init?(_ text: String) {
        do { try self.init(ColumnText(text, "clock")) } catch { return nil }
    }

    private init(_ values: ColumnText) throws {
        bootID = try values.text(0)
        (epoch, floor, forgiven) = (try values.time(1), try values.time(2), try values.time(3))
        reading = AnchoredClock.Anchor(
            wall: try values.time(4),
            uptime: .milliseconds(try values.int64(5))
        )
        awaited = try values.time(6)
        stepNumber = try values.int(7)
        steadySince = try values.time(8)
        steps = try (9..<max(9, values.count)).map { index in
            let step = try values.row(index)
            return ClockStep(
                from: try step.time(0),
                to: try step.time(1),
                by: .milliseconds(try step.int64(2))
            )
        }
    }

    var text: String {
        let steps = steps.map { step -> JSONValue in
            .array([.time(step.from), .time(step.to), .integer(step.by.milliseconds)])
        }
        return ColumnText.encode(
            [
                .string(bootID), .time(epoch), .time(floor), .time(forgiven), .time(reading.wall),
                .integer(reading.uptime.milliseconds), .time(awaited), .int(stepNumber),
                .time(steadySince),
            ] + steps
        )
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
    /// `nil` before the first start.
    package func clockRecord() async throws -> ClockRecord? {
        try await ownNote(Self.clockNote).flatMap { ClockRecord($0) }
    }

    /// Returns the new record; `nil` without one.
    @discardableResult package func changeClock(
        _ change: @escaping @Sendable (inout ClockRecord) -> Void
    ) async throws -> ClockRecord? {
        let note = ownName(Self.clockNote)
        return try await writer.perform { try ClockWriter(database: $0, note: note).change(change) }
    }
}
