import Engine
import Lifecycle
import Logging
import Storage
import Systemd

/// Feeds systemd's watchdog while the work moves: a probe crosses the engine's loop and the writer.
///
/// It is fed only if all answered in time and no due work stands still (``StallWatch``). A
/// provider outage and an idle hour keep it fed; a writer that hangs in fdatasync does not.
struct Watchdog: Sendable {
    private static let patienceMax = Duration.seconds(5)

    let engine: DeletionEngine
    let state: StateDatabase
    let clock: any EngineClock
    let notifier: ServiceNotifier
    /// `nil` without a watchdog.
    let interval: Duration?
    let logger: Logger

    func run() async throws {
        guard let interval else { return try await BootClock.sleepForever() }
        let period = interval / 2
        let begin = SuspendingClock.now
        var stalls = StallWatch()
        var reported: Int?
        while true {
            let start = SuspendingClock.now
            let places = engine.inspect { $0.progress(at: clock.now()) }
            let stalled = stalls.note(places, at: begin.duration(to: start))
            // No timer watches the probe: one without an answer feeds nothing, and systemd acts.
            let changeCount = await probe()
            let isQuick = start.duration(to: .now) <= min(Self.patienceMax, period)
            if let stalled {
                logger.note(.watchdogNotFed, ["detail": "\(stalled)"])
            } else if let changeCount, isQuick {
                notifier.feedWatchdog()
                if changeCount != reported { await reportStatus() }
                reported = changeCount
            } else {
                logger.note(.watchdogNotFed, ["detail": "the writer did not answer in time"])
            }
            try await BootClock.sleep(for: period)
        }
    }

    /// How many rows this process has changed; `nil` when the writer is dead.
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
