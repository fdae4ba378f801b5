import Control
import ControlServer
import Engine
import Lifecycle
import Logging
import NIOPosix
import Settings
import Storage
import Systemd
import UnixSignals
import Vault

/// The running service: everything set up, and what runs until it is told to stop.
struct Daemon: Sendable {
    static let version = "0.1.0"

    let state: StateDatabase
    let engine: DeletionEngine
    let registry: AdapterRegistry
    let factory: AdapterFactory
    let spool: SpoolService
    let server: ControlServer
    let hub: EventHub
    let watchdog: Watchdog
    let clock: ClockKeeper
    let deadlines: DeadlineWatch
    let rotation: KeyRotation
    let ledger: LedgerKeeper
    let replay: ReplayService
    let rechecks: RecheckService
    let sampler: TombstoneSampler
    let notifications: NotificationService
    let poller: NotificationPoller
    let notifier: ServiceNotifier
    let reloader: Reloader
    let pauses: PauseWatch
    let logger: Logger

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Throws: What ended it otherwise: above all a store whose truth is unknown.
    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        notifier.ready(status: "running")
        logger.note(.started)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work(signals) }
            // Its own end, or that of the work, ends the server in peace. It is never cancelled:
            // connections that are accepted and not yet served would be dropped, and NIO traps.
            try await server.run()
            try await group.waitForAll()
        }
        await poller.shutdown()
        await registry.current.shutDown()
        await signLedger()
        try await state.close()
    }

    /// Runs everything but the server, then tells the server to stop.
    ///
    /// The first task that ends decides: the signal's ends it in peace, any other by its error.
    private func work(_ signals: UnixSignalsSequence) async throws {
        defer {
            hub.close()
            server.shutDown()
            reloader.stop()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask { try await state.runScrubs() }
            group.addTask { try await spool.run() }
            group.addTask { try await watchdog.run() }
            group.addTask { try await clock.run(engine) }
            group.addTask { try await deadlines.run() }
            group.addTask { try await rotation.run() }
            group.addTask { try await ledger.run() }
            group.addTask { try await replay.run() }
            group.addTask { try await rechecks.run() }
            if sampler.isOn { group.addTask { try await sampler.run() } }
            group.addTask { try await notifications.run() }
            group.addTask { try await poller.run() }
            group.addTask { await reloader.runRetirement() }
            group.addTask { try await pauses.run() }
            group.addTask { await obey(signals) }
            defer { group.cancelAll() }
            try await waitForStop(&group)
            notifier.stopping(status: "stopping")
            logger.note(.stopping)
        }
    }

    private func waitForStop(_ group: inout ThrowingTaskGroup<Void, any Error>) async throws {
        do {
            try await group.next()
        } catch {
            logger.note(.storageFailed, ["error": "\(error)"])
            throw error
        }
    }

    /// Leaves nothing unsigned; a disk that refuses that must not keep the state from closing.
    private func signLedger() async {
        do {
            try await ledger.checkpoint()
        } catch {
            logger.warning("cannot sign the ledger at the stop, ignoring")
        }
    }

    private func obey(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            guard signal == .sighup else { return }
            do throws(ControlProblem) {
                _ = try await reloader.reload()
            } catch {
                logger.debug(
                    "the reload was refused, ignoring",
                    metadata: ["error": "\(error.code)"]
                )
            }
        }
    }
}
