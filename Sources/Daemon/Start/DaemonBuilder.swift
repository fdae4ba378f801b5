import CLinux
import Control
import ControlServer
import Engine
import Lifecycle
import Logging
import NIOPosix
import Settings
import Storage
import Systemd
import Vault

/// Sets the service up, step by step, so that every problem has its own clear error before anything
/// runs.
struct DaemonBuilder: Sendable {
    let options: DaemonOptions
    let environment: [String: String]
    let activation: SocketActivation
    let logger: Logger

    /// Opens everything and wires it together.
    ///
    /// - Throws: ``DaemonError``, or the error of the part that cannot be set up.
    func build(_ configuration: DaemonConfiguration) async throws -> Daemon {
        let directories = try ServiceDirectories(environment: environment, overrides: overrides)
        let clock = AnchoredClock()
        let now: @Sendable () -> WallTime = { clock.now() }
        let state = try StateDatabase.open(path: directories.state + "/state.db", now: now)
        do {
            return try await build(configuration, on: state, in: directories, clock)
        } catch let error as DaemonError where error.isForOperator && !state.wasUncleanStop {
            // Nothing was worked on, so the next start has nothing to recover from.
            try await state.close()
            throw error
        }
    }

    private func build(
        _ configuration: DaemonConfiguration,
        on state: StateDatabase,
        in directories: ServiceDirectories,
        _ clock: AnchoredClock
    ) async throws -> Daemon {
        let marker = try CrashMarker(directory: directories.state)
        if state.wasUncleanStop {
            logger.note(.uncleanStop, ["detail": "\(marker.lastEnd.rawValue)"])
        }
        let hasher = try await loadHashKey(directories.state, state)
        let ledger = try await LedgerSetup(
            state: state,
            directories: directories,
            clock: clock,
            logger: logger
        ).open()
        let clockKeeper = ClockKeeper(
            state: state,
            clock: clock,
            ledger: ledger,
            environment: environment,
            logger: logger
        )
        let clockFloor = try await clockKeeper.start()
        let vault = try await VaultSetup(
            settings: configuration.vault,
            credentials: directories.credentials,
            logger: logger
        ).open(for: state)
        var factory = AdapterFactory(
            credentials: directories.credentials,
            hasher: hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { clock.now() },
            logger: logger
        )
        factory.keys = FoundKeyService(state: state, vault: vault, hasher: hasher, logger: logger)
        let adapters = try await factory.make(configuration)
        for caution in configuration.cautions {
            logger.warning("the configuration has a caution", metadata: ["detail": "\(caution)"])
        }
        let registry = AdapterRegistry(adapters)
        let base = Base(
            directories: directories,
            clock: clock,
            clockKeeper: clockKeeper,
            clockFloor: clockFloor,
            state: state,
            hasher: hasher,
            vault: vault,
            rotation: KeyRotation(state: state, vault: vault, clock: clock, logger: logger),
            ledger: ledger,
            factory: factory,
            registry: registry
        )
        do {
            state.noteWholeGrants(adapters.wholeGrants)
            try await state.enforce(adapters.erasureScope)
            return try await wire(base, isOwnCrash: marker.lastEnd == .crash)
        } catch {
            await adapters.shutDown()
            throw error
        }
    }

    /// What the parts are made of.
    struct Base: Sendable {
        let directories: ServiceDirectories
        let clock: AnchoredClock
        let clockKeeper: ClockKeeper
        let clockFloor: WallTime
        let spoolDoor = SpoolDoor()
        let state: StateDatabase
        let hasher: HMACHasher
        let vault: SealedVault
        let rotation: KeyRotation
        let ledger: LedgerKeeper
        let factory: AdapterFactory
        let registry: AdapterRegistry
        let rechecks = RecheckCounter()
        let notifier = ServiceNotifier()
    }

    private var overrides: ServiceDirectories.Overrides {
        ServiceDirectories.Overrides(
            state: options.stateDirectory,
            runtime: options.runtimeDirectory,
            credentials: options.credentialsDirectory,
            logs: options.logsDirectory
        )
    }

