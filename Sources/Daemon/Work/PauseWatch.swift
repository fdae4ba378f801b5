import Engine
import Lifecycle
import Logging
import Storage
import Stores
import Synchronization

/// Checks again what the service has paused by itself, and resumes it once nothing is wrong.
///
/// A store that was missing or damaged is mended without notice to the service. What an operator
/// has paused stays paused.
final class PauseWatch: Sendable {
    static let operatorReason = StoredPauses.operatorReason
    static let setUpReason = "not_set_up"
    /// Between two checks; the first check of a component comes as soon.
    static let period = RetryPolicy.pausedComponent.delay(failures: 1)
    private static let idlePeriod = Duration.seconds(3600)
    /// Longest pause between two checks of a component that is resumed and paused again.
    static let pauseMax = RetryPolicy.pausedComponent.delay(failures: .max)

    /// How long after a jump of the clock providers that the service paused are resumed.
    ///
    /// They may have refused what the wrong clock signed. Longer than any call that began before.
    static let afterStep = Duration.seconds(120)

    enum Component: Hashable, Sendable {
        case provider(ProviderName)
        case target(TargetName)
    }

    private struct Entry: Sendable {
        var pause: Duration { RetryPolicy.pausedComponent.delay(failures: relapses + 1) }
        /// How often it was paused soon after a resume.
        var relapses = 0
        var dueAt = WallTime.distantPast
        var resumedAt: WallTime?
        var isBusy = false
        /// Reloaded during a check, which may have asked what was replaced.
        var wasReloaded = false
        /// In the last list of pauses; a pause is not committed at once.
        var wasListed = false
        var problems: [String] = []
    }

    private let state: StateDatabase
    private let registry: AdapterRegistry
    private let clock: any EngineClock
    private let steppedAt: @Sendable () -> WallTime?
    private let logger: Logger
    private let post: @Sendable (EngineInput) -> Void
    private let lastStepAt = Mutex<WallTime?>(nil)
    private let entries = Mutex<[Component: Entry]>([:])
    private let waking = Mutex<AsyncStream<Void>.Continuation?>(nil)

