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

struct Daemon: Sendable {
    static let version = "0.1.0"

    /// Work that only cancellation or an error ends.
    typealias Loop = @Sendable () async throws -> Void

    let base: DaemonBuilder.Base
    let engine: DeletionEngine
    let server: ControlServer
    let loops: [Loop]
    let poller: NotificationPoller
    let reloader: Reloader
    private var logger: Logger { base.logger }

    /// Runs until SIGTERM or SIGINT, or until the content of the state is unknown.
    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        base.notifier.ready(status: "running")
        logger.note(.started)
        let (beforeStop, stop) = AsyncStream.makeStream(of: Never.self)
        try await TimeoutExtension(notifier: base.notifier).during(after: beforeStop) {
            try await serve(signals, stop)
        }
    }

    private func serve(
        _ signals: UnixSignalsSequence,
        _ stop: AsyncStream<Never>.Continuation
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work(signals, stop) }
            // Its own end, or that of the work, ends the server in peace. It is never cancelled:
            // connections that are accepted and not yet served would be dropped, and NIO traps.
            try await server.run()
            try await group.waitForAll()
        }
        await poller.shutdown()
        await base.registry.current.shutDown()
        await signLedger()
        try await base.opened.close()
    }

    /// Runs everything but the server, then stops the server.
    ///
    /// The first task that ends decides: a signal ends the service in peace, an error does not.
    private func work(
        _ signals: UnixSignalsSequence,
        _ stop: AsyncStream<Never>.Continuation
    ) async throws {
        defer {
            base.hub.close()
            server.shutDown()
            reloader.stop()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask { try await base.state.runScrubs() }
            group.addTask { try await base.clockKeeper.run(engine) }
            group.addTask { try await base.ledger.run() }
            group.addTask { await reloader.runRetirement() }
            group.addTask { await obey(signals) }
            for loop in loops { group.addTask { try await loop() } }
            defer { group.cancelAll() }
            try await waitForStop(&group)
            base.notifier.stopping(status: "stopping")
            stop.finish()
            logger.note(.stopping)
            guard base.opened.shared != nil else { return }
            // The next host need not wait for the end of a lease; the engine ends by itself then.
            engine.leaveAll()
            try await waitForStop(&group)
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

    /// A disk that refuses the signature must not keep the state from closing.
    private func signLedger() async {
        do {
            try await base.ledger.checkpoint()
        } catch {
            logger.note(.checkpointFailed, ["error": "\(error)"])
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

/// Ends the process when another host works on the same state, or has found that commits are lost.
struct HostWatch: Sendable {
    let shared: SharedDatabase

    /// Runs until cancelled.
    func run() async throws {
        for await end in shared.ends {
            switch end {
            case .others(let others): try StateSetup.refuse(others)
            case .lostCommits:
                throw DaemonError(
                    .state,
                    "cannot go on (lost_commits): the database has lost commits that it had"
                        + " acknowledged; nothing is purged after the restart until 'expungectl"
                        + " ledger accept-rollback'"
                )
            }
        }
    }
}
