import Engine
import Lifecycle
import Logging
import Storage
import Systemd

/// Feeds systemd's watchdog while the work really moves: a probe crosses the engine's loop and the
/// writer.
///
/// Fed only when all answered in time. A provider outage and an idle hour keep it fed; a writer
/// that hangs in fdatasync does not.
struct Watchdog: Sendable {
    /// The longest a probe may take.
    private static let patienceMax = Duration.seconds(5)

    let engine: DeletionEngine
    let state: StateDatabase
    let notifier: ServiceNotifier
    /// `nil` when nobody watches; then this costs nothing.
    let interval: Duration?
    let logger: Logger

    /// Runs until cancelled.
    ///
    /// - Throws: `CancellationError`.
    func run() async throws {
        guard let interval else {
            try await waitForCancellation()
            return
        }
        let period = interval / 2
        while true {
            if await isAlive(within: min(Self.patienceMax, period)) {
                notifier.feedWatchdog()
                await reportStatus()
            } else {
                logger.warning("the probe was not answered in time, not feeding the watchdog")
            }
            try await Task.sleep(for: period)
        }
    }

    private func waitForCancellation() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        defer { continuation.finish() }
        for await _ in stream {}
        try Task.checkCancellation()
    }

    private func isAlive(within patience: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await probe() }
            group.addTask {
                do { try await Task.sleep(for: patience) } catch { return false }
                return false
            }
            let isAlive = await group.next() ?? false
            group.cancelAll()
            return isAlive
        }
    }

    private func probe() async -> Bool {
        await engine.probe()
        do {
            try await state.writer.perform { _ in }
            return true
        } catch let failure as any StoreFailure where failure.isRetryable {
            // A full disk is waited out, not restarted away.
            return true
        } catch {
            return false
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
