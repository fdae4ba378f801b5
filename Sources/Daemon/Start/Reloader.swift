import Control
import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Systemd

/// Reads the configuration again; one that is not valid leaves the running one in force.
///
/// A provider or store that cannot be used is paused, as at the start, and refuses nothing.
struct Reloader: Sendable {
    /// Calls under way end with the adapters that began them; longer than any call lasts.
    private static let retirementDelay = Duration.seconds(60)

    typealias Loader = @Sendable () throws(ConfigurationError) -> DaemonConfiguration

    let load: Loader
    let factory: AdapterFactory
    let state: StateDatabase
    /// Counts purges where hosts share the state.
    var shared: SharedDatabase?
    let registry: AdapterRegistry
    let engine: DeletionEngine
    let notifier: ServiceNotifier
    let pauses: PauseWatch
    var alarms = AlarmQueue()
    let now: @Sendable () -> WallTime
    let logger: Logger
    private let lastRefusal = Latest<RefusedReload?>(nil)
    private let retired = AsyncStream.makeStream(of: Adapters.self)

    var refusal: RefusedReload? { lastRefusal.value }

    func reload() async throws(ControlProblem) -> ReloadResult {
        // In turn, so that the scope recorded last is the one in force.
        await registry.turns.enter()
        defer { registry.turns.leave() }
        notifier.reloading()
        defer { notifier.ready(status: "running") }
        let old = registry.current
        let adapters: Adapters
        do {
            let configuration = try load()
            adapters = try await factory.make(configuration)
        } catch {
            throw refused(error)
        }
        try await record(adapters)
        let blockers = ReloadBlockers.find(from: registry.started, to: adapters.configuration)
        engine.reconfigure(adapters.engineConfiguration, adapters: adapters.forEngine)
        shared?.setPurgesPerHourMax(adapters.configuration.requests.maxDeletionsPerHour)
        adapters.pauseUnfit { engine.post($0) }
        retired.continuation.yield(registry.replace(with: adapters))
        pauses.reloaded(adapters.unfit)
        lastRefusal.value = nil
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
        return ReloadResult(
            reloadedAt: now(),
            changed: changed,
            needRestart: needRestart,
            unusable: adapters.unfit.lines
        )
    }

    /// Records what receipts will say, before any request can end under it.
    private func record(_ adapters: Adapters) async throws(ControlProblem) {
        do {
            try await adapters.record(in: state, alarms)
        } catch {
            await adapters.shutDown()
            note(["\(error)"])
            throw ControlProblem(
                .unavailable,
                "the state cannot be written, the configuration stays as it was",
                retryAfter: RetryPolicy.caller.first
            )
        }
    }

    private func refused(_ error: any Error) -> ControlProblem {
        let lines = "\(error)".split(separator: "\n").map(String.init)
            .prefix(ControlLimits.reloadErrorsMax)
        note(Array(lines))
        return ControlProblem(
            .configurationInvalid,
            nil,
            errors: lines.map { .init(field: nil, message: $0) }
        )
    }

    private func note(_ problems: [String]) {
        for problem in problems { logger.note(.configurationRefused, ["error": "\(problem)"]) }
        lastRefusal.value = RefusedReload(refusedAt: now(), errors: problems)
    }

    /// Closes replaced adapters, each set in its own time.
    func runRetirement() async {
        await withDiscardingTaskGroup { group in
            for await adapters in retired.stream { group.addTask { await close(adapters) } }
        }
    }

    private func close(_ adapters: Adapters) async {
        await adapters.closeIdleFiles()
        do {
            try await BootClock.sleep(for: Self.retirementDelay)
        } catch {
            logger.debug("stopping, closing retired connections now, ignoring the delay")
        }
        await adapters.shutDown()
    }

    func stop() { retired.continuation.finish() }
}
