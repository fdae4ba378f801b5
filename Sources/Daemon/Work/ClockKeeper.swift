import Engine
import FoundationEssentials
import Glibc
import Ledger
import Lifecycle
import Logging
import Storage
import Synchronization

/// Keeps what must outlive a restart about the clock, and reports its jumps.
///
/// The state holds a reading of both clocks. A start in the same boot compares it with its own: so
/// a clock that was set while the service was down is noticed, too.
final class ClockKeeper: Sendable {
    /// What the state keeps.
    struct Record: Hashable, Sendable {
        var bootID: String
        /// Since when the clock has not jumped, by its own time.
        var epoch: WallTime
        /// What a right clock is not behind of.
        var floor: WallTime
        /// Checkpoints up to this time are of a clock that was ahead.
        var forgiven: WallTime
        var reading: AnchoredClock.Anchor
    }

    /// How long a jump stays an alarm.
    static let alarmLifetime = Duration.seconds(86_400)
    /// Between two readings that are kept: slewing by 500 ppm stays below a step meanwhile.
    static let period = Duration.seconds(3600)

    private let state: StateDatabase
    private let clock: AnchoredClock
    private let ledger: LedgerKeeper
    private let bootID: String?
    /// When the program was built; a right clock is not behind of it.
    private let builtAt: WallTime
    private let logger: Logger
    private let steps: AsyncStream<ClockStep>
    private let step: AsyncStream<ClockStep>.Continuation
    private let lastStepAt = Mutex<WallTime?>(nil)
    private let record = Mutex<Record?>(nil)

