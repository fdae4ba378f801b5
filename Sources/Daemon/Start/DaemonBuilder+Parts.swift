import CLinux
import Control
import ControlServer
import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Systemd
import Vault

extension DaemonBuilder {
    func makeServer(_ base: Base, _ backend: DaemonBackend) async throws -> ControlServer {
        var limits = ServerLimits()
        limits.connectionsMax = base.registry.current.configuration.server.connectionsMax
        return try await ControlServer(
            sockets: try sockets(base.directories),
            backend: backend,
            limits: limits,
            logger: logger
        )
    }

    func makeDeadlineWatch(_ base: Base) -> DeadlineWatch {
        DeadlineWatch(
            clock: base.clock,
            deadlines: { try await base.state.deadlines(before: $0, limit: $1) },
            report: { [logger] notification, id in
                let event: JournalEvent =
                    switch notification {
                    case .near: .deadlineNear
                    case .passed: .deadlinePassed
                    }
                logger.note(event, ["request.id": "\(id)"])
            }
        )
    }

    func makeWatchdog(
        _ base: Base,
        _ engine: DeletionEngine
    ) -> Watchdog {
        Watchdog(
            engine: engine,
            state: base.state,
            clock: base.clock,
            notifier: base.notifier,
            interval: ServiceNotifier.watchdogInterval,
            logger: logger
        )
    }

    /// Whatever is in the spool's place keeps nothing else from being served.
    func makeSpool(_ base: Base, _ intake: IntakeService) -> SpoolService {
        let place = SpoolPlace(stateDirectory: base.directories.state)
        let reporter = SpoolReporter(logger: logger)
        let spool = SpoolService(
            path: place.path,
            ports: SpoolService.Ports(
                intake: intake,
                source: base.state,
                hasher: base.hasher,
                clock: .system(),
                report: { reporter.report($0) }
            ),
            make: { () throws(StorageError) in try place.makeIfMissing() }
        )
        spool.prepare()
        return spool
    }

    /// The keyed hashes of years ago must be found again, so a changed key stops the start.
    func loadHashKey(_ directory: String, _ state: StateDatabase) async throws -> HMACHasher {
        let known = try await state.note("hash_key")
        let key = try FileHashKey(directory: directory, mayCreate: known == nil)
        let fingerprint = key.hasher.fingerprint.map { String($0, radix: 16) }.joined(
            separator: "."
        )
        guard let known else {
            try await state.setNote("hash_key", to: fingerprint)
            return key.hasher
        }
        guard known == fingerprint else {
            throw DaemonError(
                .state,
                [
                    "cannot use '\(directory)/hash.key' (changed): it is not the key that"
                        + " state.db was written with; put the matching hash.key back"
                ]
            )
        }
        return key.hasher
    }

    func sockets(_ directories: ServiceDirectories) throws -> [ListeningSocket] {
        if let control = activation.descriptors[.control],
            let submit = activation.descriptors[.submit]
        {
            return [
                try ListeningSocket(adopting: control, role: .operator),
                try ListeningSocket(adopting: submit, role: .submit),
            ]
        }
        let runtime = try directories.requireRuntime()
        return [
            try ListeningSocket(binding: runtime + "/control.sock", mode: 0o600, role: .operator),
            try ListeningSocket(binding: runtime + "/submit.sock", mode: 0o600, role: .submit),
        ]
    }

    func makePauseWatch(
        _ base: Base,
        _ engine: DeletionEngine,
        _ reporter: Reporter
    ) -> PauseWatch {
        let watch = PauseWatch(
            state: base.state,
            registry: base.registry,
            clock: base.clock,
            steppedAt: { base.clockKeeper.steppedAt },
            logger: logger,
            post: { engine.post($0) }
        )
        watch.note(base.registry.current.unfit)
        reporter.paused.set { watch.wake() }
        return watch
    }
}
