import Control
import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Systemd

/// Reads the configuration again; a bad one leaves the running one in place.
struct Reloader: Sendable {
    /// Calls under way end with the adapters that began them; longer than any call lasts.
    private static let retirementDelay = Duration.seconds(60)

    let path: String
    let factory: AdapterFactory
    let state: StateDatabase
    let registry: AdapterRegistry
    let engine: DeletionEngine
    let notifier: ServiceNotifier
    let pauses: PauseWatch
    let now: @Sendable () -> WallTime
    let logger: Logger
    private let turns = AsyncLock()
    private let retired: AsyncStream<Adapters>
    private let retire: AsyncStream<Adapters>.Continuation

    init(
        path: String,
        factory: AdapterFactory,
        state: StateDatabase,
        registry: AdapterRegistry,
        engine: DeletionEngine,
        notifier: ServiceNotifier,
        pauses: PauseWatch,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) {
        self.path = path
        self.factory = factory
        self.state = state
        self.registry = registry
        self.engine = engine
        self.notifier = notifier
        self.pauses = pauses
        self.now = now
        self.logger = logger
        (retired, retire) = AsyncStream.makeStream(of: Adapters.self)
    }

    /// Loads, checks and puts into force.
    ///
    /// - Returns: What changed and what needs a restart.
    /// - Throws: ``Control/ControlProblem`` `configuration_invalid` with one error per problem, or
    ///   `unavailable`.
    func reload() async throws(ControlProblem) -> WireReload {
        // One after the other, so that the scope that was written last is the one in force.
        await turns.enter()
        defer { turns.leave() }
        notifier.reloading()
        defer { notifier.ready(status: "running") }
        let old = registry.current
        let adapters: Adapters
        do {
            let configuration = try DaemonConfiguration.load(path: path)
            adapters = try await factory.makeChecked(configuration, replacing: old)
        } catch {
            throw refused(error)
        }
        try await record(adapters)
        let blockers = ReloadBlockers.find(from: old.configuration, to: adapters.configuration)
        engine.reconfigure(adapters.engineConfiguration, adapters: adapters.forEngine)
        // Broken before, and no reason to refuse what is put right elsewhere.
        adapters.pauseUnfit { engine.post($0) }
        pauses.note(adapters.unfit)
        retire.yield(registry.replace(with: adapters))
        let needRestart = blockers.map(\.key)
        let changed = ConfigurationChanges.find(
            from: old.configuration,
            to: adapters.configuration
        ).filter { !needRestart.contains($0) }
        logger.note(
            .configurationReloaded,
            [
                "count": "\(changed.count)",
                "detail": "\(needRestart.isEmpty ? "in_force" : "restart_needed")",
            ]
        )
        return WireReload(reloadedAt: now(), changed: changed, needRestart: needRestart)
    }

    /// Writes down what receipts will say, before any request can end under it.
    private func record(_ adapters: Adapters) async throws(ControlProblem) {
        do {
            state.noteWholeGrants(adapters.wholeGrants)
            try await state.enforce(adapters.erasureScope)
        } catch {
            await adapters.shutDown()
            logger.note(.configurationRefused, ["error": "\(error)"])
            throw ControlProblem(
                .unavailable,
                "the state cannot be written, the configuration stays as it was",
                retryAfter: DaemonBackend.retryDelay
            )
        }
    }

    private func refused(_ error: any Error) -> ControlProblem {
        let lines = "\(error)".split(separator: "\n").map(String.init)
        for line in lines { logger.note(.configurationRefused, ["error": "\(line)"]) }
        return ControlProblem(
            .configurationInvalid,
            nil,
            errors: lines.map { .init(field: nil, message: $0) }
        )
    }

    /// Closes the connections of adapters that are not in force any more, each set in its own time.
    func runRetirement() async {
        await withDiscardingTaskGroup { group in
            for await adapters in retired { group.addTask { await close(adapters) } }
        }
    }

    private func close(_ adapters: Adapters) async {
        await adapters.closeIdleFiles()
        do {
            try await Task.sleep(for: Self.retirementDelay)
        } catch {
            logger.debug("stopping, closing retired connections now, ignoring the delay")
        }
        await adapters.shutDown()
    }

    /// Ends ``runRetirement()`` after what waits there.
    func stop() { retire.finish() }
}