    init(
        state: StateDatabase,
        registry: AdapterRegistry,
        clock: any EngineClock,
        steppedAt: @escaping @Sendable () -> WallTime? = { nil },
        logger: Logger,
        post: @escaping @Sendable (EngineInput) -> Void
    ) {
        self.state = state
        self.registry = registry
        self.clock = clock
        self.steppedAt = steppedAt
        self.logger = logger
        self.post = post
    }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                let wakes = listen()
                let (components, isIdle) = try await due()
                for component in components {
                    // A slow one keeps no other waiting.
                    group.addTask { await self.look(at: component) }
                }
                try await wait(isIdle ? Self.idlePeriod : Self.period, or: wakes)
            }
        }
    }

    /// A component was paused.
    func wake() {
        _ = waking.withLock { $0?.yield() }
    }

    /// Checks at once what the service paused: a reload may have mended it.
    ///
    /// Called once the new adapters are in the registry.
    func reloaded(_ unfit: UnfitComponents) {
        note(unfit)
        entries.withLock { entries in
            for component in entries.keys where !unfit.has(component) {
                entries[component]?.relapses = 0
                entries[component]?.dueAt = .distantPast
                entries[component]?.resumedAt = nil
                entries[component]?.wasReloaded = true
            }
        }
        wake()
    }

    /// Begins to listen before the list is read, so that no pause falls in between.
    private func listen() -> AsyncStream<Void> {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        waking.withLock { $0 = continuation }
        return wakes
    }

    private func wait(_ pause: Duration, or wakes: AsyncStream<Void>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.clock.sleep(until: self.clock.now() + pause) }
            group.addTask { for await _ in wakes { return } }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    func lookOnce() async throws {
        for component in try await due().components { await look(at: component) }
    }

    func note(_ unfit: UnfitComponents) {
        for (name, problem) in unfit.providers { note([problem], of: .provider(name)) }
        for (name, problems) in unfit.targets { note(problems, of: .target(name)) }
        for (name, problem) in unfit.subscribers {
            logger.note(.componentUnfit, ["subscriber": "\(name)", "error": "\(problem)"])
        }
    }

    func problems(of component: Component) -> [String] {
        entries.withLock { $0[component]?.problems ?? [] }
    }

    /// Checks one component because an operator resumes it; returns what is wrong.
    ///
    /// Some problems end with the check that finds them, such as a truncated index.
    func examine(_ component: Component) async -> [String] {
        var problems = await problemsNow(of: component)
        note(problems, of: component)
        if !problems.isEmpty {
            problems = await problemsNow(of: component)
            note(problems, of: component)
        }
        return problems
    }

    // MARK: One look

    private func due() async throws -> (components: [Component], isIdle: Bool) {
        let adapters = registry.current
        noteStep()
        let paused = own(try await state.pauses()).filter { adapters.has($0) }
        let now = clock.now()
        return entries.withLock { entries in
            for (component, entry) in entries where entry.wasListed && !paused.contains(component) {
                // Resumed by somebody else; how often it was paused counts for a while.
                entries[component]?.problems = []
                entries[component]?.wasListed = false
            }
            let components = paused.filter { component in
                var entry = entries[component] ?? Entry()
                defer { entries[component] = entry }
                // Its resume may not be committed yet.
                let isFresh =
                    entry.wasListed && entry.resumedAt.map { now < $0 + Self.period } ?? false
                if let resumedAt = entry.resumedAt, !isFresh {
                    // It did not last: what stops a purge does not show in a check.
                    let didLast = now >= resumedAt + entry.pause * 4
                    entry.relapses = didLast ? 0 : entry.relapses + 1
                    entry.dueAt = didLast ? now : resumedAt + entry.pause
                    entry.resumedAt = nil
                }
                entry.wasListed = true
                guard !entry.isBusy, now >= entry.dueAt || entry.dueAt > now + Self.pauseMax
                else { return false }
                entry.isBusy = true
                entry.wasReloaded = false
                return true
            }
            return (components, paused.isEmpty)
        }
    }

    private func look(at component: Component) async {
        let problems = await problemsNow(of: component)
        note(problems, of: component)
        let now = clock.now()
        let isDueAgain = entries.withLock { entries in
            var entry = entries[component] ?? Entry()
            defer { entries[component] = entry }
            let isDueAgain = entry.wasReloaded && !problems.isEmpty
            entry.isBusy = false
            entry.dueAt = isDueAgain ? .distantPast : now + entry.pause
            if problems.isEmpty { entry.resumedAt = now }
            return isDueAgain
        }
        if isDueAgain { wake() }
        guard problems.isEmpty, await isStillPaused(component) else { return }
        switch component {
        case .provider(let name): post(.resume(name, isOwn: true))
        case .target(let name): post(.resumeTarget(name, isOwn: true))
        }
    }

    private func isStillPaused(_ component: Component) async -> Bool {
        do {
            return own(try await state.pauses()).contains(component)
        } catch {
            // The state is in failure and says so itself; the next look comes soon.
            return false
        }
    }

    /// The pauses of the service that a check can end.
    private func own(_ pauses: StoredPauses) -> [Component] {
        let now = clock.now()
        let isAfterStep = lastStepAt.withLock { $0 }.map { now.since($0) < Self.afterStep } ?? false
        let providers = pauses.providers.filter { _, reason in
            reason == Self.setUpReason || isAfterStep && reason != Self.operatorReason
        }
        return pauses.targets.filter { $0.value != Self.operatorReason }.keys.map { .target($0) }
            + providers.keys.map { .provider($0) }
    }

    /// After a jump of the clock what was learned about providers counts no more.
    private func noteStep() {
        let at = steppedAt()
        let isNew = lastStepAt.withLock { last in
            defer { last = at }
            return last != at
        }
        guard isNew else { return }
        entries.withLock { entries in
            for case .provider(let name) in entries.keys {
                entries[.provider(name)]?.relapses = 0
                entries[.provider(name)]?.dueAt = .distantPast
                entries[.provider(name)]?.resumedAt = nil
            }
        }
    }

    /// Repeats the check when a reload replaces the adapters.
    private func problemsNow(of component: Component) async -> [String] {
        while true {
            let count = registry.replacedCount
            let problems = await problems(of: component, among: registry.current)
            if registry.replacedCount == count { return problems }
        }
    }

    private func problems(of component: Component, among adapters: Adapters) async -> [String] {
        switch component {
        case .target(let name):
            return await adapters.targets[name]?.startupProblems() ?? []
        case .provider(let name):
            if let directory = adapters.directory as? PendingDirectory, directory.name == name {
                return [await directory.setUp()].compactMap(\.self)
            }
            let pending = adapters.providers[name] as? PendingProvider
            return [await pending?.setUp()].compactMap { $0 ?? nil }
        }
    }

    private func note(_ problems: [String], of component: Component) {
        let isNew = entries.withLock { entries in
            defer { entries[component, default: Entry()].problems = problems }
            return entries[component]?.problems != problems
        }
        guard isNew, !problems.isEmpty else { return }
        let cause = problems.joined(separator: "; ")
        switch component {
        case .provider(let name):
            logger.note(.componentUnfit, ["provider": "\(name)", "error": "\(cause)"])
        case .target(let name):
            logger.note(.componentUnfit, ["target": "\(name)", "error": "\(cause)"])
        }
    }
}

extension UnfitComponents {
    fileprivate func has(_ component: PauseWatch.Component) -> Bool {
        switch component {
        case .target(let name): targets[name] != nil
        case .provider(let name): providers[name] != nil
        }
    }
}

extension Adapters {
    fileprivate func has(_ component: PauseWatch.Component) -> Bool {
        switch component {
        case .target(let name): targets[name] != nil
        case .provider(let name): providers[name] != nil || directory?.name == name
        }
    }
}
