import CLinux
import Control
import ControlServer
import Engine
import HTTP
import Lifecycle
import Logging
import NIOPosix
import Settings
import Storage
import Synchronization
import Systemd
import Vault

/// Sets the service up step by step, so that every problem has a clear error of its own.
struct DaemonBuilder: Sendable {
    let options: DaemonOptions
    let environment: [String: String]
    let activation: SocketActivation
    let logger: Logger
    var alarms = AlarmQueue()

    func build(_ configuration: DaemonConfiguration) async throws(StartProblem) -> Daemon {
        let directories = try await StartStep.directories.run {
            try options.directories(environment)
        }
        let clock = AnchoredClock()
        let now: @Sendable () -> WallTime = { clock.now() }
        let opened = try await StartStep.state.run {
            try await StateSetup(configuration: configuration, directories: directories)
                .open(now: now)
        }
        do throws(StartProblem) {
            try await StartStep.configuration.run {
                try Self.requireFile(
                    configuration,
                    at: options.configurationPath,
                    scope: try await opened.state.enforcedScope()
                )
            }
            return try await build(configuration, on: opened, in: directories, clock)
        } catch {
            guard let cause = error.error as? DaemonError, cause.isForOperator,
                !opened.state.wasUncleanStop
            else { throw error }
            // Nothing was worked on, so the next start has nothing to recover from.
            try await StartStep.state.run { try await opened.close() }
            throw error
        }
    }

    private func build(
        _ configuration: DaemonConfiguration,
        on opened: OpenState,
        in directories: ServiceDirectories,
        _ clock: AnchoredClock
    ) async throws(StartProblem) -> Daemon {
        let state = opened.state
        if opened.marker.isRestored {
            try await StartStep.state.run { try await state.forgetOrphans() }
        }
        if state.wasUncleanStop, opened.marker.lastEnd != .restored {
            logger.note(.uncleanStop, ["detail": "\(opened.marker.lastEnd.rawValue)"])
        }
        let hasher = try await StartStep.hashKey.run {
            try await loadHashKey(directories.state, state)
        }
        let ledger = try await StartStep.ledger.run {
            try await LedgerSetup(
                state: state,
                directories: directories,
                clock: clock,
                logger: logger
            ).open()
        }
        let clockKeeper = ClockKeeper(
            state: state,
            clock: clock,
            ledger: ledger,
            environment: environment,
            logger: logger
        )
        let clockFloor = try await StartStep.state.run { try await clockKeeper.start() }
        let vault = try await StartStep.vault.run {
            try await VaultSetup(
                settings: configuration.vault,
                credentials: directories.credentials,
                logger: logger
            ).open(for: state)
        }
        let factory = makeFactory(state, vault, hasher, directories, clock)
        let adapters = try await StartStep.adapters.run {
            try await factory.make(configuration)
        }
        for caution in configuration.cautions {
            logger.note(.caution, ["detail": "\(caution)"])
        }
        let registry = AdapterRegistry(adapters)
        let base = Base(
            logger: logger,
            directories: directories,
            clock: clock,
            clockKeeper: clockKeeper,
            clockFloor: clockFloor,
            opened: opened,
            hasher: hasher,
            vault: vault,
            ledger: ledger,
            factory: factory,
            registry: registry,
            hub: EventHub(startedAt: clock.now()),
            alarms: alarms
        )
        do throws(StartProblem) {
            try await StartStep.state.run { try await adapters.record(in: state, alarms) }
            return try await wire(base)
        } catch {
            await adapters.shutDown()
            throw error
        }
    }

    private func makeFactory(
        _ state: StateDatabase,
        _ vault: SealedVault,
        _ hasher: HMACHasher,
        _ directories: ServiceDirectories,
        _ clock: AnchoredClock
    ) -> AdapterFactory {
        var factory = AdapterFactory(
            credentials: directories.credentials,
            hasher: hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            loops: OwnerLoops(),
            now: { clock.now() },
            logger: logger
        )
        factory.notes = state
        factory.keys = FoundKeyService(state: state, vault: vault, hasher: hasher, logger: logger)
        return factory
    }

