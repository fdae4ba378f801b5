import Engine
import Lifecycle
import Logging
import Storage
import Systemd

/// Feeds systemd's watchdog while the work moves: a probe crosses the engine's loop and the writer.
///
/// It is fed when the probe is answered, and if a commit ended since the last time, while no due
/// work stands still (``StallWatch``). A provider outage, an idle hour and a slow disk keep it fed;
/// a writer that hangs in fdatasync does not.
struct Watchdog: Sendable {
    private enum Event: Sendable {
        case beat
        /// How many rows this process has changed; `nil` when the writer is dead.
        case answer(Int?)
    }

    let engine: DeletionEngine
    let state: StateDatabase
    let clock: any EngineClock
    let notifier: ServiceNotifier
    /// `nil` without a watchdog.
    let interval: Duration?
    let logger: Logger

    func run() async throws {
        guard let interval else { return try await BootClock.sleepForever() }
        try await withThrowingTaskGroup(of: Event.self) { group in
            let begin = SuspendingClock.now
            var stalls = StallWatch()
            var progress = WriterProgress()
            var reported: Int?
            group.addTask { .beat }
            while let event = try await group.next() {
                if case .answer(let changeCount) = event {
                    progress.answered(isAlive: changeCount != nil)
                    reported = changeCount ?? reported
                }
                let uptime = begin.duration(to: .now)
                let places = engine.inspect { $0.progress(at: clock.now()) }
                let hasMoved = progress.hasMoved(state.writer.commitCount, at: uptime)
                feed(stalled: stalls.note(places, at: uptime), hasMoved: hasMoved)
                guard case .beat = event else { continue }
                if progress.begin(at: uptime) {
                    group.addTask { [reported] in .answer(await ask(reported)) }
                }
                group.addTask {
                    try await BootClock.sleep(for: interval / 2)
                    return .beat
                }
            }
        }
    }

    private func feed(stalled: QueueProgress.Place?, hasMoved: Bool) {
        if let stalled {
            logger.note(.watchdogNotFed, ["detail": "\(stalled)"])
        } else if hasMoved {
            notifier.feedWatchdog()
        } else {
            logger.note(.watchdogNotFed, ["detail": "the writer did not answer in time"])
        }
    }

    private func ask(_ reported: Int?) async -> Int? {
        let changeCount = await probe()
        if let changeCount, changeCount != reported { await reportStatus() }
        return changeCount
    }

    private func probe() async -> Int? {
        await engine.probe()
        do {
            return try await state.changeCount()
        } catch let failure as any StoreFailure where failure.isRetryable {
            // A full disk is waited out, not restarted away.
            return 0
        } catch {
            return nil
        }
    }

    private func reportStatus() async {
        do {
            let counts = try await state.requestCounts()
            let parked = counts.byState[.parked] ?? 0
            let active = counts.byState.values.reduce(0, +) - parked
            notifier.status("\(active) active, \(parked) parked")
        } catch {
            logger.debug(
                "cannot count requests for the status, ignoring",
                metadata: ["error": "\(error)"]
            )
        }
    }
}

/// Whether the writer has moved since the last time, by its answers and commits.
struct WriterProgress {
    /// Of the probe that has no answer yet.
    private var begunAt: Duration?
    /// The last answer; the start counts as one.
    private var isAlive = true
    private var commitCount = 0

    mutating func answered(isAlive: Bool) { (begunAt, self.isAlive) = (nil, isAlive) }

    /// Commits alone count for ``StallWatch/bound``: the engine must answer, too.
    mutating func hasMoved(_ commitCount: Int, at uptime: Duration) -> Bool {
        defer { self.commitCount = commitCount }
        guard let begunAt else { return isAlive }
        return commitCount != self.commitCount && uptime - begunAt <= StallWatch.bound
    }

    /// Whether a probe is to begin now: none waits for its answer.
    mutating func begin(at uptime: Duration) -> Bool {
        guard begunAt == nil else { return false }
        begunAt = uptime
        return true
    }
}