    /// - Parameters:
    ///   - state: Where the record is kept.
    ///   - clock: The service's.
    ///   - ledger: Whose checkpoints the clock is compared with.
    ///   - environment: Of the process; `EXPUNGED_BOOT_ID` names the boot, where `/proc/sys` is
    ///     hidden.
    ///   - builtAt: When the program was built, for an installation without any checkpoint.
    ///   - logger: Hears of each jump.
    init(
        state: StateDatabase,
        clock: AnchoredClock,
        ledger: LedgerKeeper,
        environment: [String: String],
        builtAt: WallTime = ClockKeeper.programTime,
        logger: Logger
    ) {
        self.state = state
        self.clock = clock
        self.ledger = ledger
        self.builtAt = builtAt
        self.logger = logger
        bootID = environment["EXPUNGED_BOOT_ID"] ?? Self.readBootID()
        (steps, step) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    private static func readBootID() -> String? {
        do {
            let data = try Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id"))
            return String(decoding: data, as: UTF8.self).filter { $0.isHexDigit }
        } catch {
            // Hidden by the sandbox of a unit that is not ours: jumps while down go unnoticed.
            return nil
        }
    }

    /// When the running program's file was last changed, as packages set it; the distant past when
    /// nobody knows.
    static var programTime: WallTime {
        var facts = stat()
        guard unsafe stat("/proc/self/exe", &facts) == 0 else { return .distantPast }
        return WallTime(unixMilliseconds: Int64(facts.st_mtim.tv_sec) * 1000)
    }

    /// Takes over a jump that happened while the service was down; before the engine starts.
    ///
    /// - Returns: What the clock must not be behind of.
    /// - Throws: The store's error.
    func start() async throws -> WallTime {
        let known = try await state.note(StateDatabase.clockNote).flatMap { Record($0) }
        let now = clock.now()
        let newest = await ledger.last?.checkpoint.time ?? .distantPast
        let evidence = max(newest, builtAt)
        var current = Record(
            bootID: bootID ?? "",
            epoch: clock.epoch,
            floor: evidence <= known?.forgiven ?? .distantPast
                ? known?.floor ?? evidence : evidence,
            forgiven: known?.forgiven ?? .distantPast,
            reading: clock.reading
        )
        var missed: ClockStep?
        if let known, bootID == known.bootID {
            missed = known.step(to: clock.reading)
            current.floor = known.floor
            current.epoch = min(missed?.epochAfter ?? known.epoch, current.epoch)
        }
        clock.begin(epoch: current.epoch)
        try await state.reclock(missed, at: now)
        if let missed { note(missed, newest, &current) }
        try await keep(current)
        return current.floor
    }

    /// Hears of a jump, inside the clock's lock.
    func note(_ step: ClockStep) { self.step.yield(step) }

    /// Reports jumps, and keeps a reading now and then, until the task is cancelled.
    ///
    /// - Throws: The store's error, or `CancellationError`.
    func run(_ engine: DeletionEngine) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await step in self.steps {
                    // A crash before finds the jump again.
                    await engine.settleClock()
                    let newest = await self.ledger.last?.checkpoint.time ?? .distantPast
                    guard var current = self.record.withLock({ $0 }) else { continue }
                    self.note(step, newest, &current)
                    current.epoch = self.clock.epoch
                    try await self.keep(current)
                    engine.post(.clockFloor(current.floor))
                    self.state.wakeCases()
                }
            }
            group.addTask {
                while true {
                    try await self.clock.sleep(until: self.clock.now() + Self.period)
                    guard let current = self.record.withLock({ $0 }) else { continue }
                    let now = self.clock.now()
                    try await self.keep(current.trusted(at: now, since: self.clock.epoch))
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Whether the clock has jumped lately.
    var hasStepped: Bool {
        lastStepAt.withLock { $0 }.map { clock.now().since($0) < Self.alarmLifetime } ?? false
    }

    /// Lets work go on although the clock is behind: an operator says that it is right.
    ///
    /// - Throws: The store's error.
    func forgive() async throws {
        guard var current = record.withLock({ $0 }) else { return }
        current.forgiven = max(await ledger.last?.checkpoint.time ?? .distantPast, builtAt)
        current.floor = .distantPast
        try await keep(current)
    }

    /// Reports a jump, and forgives the checkpoints of a clock that was ahead.
    private func note(_ step: ClockStep, _ newest: WallTime, _ current: inout Record) {
        let now = clock.now()
        lastStepAt.withLock { $0 = now }
        let sign = step.by < .zero ? "" : "+"
        logger.note(.clockStepped, ["detail": "\(sign)\(step.by.milliseconds / 1000) s"])
        if newest > now { current.forgiven = max(current.forgiven, newest) }
        if let floor = step.waitsUntil { current.floor = max(current.floor, floor) }
    }

    private func keep(_ current: Record) async throws {
        var current = current
        current.reading = clock.reading
        record.withLock { [current] in $0 = current }
        guard bootID != nil else { return }
        try await state.setNote(StateDatabase.clockNote, to: current.text)
    }
}

extension ClockKeeper.Record {
    /// Reads ``text``; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard parts.count == 6, numbers.count == 5 else { return nil }
        bootID = String(parts[0])
        epoch = WallTime(unixMilliseconds: numbers[0])
        floor = WallTime(unixMilliseconds: numbers[1])
        forgiven = WallTime(unixMilliseconds: numbers[2])
        reading = AnchoredClock.Anchor(
            wall: WallTime(unixMilliseconds: numbers[3]),
            uptime: .milliseconds(numbers[4])
        )
    }

    var text: String {
        let times = [epoch, floor, forgiven, reading.wall].map(\.unixMilliseconds)
        return ([bootID] + (times + [reading.uptime.milliseconds]).map(String.init))
            .joined(separator: " ")
    }

    /// The jump between this reading and a later one of the same boot.
    func step(to now: AnchoredClock.Anchor) -> ClockStep? {
        let expected = reading.wall + (now.uptime - reading.uptime)
        let by = now.wall.since(expected)
        guard now.uptime >= reading.uptime,
            abs(by.milliseconds) >= Limits.clockStepMin.milliseconds
        else { return nil }
        return ClockStep(from: epoch, to: expected, by: by)
    }

    /// A clock that has not jumped for long is believed.
    fileprivate func trusted(at now: WallTime, since epoch: WallTime) -> ClockKeeper.Record {
        guard now.since(epoch) >= Limits.clockTrustAge else { return self }
        var trusted = self
        trusted.floor = max(floor, now - Limits.clockTrustAge)
        return trusted
    }
}