    /// What the parts are made of.
    struct Base: Sendable {
        let logger: Logger
        let directories: ServiceDirectories
        let clock: AnchoredClock
        let clockKeeper: ClockKeeper
        let clockFloor: WallTime
        let opened: OpenState
        let hasher: HMACHasher
        let vault: SealedVault
        let ledger: LedgerKeeper
        let factory: AdapterFactory
        let registry: AdapterRegistry
        let hub: EventHub
        let alarms: AlarmQueue
        /// Fires when a request changed, so that its spool row is mirrored.
        let mirror = Signal()
        /// Fires when a provider or a store was paused.
        let paused = Signal()
        /// Fires when the spool or a queue can be read again.
        let sourceBack = Signal()
        let tokens = TokenCounter()
        let measurements = Measurements()
        let rechecks = RecheckCounter()
        let notifier = ServiceNotifier()
        let spoolDoor = SpoolDoor()

        var state: StateDatabase { opened.state }
        var now: @Sendable () -> WallTime { { [clock] in clock.now() } }
        var generator: IdentifierGenerator { IdentifierGenerator(now: now) }
        var configuration: DaemonConfiguration { registry.current.configuration }
    }

    private func loader(_ configuration: DaemonConfiguration) -> Reloader.Loader {
        let isFileNeeded = configuration.hasFile
        return { [options, environment] () throws(ConfigurationError) in
            try DaemonConfiguration.load(
                path: options.configurationPath,
                environment: environment,
                isFileNeeded: isFileNeeded
            )
        }
    }

    /// A file that was lost must not let deletions end with nothing erased.
    static func requireFile(
        _ configuration: DaemonConfiguration,
        at path: String,
        scope document: String?
    ) throws {
        guard !configuration.hasFile, let document,
            try !ErasureScope(document: document).stores.isEmpty
        else { return }
        throw DaemonError(
            .configuration,
            "cannot read '\(path)' (unreadable): it is missing, and the service has erased from"
                + " stores that it named; put it back, or an empty one if none is left"
        )
    }

    private func wire(_ base: Base) async throws(StartProblem) -> Daemon {
        let engine = try await StartStep.state.run { try await base.makeEngine() }
        let steward = Steward.of(engine, base.clock)
        let pauses = base.makePauseWatch(engine, steward)
        let credentials = base.makeCredentials(engine)
        let intake = base.makeIntake(credentials, engine)
        let notifications = base.makeNotifications(intake, engine, steward)
        let poller = await base.makePoller(notifications, pauses, steward)
        let rotation = base.makeRotation(steward)
        let spool = base.makeSpool(intake)
        let queues = try await base.connectQueues(engine, intake, spool, notifications)
        let rechecks = base.makeRecheckParts(engine)
        let replay = ReplayService(parts: rechecks, steward: steward)
        let messages = base.makeMessages(steward)
        let reloader = base.makeReloader(loader(base.configuration), engine, pauses)
        let backend = DaemonBackend(
            BackendParts(
                state: base.state,
                shared: base.opened.shared,
                steward: steward,
                engine: engine,
                vault: base.vault,
                rotation: rotation,
                ledger: base.ledger,
                replay: replay,
                hasher: base.hasher,
                registry: base.registry,
                credentials: credentials,
                intake: intake,
                notifications: notifications,
                messages: messages,
                hub: base.hub,
                tokens: base.tokens,
                measurements: base.measurements,
                rechecks: base.rechecks,
                pauseProblems: { pauses.problems(of: $0) },
                examine: { await pauses.examine($0) },
                pollProblem: { poller.problem(of: $0) },
                generator: base.generator,
                now: base.now,
                startedAt: base.clock.now(),
                clock: base.clockKeeper,
                logger: logger,
                spoolHealth: { spool.health },
                queueHealth: { queues.mapValues(\.health) },
                refusedReload: { reloader.refusal },
                reload: { () async throws(ControlProblem) in try await reloader.reload() }
            )
        )
        var loops: [Daemon.Loop] = [
            { try await rotation.run() },
            { try await replay.run() },
            { try await notifications.run() },
            { try await messages.run() },
            { try await poller.run() },
            { try await pauses.run() },
        ]
        for spool in [spool] + queues.values { loops.append { try await spool.run() } }
        loops += base.makeLoops(engine, rechecks, steward)
        loops += base.makeHostLoops(steward, intake, rotation, notifications)
        return Daemon(
            base: base,
            engine: engine,
            server: try await StartStep.sockets.run { try await makeServer(base, backend) },
            loops: loops,
            poller: poller,
            reloader: reloader
        )
    }

