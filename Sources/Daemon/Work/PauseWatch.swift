import Engine
import Lifecycle
import Logging
import Storage
import Stores

/// Checks again what the service has paused by itself, and resumes it once nothing is wrong.
///
/// A store that was missing or damaged is mended without notice to the service. What an operator
/// has paused stays paused.
struct PauseWatch: Sendable {
    private static let idlePeriod = Duration.seconds(3600)

    enum Component: Hashable, Sendable {
        case provider(ProviderName)
        case store(StoreName)
    }

    let state: StateDatabase
    let registry: AdapterRegistry
    let clock: any EngineClock
    var steppedAt: @Sendable () -> WallTime? = { nil }
    var steward = Steward.single
    let logger: Logger
    let post: @Sendable (EngineInput) -> Void
    private let lastStepAt = Latest<WallTime?>(nil)
    private let checks = Latest<[Component: ComponentCheck]>([:])
    private let waking = Latest<WakeSignal?>(nil)

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                // Before the list is read, so that no pause falls in between.
                let signal = WakeSignal()
                waking.value = signal
                let (components, isIdle) = try await due()
                for component in components {
                    // A slow one keeps no other waiting.
                    group.addTask { await self.look(at: component) }
                }
                let pause = isIdle ? Self.idlePeriod : ComponentCheck.period
                try await signal.wait { [clock] in
                    try await clock.sleep(until: clock.now() + pause)
                }
            }
        }
    }

    /// A component was paused.
    func wake() {
        waking.value?.send()
    }

    /// Checks at once what the service paused: a reload may have mended it.
    ///
    /// Called once the new adapters are in the registry.
    func reloaded(_ unfit: UnfitComponents) {
        note(unfit)
        checks.withLock { checks in
            for component in checks.keys where !unfit.has(component) {
                checks[component]?.reload()
            }
        }
        wake()
    }

    func lookOnce() async throws {
        for component in try await due().components { await look(at: component) }
    }

    func note(_ unfit: UnfitComponents) {
        for (name, problem) in unfit.providers { note([problem], of: .provider(name)) }
        for (name, problems) in unfit.stores { note(problems, of: .store(name)) }
        for (name, problem) in unfit.subscribers {
            logger.note(.componentUnfit, ["subscriber": "\(name)", "error": "\(problem)"])
        }
    }

    func problems(of component: Component) -> [String] {
        checks.value[component]?.problems ?? []
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
        let known = try await clock.persist { [state] in try await state.pauses() }
        let paused = own(known).filter { adapters.has($0) }
        let now = clock.now()
        return checks.withLock { checks in
            for component in checks.keys where !paused.contains(component) {
                checks[component]?.unlist()
            }
            let due = paused.filter { checks[$0, default: ComponentCheck()].begin(at: now) }
            return (due, paused.isEmpty)
        }
    }

    private func look(at component: Component) async {
        let problems = await problemsNow(of: component)
        note(problems, of: component)
        let now = clock.now()
        let isDueAgain = checks.withLock { checks in
            checks[component, default: ComponentCheck()]
                .end(problems, mayResume: steward.isHere, at: now)
        }
        if isDueAgain { wake() }
        guard problems.isEmpty, steward.isHere, await isStillPaused(component) else { return }
        switch component {
        case .provider(let name): post(.resume(name, isOwn: true))
        case .store(let name): post(.resumeStore(name, isOwn: true))
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
        let steppedAt = lastStepAt.value
        let providers = pauses.providers.filter { _, reason in
            ComponentCheck.endsPauseOfProvider(reason, steppedAt: steppedAt, now: now)
        }
        let stores = pauses.stores.filter { ComponentCheck.endsPauseOfStore($0.value) }
        return stores.keys.map { .store($0) } + providers.keys.map { .provider($0) }
    }

    /// After a jump of the clock what was learned about providers counts no more.
    private func noteStep() {
        let at = steppedAt()
        let isNew = lastStepAt.withLock { last in
            defer { last = at }
            return last != at
        }
        guard isNew else { return }
        checks.withLock { checks in
            for case .provider(let name) in checks.keys { checks[.provider(name)]?.restart() }
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
        case .store(let name):
            return await adapters.stores[name]?.startupProblems() ?? []
        case .provider(let name):
            if let directory = adapters.directory as? PendingDirectory, directory.name == name {
                return [await directory.setUp()].compactMap(\.self)
            }
            let pending = adapters.providers[name] as? PendingProvider
            return [await pending?.setUp()].compactMap { $0 ?? nil }
        }
    }

    private func note(_ problems: [String], of component: Component) {
        let isNew = checks.withLock { $0[component, default: ComponentCheck()].note(problems) }
        guard isNew else { return }
        var facts: Logger.Metadata = ["error": "\(problems.joined(separator: "; "))"]
        switch component {
        case .provider(let name): facts["provider"] = "\(name)"
        case .store(let name): facts["store"] = "\(name)"
        }
        logger.note(.componentUnfit, facts)
    }
}

extension UnfitComponents {
    fileprivate func has(_ component: PauseWatch.Component) -> Bool {
        switch component {
        case .store(let name): stores[name] != nil
        case .provider(let name): providers[name] != nil
        }
    }
}

extension Adapters {
    fileprivate func has(_ component: PauseWatch.Component) -> Bool {
        switch component {
        case .store(let name): stores[name] != nil
        case .provider(let name): providers[name] != nil || directory?.name == name
        }
    }
}