    private func wire(_ base: Base, isOwnCrash: Bool) async throws -> Daemon {
        let now: @Sendable () -> WallTime = { base.clock.now() }
        let (hub, mirror) = (EventHub(), Signal())
        let generator = IdentifierGenerator(now: now)
        let reporter = makeReporter(base, hub, mirror)
        let engine = try await makeEngine(base, reporter, generator, isOwnCrash: isOwnCrash)
        let pauses = makePauseWatch(base, engine, reporter)
        let credentials = makeCredentials(base, generator, engine)
        let intake = makeIntake(base, credentials, engine)
        let notifications = makeNotifications(base, intake, engine)
        let poller = makePoller(base, notifications, pauses)
        let spool = openSpool(base, intake, mirror)
        watchClock(base, engine)
        try await connect(intake, spool, notifications)
        let rechecks = makeRecheckParts(base, engine)
        let replay = ReplayService(rechecks)
        let reloader = makeReloader(base, engine, pauses)
        let backend = DaemonBackend(
            BackendParts(
                state: base.state,
                engine: engine,
                vault: base.vault,
                rotation: base.rotation,
                ledger: base.ledger,
                replay: replay,
                hasher: base.hasher,
                registry: base.registry,
                credentials: credentials,
                intake: intake,
                notifications: notifications,
                hub: hub,
                tokens: reporter.tokens,
                rechecks: base.rechecks,
                pauseProblems: { pauses.problems(of: $0) },
                examine: { await pauses.examine($0) },
                pollProblem: { poller.problem(of: $0) },
                generator: generator,
                now: now,
                startedAt: now(),
                version: Daemon.version,
                clock: base.clockKeeper,
                logger: logger,
                spoolHealth: { spool.health },
                reload: { () async throws(ControlProblem) in try await reloader.reload() }
            )
        )
        return Daemon(
            state: base.state,
            engine: engine,
            registry: base.registry,
            factory: base.factory,
            spool: spool,
            server: try await makeServer(base, backend),
            hub: hub,
            watchdog: makeWatchdog(base, engine),
            clock: base.clockKeeper,
            deadlines: makeDeadlineWatch(base),
            rotation: base.rotation,
            ledger: base.ledger,
            replay: replay,
            rechecks: RecheckService(parts: rechecks),
            sampler: makeSampler(base, rechecks),
            notifications: notifications,
            poller: poller,
            notifier: base.notifier,
            reloader: reloader,
            pauses: pauses,
            logger: logger
        )
    }

    private func makeSampler(_ base: Base, _ parts: RecheckParts) -> TombstoneSampler {
        TombstoneSampler(
            parts: parts,
            interval: base.registry.current.configuration.requests.sampleInterval
        )
    }

    /// The engine takes over a jump of the clock before anything reads the new time.
    private func watchClock(_ base: Base, _ engine: DeletionEngine) {
        base.clock.onStep { step in
            engine.post(.clockStepped(step))
            base.clockKeeper.note(step)
        }
        ClockWatch.start(base.clock, logger)
    }

    private func connect(
        _ intake: IntakeService,
        _ spool: SpoolService,
        _ notifications: NotificationService
    ) async throws {
        intake.onPause { isPaused in
            spool.setPaused(isPaused)
            if !isPaused { notifications.signal() }
        }
        try await intake.restorePause()
    }

    /// Makes the spool and tells it what changes.
    private func openSpool(_ base: Base, _ intake: IntakeService, _ mirror: Signal) -> SpoolService
    {
        let spool = makeSpool(base, intake)
        mirror.set { spool.signal() }
        base.spoolDoor.open(spool)
        return spool
    }

    /// Rechecks, samples and replays take their turns at stores with the engine.
    private func makeRecheckParts(_ base: Base, _ engine: DeletionEngine) -> RecheckParts {
        RecheckParts(
            state: base.state,
            ledger: base.ledger,
            vault: base.vault,
            hasher: base.hasher,
            registry: base.registry,
            clock: base.clock,
            counter: base.rechecks,
            logger: logger,
            lanes: engine,
            makeCopy: { name, place in
                await base.factory.makeCopy(
                    of: name,
                    at: place,
                    base.registry.current.configuration
                )
            },
            operate: { await engine.operate($0, $1) }
        )
    }

