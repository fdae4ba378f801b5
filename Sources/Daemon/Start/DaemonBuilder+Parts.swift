import Control
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Stores
import Systemd
import Vault

extension DaemonBuilder.Base {
    func makeEngine() async throws -> DeletionEngine {
        let now = clock.now()
        try await ledger.lift(at: now)
        let adapters = registry.current
        var core = try await makeCore(adapters, at: now)
        core.releaseUnapproved(at: now)
        core.setClockFloor(clockFloor, at: now)
        adapters.pauseUnfit { core.handle($0, at: now) }
        let observer = Reporter(
            logger: logger,
            hub: hub,
            now: self.now,
            signalMirror: { [mirror] in mirror.fire() },
            paused: paused,
            tokens: tokens,
            measurements: measurements
        )
        var ports = EnginePorts(
            state: state,
            vault: vault,
            hasher: hasher,
            observer: observer,
            clock: clock,
            makeRowNonce: { [generator] in generator.rowNonce() },
            rechecks: RecheckSealer(vault: vault, registry: registry, logger: logger),
            spool: spoolDoor
        )
        ports.shared = opened.shared.map { SharedState(store: $0, leases: $0) }
        return DeletionEngine(core: core, ports: ports, adapters: adapters.forEngine)
    }

    /// With the work that the last process left; where hosts share the state, that comes with the
    /// partitions.
    private func makeCore(_ adapters: Adapters, at now: WallTime) async throws -> EngineCore {
        var random = SystemRandomNumberGenerator()
        let (recovery, ownership, version) = try await recover(at: now)
        var core = EngineCore(
            configuration: adapters.engineConfiguration,
            pauses: recovery.pauses,
            isVaultOpen: vault.isOpen,
            seed: random.next(),
            ownership: ownership,
            rulesVersion: version
        )
        if await ledger.health != .sound { core.restrain() }
        core.awaitSpool()
        core.start(
            suspects: recovery.suspects,
            purgesInLastHour: recovery.purgesInLastHour,
            allowance: recovery.allowance,
            exchanges: recovery.exchanges,
            at: now
        )
        return core
    }

    private func recover(
        at now: WallTime
    ) async throws -> (Recovery, Ownership, rulesVersion: Int64) {
        guard let shared = opened.shared else {
            let recovery = try await state.recover(
                isOwnCrash: opened.marker.lastEnd == .crash,
                at: now
            )
            return (recovery, .all, 0)
        }
        let (recovery, version) = try await shared.recover()
        return (recovery, .none, version)
    }

    func makePauseWatch(_ engine: DeletionEngine, _ steward: Steward) -> PauseWatch {
        let watch = PauseWatch(
            state: state,
            registry: registry,
            clock: clock,
            steppedAt: { [clockKeeper] in clockKeeper.steppedAt },
            steward: steward,
            logger: logger,
            post: { engine.post($0) }
        )
        watch.note(registry.current.unfit)
        paused.set { watch.wake() }
        return watch
    }

    func makeCredentials(_ engine: DeletionEngine) -> CredentialService {
        CredentialService(
            state: state,
            vault: vault,
            hasher: hasher,
            registry: registry,
            generator: generator,
            now: now,
            failures: SealFailures(logger: logger),
            post: { engine.post($0) }
        )
    }

    func makeIntake(_ credentials: CredentialService, _ engine: DeletionEngine) -> IntakeService {
        var readSpool: (@Sendable () async -> Void)?
        if opened.shared != nil {
            readSpool = { [spoolDoor] in _ = await spoolDoor.readToEnd() }
        }
        return IntakeService(
            state: state,
            hasher: hasher,
            registry: registry,
            credentials: credentials,
            clock: IntakeClock(
                clock: clock,
                floor: { engine.inspect { $0.clockFloor } },
                settleClock: { await engine.settleClock() },
                beginAdmission: { engine.beginAdmission() }
            ),
            readSpool: readSpool,
            logger: logger
        )
    }

    func makeNotifications(
        _ intake: IntakeService,
        _ engine: DeletionEngine,
        _ steward: Steward
    ) -> NotificationService {
        var service = NotificationService(
            state: state,
            vault: vault,
            hasher: hasher,
            registry: registry,
            intake: intake,
            clock: clock,
            logger: logger,
            post: { engine.post($0) }
        )
        service.steward = steward
        return service
    }