    private func makeServer(_ base: Base, _ backend: DaemonBackend) async throws -> ControlServer {
        // Nothing may fail once there is a server: NIO traps if it never runs.
        try base.opened.marker.clear()
        var limits = ServerLimits()
        limits.connectionsMax = base.configuration.server.connectionsMax
        let sockets = try sockets(base.directories, base.configuration.server)
        limits.fit(
            descriptors: clinux_raise_descriptors(ServerLimits.descriptorsMax),
            socketCount: sockets.count
        )
        return try await ControlServer(
            sockets: sockets,
            backend: backend,
            limits: limits,
            logger: logger,
            now: base.now
        )
    }

    /// The keyed hashes of years ago must be found again, so a changed key stops the start.
    private func loadHashKey(_ directory: String, _ state: StateDatabase) async throws -> HMACHasher
    {
        let known = try await state.note("hash_key")
        let hasher = try Self.hashKey(in: directory, known: known)
        if known == nil { try await state.setNote("hash_key", to: hasher.fingerprintText) }
        return hasher
    }

    static func hashKey(
        in directory: String,
        known: String?,
        mayMake: Bool = true
    ) throws -> HMACHasher {
        let key = try FileHashKey(directory: directory, mayCreate: mayMake && known == nil)
        let fingerprint = key.hasher.fingerprintText
        guard known ?? fingerprint == fingerprint else {
            throw DaemonError(
                .state,
                "cannot use '\(directory)/hash.key' (changed): it is not the key that"
                    + " state.db was written with; put the matching hash.key back"
            )
        }
        return key.hasher
    }

    private func sockets(
        _ directories: ServiceDirectories,
        _ server: ServerConfiguration
    ) throws -> [ListeningSocket] {
        if let control = activation.descriptors[.control],
            let submit = activation.descriptors[.submit]
        {
            let viewer = try activation.descriptors[.viewer].map {
                try ListeningSocket(adopting: $0, role: .viewer)
            }
            return [
                try ListeningSocket(adopting: control, role: .operator),
                try ListeningSocket(adopting: submit, role: .submit),
            ] + [viewer].compactMap(\.self)
        }
        let runtime = try directories.requireRuntime()
        return try OwnSockets(runtime: runtime, server: server, logger: logger).make()
    }
}

/// The spool and the queues, for an engine that is made before them.
final class SpoolDoor: SpoolReader {
    private let sources = Mutex<[String: SpoolService]>([:])

    func open(_ services: [String: SpoolService]) { sources.withLock { $0 = services } }

    /// Reads all of them at the same time.
    func readToEnd() async -> [String: SpoolReadOutcome] {
        let services = sources.withLock { $0 }
        return await withTaskGroup(of: (String, SpoolReadOutcome).self) { group in
            for (name, service) in services {
                group.addTask { (name, await service.readToEnd()) }
            }
            var outcomes: [String: SpoolReadOutcome] = [:]
            for await (name, outcome) in group { outcomes[name] = outcome }
            return outcomes
        }
    }
}

/// A call that is wired up after its caller exists.
final class Signal: Sendable {
    /// A closure by itself inside a lock is wrapped again by every read; inside a struct it is not.
    private struct Wire: Sendable {
        var body: (@Sendable () -> Void)?
    }

    private let wire = Mutex(Wire())

    func set(_ body: @escaping @Sendable () -> Void) {
        wire.withLock { $0.body = body }
    }

    func fire() {
        wire.withLock { $0 }.body?()
    }
}