    private func makeSealer(_ base: Base) -> RecheckSealer {
        RecheckSealer(vault: base.vault, registry: base.registry, logger: logger)
    }

    private func makeCredentials(
        _ base: Base,
        _ generator: IdentifierGenerator,
        _ engine: DeletionEngine
    ) -> CredentialService {
        CredentialService(
            state: base.state,
            vault: base.vault,
            hasher: base.hasher,
            registry: base.registry,
            generator: generator,
            now: { base.clock.now() },
            failures: SealFailures(logger: logger),
            post: { engine.post($0) }
        )
    }

    private func makeReporter(_ base: Base, _ hub: EventHub, _ mirror: Signal) -> Reporter {
        Reporter(
            logger: logger,
            hub: hub,
            now: { base.clock.now() },
            signalMirror: { mirror.fire() }
        )
    }

    private func makeReloader(
        _ base: Base,
        _ engine: DeletionEngine,
        _ pauses: PauseWatch
    ) -> Reloader {
        Reloader(
            path: options.configurationPath,
            factory: base.factory,
            state: base.state,
            registry: base.registry,
            engine: engine,
            notifier: base.notifier,
            pauses: pauses,
            now: { base.clock.now() },
            logger: logger
        )
    }

    private func makePoller(
        _ base: Base,
        _ notifications: NotificationService,
        _ pauses: PauseWatch
    ) -> NotificationPoller {
        let (sources, problems) = base.factory.makePollers(base.registry.current.configuration)
        pauses.note(UnfitComponents(providers: problems))
        return NotificationPoller(
            sources: sources,
            service: notifications,
            clock: base.clock,
            logger: logger,
            report: { pauses.note(UnfitComponents(providers: [$0: $1])) }
        )
    }

    private func makeIntake(
        _ base: Base,
        _ credentials: CredentialService,
        _ engine: DeletionEngine
    ) -> IntakeService {
        IntakeService(
            state: base.state,
            hasher: base.hasher,
            registry: base.registry,
            credentials: credentials,
            clock: IntakeClock(
                clock: base.clock,
                floor: { engine.inspect { $0.clockFloor } },
                settleStore: { await engine.settleClock() },
                beginAdmission: { engine.beginAdmission() }
            ),
            logger: logger
        )
    }

    private func makeNotifications(
        _ base: Base,
        _ intake: IntakeService,
        _ engine: DeletionEngine
    ) -> NotificationService {
        NotificationService(
            state: base.state,
            vault: base.vault,
            hasher: base.hasher,
            registry: base.registry,
            intake: intake,
            clock: base.clock,
            logger: logger,
            post: { engine.post($0) }
        )
    }

    private func makeEngine(
        _ base: Base,
        _ reporter: Reporter,
        _ generator: IdentifierGenerator,
        isOwnCrash: Bool
    ) async throws -> DeletionEngine {
        let now = base.clock.now()
        try await base.ledger.lift(at: now)
        let recovery = try await base.state.recover(isOwnCrash: isOwnCrash, at: now)
        var random = SystemRandomNumberGenerator()
        var core = EngineCore(
            configuration: base.registry.current.engineConfiguration,
            pauses: recovery.pauses,
            isVaultOpen: base.vault.isOpen,
            seed: random.next()
        )
        if await base.ledger.health != .sound { core.restrain() }
        core.awaitSpool()
        core.start(
            suspects: recovery.suspects,
            purgesInLastHour: recovery.purgesInLastHour,
            allowance: recovery.allowance,
            exchanges: recovery.exchanges,
            at: now
        )
        core.releaseUnapproved(at: now)
        core.setClockFloor(base.clockFloor, at: now)
        base.registry.current.pauseUnfit { core.handle($0, at: now) }
        return DeletionEngine(
            core: core,
            ports: EnginePorts(
                store: base.state,
                vault: base.vault,
                hasher: base.hasher,
                observer: reporter,
                clock: base.clock,
                makeRowNonce: { generator.rowNonce() },
                cases: makeSealer(base),
                spool: base.spoolDoor
            ),
            adapters: base.registry.current.forEngine
        )
    }
}