    func makePoller(
        _ notifications: NotificationService,
        _ pauses: PauseWatch,
        _ steward: Steward
    ) async -> NotificationPoller {
        let (sources, problems) = await factory.makePollers(configuration)
        pauses.note(UnfitComponents(providers: problems))
        return NotificationPoller(
            sources: sources,
            service: notifications,
            clock: clock,
            steward: steward,
            logger: logger,
            report: { pauses.note(UnfitComponents(providers: [$0: $1])) },
            isConfigured: { [registry] name in
                registry.current.configuration.providers.contains { $0.name == name }
            }
        )
    }

    /// A queue whose server is away stops nothing else.
    private func makeQueues(_ intake: IntakeService) -> [String: SpoolService] {
        var services: [String: SpoolService] = [:]
        for queue in configuration.queues {
            let reporter = SpoolReporter(queue: queue.name, logger: logger, back: sourceBack)
            services[queue.name] = SpoolService(
                queue: queue.open(factory.environment),
                name: queue.name,
                ports: SpoolService.Ports(
                    intake: QueueIntake(intake: intake, name: queue.name),
                    source: SharedMirrorSource(state, .queue(queue.name)),
                    hasher: hasher,
                    clock: .system(),
                    report: { reporter.report($0) }
                ),
                wakeInterval: queue.kind.pollInterval ?? QueueLimits.wakeInterval
            )
        }
        return services
    }

    /// Whatever is in the spool's place stops nothing else.
    func makeSpool(_ intake: IntakeService) -> SpoolService {
        let place = SpoolPlace(stateDirectory: directories.state)
        let reporter = SpoolReporter(logger: logger, back: sourceBack)
        let queues = configuration.queues.map(\.name)
        let rest: MirrorShare = queues.isEmpty ? .all : .allBut(queues: queues)
        let spool = SpoolService(
            path: place.path,
            host: opened.host,
            ports: SpoolService.Ports(
                intake: intake,
                source: SharedMirrorSource(state, opened.host.map(MirrorShare.host) ?? rest),
                hasher: hasher,
                clock: .system(),
                report: { reporter.report($0) }
            ),
            make: { () throws(StorageError) in try place.makeIfMissing() }
        )
        spool.prepare()
        return spool
    }

    /// Connects what accepts requests: the spool, and the queues that are returned by name.
    func connectQueues(
        _ engine: DeletionEngine,
        _ intake: IntakeService,
        _ spool: SpoolService,
        _ notifications: NotificationService
    ) async throws(StartProblem) -> [String: SpoolService] {
        let queues = makeQueues(intake)
        let spools = [spool] + queues.values
        mirror.set { for spool in spools { spool.signal() } }
        var sources = ["spool" + (opened.host.map { " of \($0)" } ?? ""): spool]
        for (name, queue) in queues { sources["queue \(name)"] = queue }
        spoolDoor.open(sources)
        sourceBack.set { engine.post(.sourceBack) }
        // The engine accepts a jump of the clock before anything reads the new time.
        clock.onStep { [clockKeeper] step in
            engine.post(.clockStepped(step))
            clockKeeper.note(step)
        }
        ClockWatch.start(clock, logger)
        intake.onPause { isPaused in
            for spool in spools { spool.setPaused(isPaused) }
            if !isPaused { notifications.signal() }
        }
        try await StartStep.state.run { try await intake.restorePause() }
        return queues
    }

    /// Rechecks, samples and replays take turns with the engine at the stores.
    func makeRecheckParts(_ engine: DeletionEngine) -> RecheckParts {
        RecheckParts(
            state: state,
            ledger: ledger,
            vault: vault,
            hasher: hasher,
            registry: registry,
            clock: clock,
            counter: rechecks,
            logger: logger,
            lanes: engine,
            makeCopy: { [factory, registry] name, place in
                await factory.makeCopy(of: name, at: place, registry.current.configuration)
            },
            operate: { try await engine.operate($0, $1) }
        )
    }

    func makeReloader(
        _ load: @escaping Reloader.Loader,
        _ engine: DeletionEngine,
        _ pauses: PauseWatch
    ) -> Reloader {
        Reloader(
            load: load,
            factory: factory,
            state: state,
            shared: opened.shared,
            registry: registry,
            engine: engine,
            notifier: notifier,
            pauses: pauses,
            alarms: alarms,
            now: now,
            logger: logger
        )
    }

    func makeRotation(_ steward: Steward) -> KeyRotation {
        KeyRotation(state: state, vault: vault, clock: clock, steward: steward, logger: logger)
    }

