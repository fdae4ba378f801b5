import CLinux
import Engine
import FoundationEssentials
import Glibc
import Ledger
import Lifecycle
import Logging
import Storage
import Synchronization
import Systemd

/// Keeps what must outlive a restart about the clock, and reports its jumps.
///
/// The state holds a reading of both clocks, so a start in the same boot notices a jump while the
/// service was down.
final class ClockKeeper: Sendable {
    static let alarmLifetime = Duration.seconds(86_400)
    /// Between two readings that are kept: slewing by 500 ppm stays below a step.
    static let period = Duration.seconds(3600)

    private let state: StateDatabase
    private let clock: AnchoredClock
    private let ledger: LedgerKeeper
    private let bootID: String?
    /// A right clock is not behind it.
    private let builtAt: WallTime
    private let logger: Logger
    private let steps: AsyncStream<ClockStep>
    private let step: AsyncStream<ClockStep>.Continuation
    private let lastStepAt = Mutex<WallTime?>(nil)

    /// `EXPUNGED_BOOT_ID` names the boot where `/proc/sys` is hidden; `builtAt` counts without any
    /// checkpoint.
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

    /// When the program's file was last changed, as packages set it.
    static var programTime: WallTime {
        var facts = stat()
        guard unsafe stat("/proc/self/exe", &facts) == 0 else { return .distantPast }
        return WallTime(unixMilliseconds: Int64(facts.st_mtim.tv_sec) * 1000)
    }

    /// Accepts a jump while the service was down, before the engine starts.
    ///
    /// Returns what the clock must not be behind.
    func start() async throws -> WallTime {
        let known = try await state.clockRecord()
        let stamp = clock.takeOver()
        let (current, missed) = await record(after: known, at: stamp)
        for step in current.steps { clock.learn(step) }
        let isGoingOn = missed == nil && known?.bootID == bootID
        clock.begin(
            epoch: current.epoch,
            steadySince: current.steadySince,
            notBefore: isGoingOn ? known?.expected(at: stamp.reading) ?? .distantPast : .distantPast
        )
        try await state.reclock(missed, at: stamp.time, keeping: current)
        if let missed { report(missed) }
        return current.earliest
    }

    /// The record from a start on, and the jump since the one before.
    private func record(
        after known: ClockRecord?,
        at stamp: AnchoredClock.Stamp
    ) async -> (ClockRecord, ClockStep?) {
        var current: ClockRecord
        var missed: ClockStep?
        if let known, bootID == known.bootID {
            current = known
            missed = known.step(to: stamp.reading)
            if let missed { current.take(missed) }
            current.epoch = min(current.epoch, stamp.epoch)
        } else {
            let evidence = max(await ledger.last?.checkpoint.time ?? .distantPast, builtAt)
            let forgiven = known?.forgiven ?? .distantPast
            current = ClockRecord(
                bootID: bootID ?? "",
                epoch: stamp.epoch,
                floor: evidence <= forgiven ? known?.floor ?? evidence : evidence,
                reading: stamp.reading
            )
            current.forgiven = forgiven
            // The boot before may have had a clock that was wrong; its own times say how far.
            let steadySince = max(known?.steadySince ?? .distantPast, current.floor)
            current.steadySince = min(steadySince, stamp.time)
        }
        if stamp.stepCount > 0 { current.steadySince = stamp.time }
        (current.reading, current.stepNumber) = (stamp.reading, stamp.stepCount)
        return (current, missed)
    }

    /// Runs inside the clock's lock.
    func note(_ step: ClockStep) {
        lastStepAt.withLock { $0 = step.to + step.by }
        self.step.yield(step)
    }

    /// Reports jumps, and keeps a reading now and then, until the task is cancelled.
    func run(_ engine: DeletionEngine) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await step in self.steps {
                    // A crash before finds the jump again.
                    await engine.settleClock()
                    self.report(step)
                    guard let record = try await self.state.clockRecord() else { continue }
                    // The jump after it brings its own.
                    if record.stepNumber == self.clock.stepCount {
                        engine.post(.clockFloor(record.earliest))
                    }
                    self.state.wakeRechecks()
                }
            }
            group.addTask {
                while true {
                    try await self.clock.sleep(until: self.clock.now() + Self.period)
                    try await self.renew()
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// When the clock last jumped, by the new time.
    var steppedAt: WallTime? { lastStepAt.withLock { $0 } }

    var hasStepped: Bool {
        steppedAt.map { clock.now().since($0) < Self.alarmLifetime } ?? false
    }

    /// An operator says that the clock is right: work goes on although it is behind.
    func forgive() async throws {
        let newest = max(await ledger.last?.checkpoint.time ?? .distantPast, builtAt)
        try await state.changeClock { record in
            record.forgiven = max(record.forgiven, newest)
            (record.floor, record.awaited) = (.distantPast, .distantPast)
        }
    }

    /// Keeps a new reading, unless it shows a jump that the state has yet to accept.
    func renew() async throws {
        let stamp = clock.stamp()
        _ = try await clock.persist {
            try await state.changeClock { record in
                guard record.stepNumber == stamp.stepCount else { return }
                record.reading = stamp.reading
                record.trust(at: stamp.time)
            }
        }
    }

    func report(_ step: ClockStep) {
        // Read first: the clock may find its next jump here, and calls note(_:) for it.
        let now = clock.now()
        lastStepAt.withLock { $0 = now }
        let sign = step.by < .zero ? "" : "+"
        logger.note(.clockStepped, ["detail": "\(sign)\(step.by.milliseconds / 1000) s"])
    }
}

/// Reads the clock as soon as it is set, so that an idle service notices a step.
///
/// A thread sleeps in read(2). Without it each use of the clock notices the step.
enum ClockWatch {
    static func start(_ clock: AnchoredClock, _ logger: Logger) {
        let descriptor = clinux_clock_watch()
        let isWatching =
            descriptor >= 0
            && SystemThread.start("expunged-clock") {
                while clinux_clock_wait_for_step(descriptor) == 0 { _ = clock.now() }
                close(descriptor)
            } == 0
        guard !isWatching else { return }
        if descriptor >= 0 { close(descriptor) }
        logger.note(.caution, ["detail": "cannot watch the system clock, comparing it at each use"])
    }
}