    /// What follows the other hosts of a state that is shared.
    func makeHostLoops(
        _ steward: Steward,
        _ intake: IntakeService,
        _ rotation: KeyRotation,
        _ notifications: NotificationService
    ) -> [Daemon.Loop] {
        guard let shared = opened.shared else { return [] }
        let pulse = HostPulse(
            steward: steward,
            state: state,
            intake: intake,
            hub: hub,
            mirror: mirror,
            rotation: rotation,
            notifications: notifications,
            clock: clock
        )
        let watch = HostWatch(shared: shared)
        return [{ try await pulse.run() }, { try await watch.run() }]
    }

    func makeMessages(_ steward: Steward) -> MessageService {
        MessageService(
            state: state,
            registry: registry,
            mail: MailRoom(state: state, vault: vault, generator: generator),
            alarms: alarms,
            clock: clock,
            steward: steward,
            logger: logger
        )
    }

    /// What no other part asks for anything.
    func makeLoops(
        _ engine: DeletionEngine,
        _ parts: RecheckParts,
        _ steward: Steward
    ) -> [Daemon.Loop] {
        let watchdog = Watchdog(
            engine: engine,
            state: state,
            clock: clock,
            notifier: notifier,
            interval: ServiceNotifier.watchdogInterval,
            logger: logger
        )
        let deadlines = makeDeadlineWatch(steward)
        let rechecks = RecheckService(parts: parts, steward: steward)
        let interval = configuration.requests.sampleInterval
        let sampler = TombstoneSampler(parts: parts, interval: interval, steward: steward)
        var loops: [Daemon.Loop] = [
            { try await watchdog.run() },
            { try await deadlines.run() },
            { try await rechecks.run() },
        ]
        if sampler.isOn { loops.append { try await sampler.run() } }
        return loops
    }

    private func makeDeadlineWatch(_ steward: Steward) -> DeadlineWatch {
        DeadlineWatch(
            clock: clock,
            deadlines: { [state, clock] time, limit in
                try await steward.wait()
                return try await clock.persist {
                    try await state.deadlines(before: time, limit: limit)
                }
            },
            report: { [logger] notification, row in
                let event: JournalEvent =
                    switch notification {
                    case .near: .deadlineNear
                    case .passed: .deadlinePassed
                    }
                logger.note(
                    event,
                    ["request.id": "\(row.request)", "detail": "\(row.deadlineAt.rfc3339)"]
                )
            }
        )
    }
}

/// Reports how the spool fares, or the queue that is named.
struct SpoolReporter: Sendable {
    var queue: String?
    let logger: Logger
    /// Fires when it can be read again.
    let back: Signal

    func report(_ change: SpoolHealthChange) {
        if change == .back { back.fire() }
        switch change {
        case .quarantined(let failure):
            note(.spoolQuarantined, .queueQuarantined, ["error": "\(failure.rawValue)"])
        case .unwritable(let failure):
            note(.spoolUnwritable, .queueUnwritable, ["error": "\(failure.rawValue)"])
        case .back, .writable: note(.spoolBack, .queueBack)
        case .leftWAL: note(.spoolBack, .queueBack, ["detail": "left_wal"])
        case .replaced(let isSameSpool):
            let detail = isSameSpool ? "same_spool" : "other_spool"
            note(.spoolReplaced, isSameSpool ? "older_content" : "other_queue", detail: detail)
        case .recreatedRows(let count):
            note(.spoolReplaced, "recreated_rows", count, detail: "recreated_rows")
        case .foreignObjects(let count): note(.spoolForeignObjects, "foreign_objects", count)
        case .unreadableRows(let count): note(.spoolUnreadableRows, "unreadable_rows", count)
        // Only a file has a WAL.
        case .enteredWAL: logger.note(.spoolInWAL)
        }
    }

    /// One event of the spool, and one of queues.
    private func note(_ own: JournalEvent, _ other: JournalEvent, _ facts: Logger.Metadata = [:]) {
        guard let queue else { return logger.note(own, facts) }
        logger.note(other, facts.merging(["detail": "\(queue)"]) { _, name in name })
    }

    /// One event of the spool, and a code of the event that queues have for all such things.
    private func note(
        _ own: JournalEvent,
        _ code: String,
        _ count: Int? = nil,
        detail: String? = nil
    ) {
        var facts: Logger.Metadata = [:]
        if let count { facts["count"] = "\(count)" }
        if queue != nil {
            facts["error"] = "\(code)"
        } else if let detail {
            facts["detail"] = "\(detail)"
        }
        note(own, .queueIrregular, facts)
    }
}

struct QueueIntake: SpoolIntake {
    let intake: IntakeService
    /// As configured.
    let name: String

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts { try await intake.take(batch) }

    func rescanBegan() { intake.unsealed.rescanBegan(.queue(name)) }

    func rescanEnded() { intake.unsealed.rescanEnded(.queue(name)) }
}
