import Control
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Stores

extension DaemonBackend {
    func providers(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth> {
        let pauses = try await attempt("providers") { try await parts.state.pauses() }
        let configuration = parts.registry.current.configuration
        var found: [WireHealth] = []
        for lane in Self.lanes(of: configuration) {
            found.append(try await health(of: lane, reason: pauses.providers[lane.name]))
        }
        return WireList(found)
    }

    func control(
        _ action: ComponentAction,
        provider name: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth {
        let adapters = parts.registry.current
        let lane = Self.lanes(of: adapters.configuration).first { $0.name == name }
        guard let lane else { throw ControlProblem(.unknownProvider) }
        let uid = caller.actorUID
        var isChecked = action == .check
        switch action {
        case .pause: try await pause(.provider(name), PauseReason.byOperator, by: uid)
        case .resume:
            _ = try await resume(.provider(name), by: uid)
            isChecked = parts.pauseProblems(.provider(name)).isEmpty
        case .check: break
        }
        let problem = isChecked ? await Self.problem(of: name, adapters) : nil
        let isWell = isChecked && problem == nil
        var counts: [String: Int]?
        if isChecked {
            let found = try await waiting(at: name)
            let unserved = Set(unserved(found, at: name).keys)
            parts.engine.post(.checked(name, isWell: isWell, unserved: unserved))
            counts = found
        }
        await parts.engine.probe()
        audit("\(action.rawValue)_provider", caller, ["provider": "\(name)"])
        let pauses = try await attempt("providers") { try await parts.state.pauses() }
        var health = try await health(of: lane, reason: pauses.providers[name], counts)
        if let problem {
            if !health.findings.contains(problem.finding) {
                health.findings.append(problem.finding)
            }
            health.lastError = problem.failure.code
            health.lastFailureAt = parts.now()
        } else if isWell {
            health.lastError = nil
            health.lastSuccessAt = parts.now()
        }
        if isChecked { health.summarize() }
        return health
    }

    func stores(caller: Caller) async throws(ControlProblem) -> WireList<WireHealth> {
        let pauses = try await attempt("stores") { try await parts.state.pauses() }
        let configuration = parts.registry.current.configuration
        return WireList(
            configuration.stores.map { health(of: $0, reason: pauses.stores[$0.name]) }
        )
    }

    func control(
        _ action: ComponentAction,
        store name: StoreName,
        caller: Caller
    ) async throws(ControlProblem) -> WireHealth {
        let adapters = parts.registry.current
        guard let store = adapters.configuration.stores.first(where: { $0.name == name }),
            let adapter = adapters.stores[name]
        else { throw ControlProblem(.unknownStore) }
        let uid = caller.actorUID
        var checked = CheckedStore()
        switch action {
        case .pause: try await pause(.store(name), PauseReason.byOperator, by: uid)
        case .resume: checked.findings = try await resume(.store(name), by: uid)
        case .check:
            checked = await CheckedStore(store, adapter, adapters, at: parts.now())
            if let search = checked.search { try await record(search, of: name, under: adapters) }
            if checked.isSetUp { try await endOwnPause(of: name, by: uid) }
            checked.findings += try await blocked(at: name)
        }
        await parts.engine.probe()
        audit("\(action.rawValue)_store", caller, ["store": "\(name)"])
        let pauses = try await attempt("stores") { try await parts.state.pauses() }
        var health = health(of: store, reason: pauses.stores[name])
        if action != .pause { health.findings = checked.findings + stuckDeletions(at: name) }
        health.uncovered = checked.uncovered
        health.sampled = checked.sampled
        health.unexamined = checked.unexamined
        health.advice = checked.advice
        if action == .check {
            if health.findings.isEmpty { health.lastSuccessAt = parts.now() }
            health.summarize()
        }
        return health
    }

    /// A reload may have come meanwhile: under other rules the search says nothing.
    private func record(
        _ search: ErasureScope.Search,
        of name: StoreName,
        under adapters: Adapters
    ) async throws(ControlProblem) {
        let registry = parts.registry
        await registry.turns.enter()
        defer { registry.turns.leave() }
        let current = registry.current
        guard current.erasureScope.rules == adapters.erasureScope.rules else { return }
        try await attempt("check") {
            try await current.enforceScope(in: parts.state, searches: [name.rawValue: search])
        }
    }

    private static func problem(
        of name: ProviderName,
        _ adapters: Adapters
    ) async -> ProviderProblem? {
        guard let directory = adapters.directory, directory.name == name else {
            return await adapters.providers[name]?.examine()
        }
        return await directory.diagnose().map { ProviderProblem($0, $0.advice(on: name)) }
    }

    /// What the service paused by itself needs no second command once a check finds nothing.
    private func endOwnPause(of name: StoreName, by uid: UInt32) async throws(ControlProblem) {
        let pauses = try await attempt("check") { try await parts.state.pauses() }
        guard let reason = pauses.stores[name], reason != PauseReason.byOperator else { return }
        _ = try await resume(.store(name), by: uid)
    }

    private func pause(
        _ component: PauseWatch.Component,
        _ reason: String,
        by uid: UInt32
    ) async throws(ControlProblem) {
        let now = parts.now()
        // The engine writes the same when it turns; only this commit is waited for.
        switch component {
        case .provider(let name):
            try await commit([.pauseProvider(name, reason: reason, by: uid, at: now)])
            parts.engine.post(.pause(name, reason: reason, by: uid))
        case .store(let name):
            try await commit([.pauseStore(name, reason: reason, by: uid, at: now)])
            parts.engine.post(.pauseStore(name, reason: reason, by: uid))
        }
    }

    /// Lifts a pause, or makes it the service's own until what is wrong is mended.
    ///
    /// The wake of the requests that waited is in the same commit: a stop in between would forget
    /// them. Returns what is wrong.
    private func resume(
        _ component: PauseWatch.Component,
        by uid: UInt32
    ) async throws(ControlProblem) -> [String] {
        let pauses = try await attempt("resume") { try await parts.state.pauses() }
        let problems = await parts.examine(component)
        let now = parts.now()
        switch component {
        case .provider(let name):
            guard problems.isEmpty || pauses.providers[name] == nil else {
                try await pause(component, PauseReason.notSetUp, by: uid)
                break
            }
            let wakes = ParkReason.ofRevocations.map { StateChange.wake(parkedFor: $0, at: now) }
            try await commit([.resumeProvider(name, by: uid, at: now)] + wakes)
            parts.engine.post(.resume(name))
        case .store(let name):
            guard problems.isEmpty || pauses.stores[name] == nil else {
                try await pause(component, EffectFailure.misconfigured.code, by: uid)
                break
            }
            try await commit([
                .resumeStore(name, by: uid, at: now), .wake(parkedFor: .storePaused, at: now),
            ])
            parts.engine.post(.resumeStore(name))
        }
        return problems
    }

    private func commit(_ changes: [StateChange]) async throws(ControlProblem) {
        _ = try await attempt("pause") { try await parts.state.commit(changes) }
    }

    static func lanes(
        of configuration: DaemonConfiguration
    ) -> [(name: ProviderName, kind: String)] {
        configuration.providers.map { (name: $0.name, kind: $0.kindName) }
            + (configuration.directory.map { [(name: $0.name, kind: $0.kindName)] } ?? [])
    }

    /// How many identities wait for each client id; reads all requests that are open.
    private func waiting(at name: ProviderName) async throws(ControlProblem) -> [String: Int] {
        try await attempt("providers") { try await parts.state.waitingCounts(at: name) }
    }

    /// Those of client ids that the provider's section does not list.
    private func unserved(_ counts: [String: Int], at name: ProviderName) -> [String: Int] {
        guard let provider = parts.registry.current.providers[name] else { return [:] }
        return counts.filter { !provider.serves($0.key) }
    }

    private func health(
        of provider: (name: ProviderName, kind: String),
        reason: String?,
        _ waitingCounts: [String: Int]? = nil
    ) async throws(ControlProblem) -> WireHealth {
        var health = WireHealth(name: provider.name.rawValue, kind: provider.kind, state: .ready)
        if let problem = parts.pollProblem(provider.name) {
            health.findings = ["no notifications are fetched (\(problem)); tried again"]
        }
        guard let lane = parts.engine.inspect({ $0.laneHealth(provider.name) }) else {
            return health
        }
        health.inFlight = lane.inFlightCount
        health.concurrency = lane.concurrency
        health.waiting = lane.waitingCount
        health.lastError = lane.lastFailure
        if lane.isPaused {
            health.state = .known(.paused)
            health.detail = reason
            health.findings += parts.pauseProblems(.provider(provider.name))
            return health
        }
        let clients = parts.registry.current.providers[provider.name]?.refusedClients ?? []
        health.findings += clients.map { "since \($0.since.rfc3339) it refuses \($0.answer.text)" }
        var counts = waitingCounts
        if counts == nil, !lane.unconfiguredClients.isEmpty {
            counts = try await waiting(at: provider.name)
        }
        let unserved = unserved(counts ?? [:], at: provider.name)
        health.findings += unserved.sorted { $0.key < $1.key }.map { client, count in
            "client id '\(client)' is not configured, and identities wait for it (\(count)): put it"
                + " back into client_ids and reload, or give their revocations up with expungectl"
                + " abandon"
        }
        if let outage = lane.outage, outage.isKnown(at: parts.now()) {
            health.findings.append(
                "since \(outage.since.rfc3339) it has answered no call as it should"
                    + " (\(outage.reason))"
            )
        }
        if !health.findings.isEmpty {
            if counts == nil { counts = try await waiting(at: provider.name) }
            health.waiting = max(counts?.values.reduce(0, +) ?? 0, lane.waitingCount)
        }
        switch lane.breaker {
        case .closed: break
        case .open(let until, _):
            health.state = .known(.broken)
            health.detail = "breaker_open"
            if until > parts.now() { health.retryAt = until }
        case .probing: health.state = .known(.probing)
        }
        return health
    }

    private func health(of store: StoreConfiguration, reason: String?) -> WireHealth {
        var health = WireHealth(name: store.name.rawValue, kind: store.kind, state: .ready)
        health.concurrency = 1
        guard let queue = parts.engine.inspect({ $0.storeHealth(store.name) }) else {
            return health
        }
        health.inFlight = queue.isBusy ? 1 : 0
        health.waiting = queue.waitingCount
        health.findings = stuckDeletions(at: store.name)
        if parts.engine.inspect({ $0.isHeld(store.name) }) {
            health.state = .known(.held)
            health.detail = ParkReason.onHold.rawValue
        }
        if queue.isPaused {
            health.state = .known(.paused)
            health.detail = reason
            health.findings = parts.pauseProblems(.store(store.name))
        }
        return health
    }

    /// A check does not find what stops the purge of some rows.
    private func stuckDeletions(at name: StoreName) -> [String] {
        guard let queue = parts.engine.inspect({ $0.storeHealth(name) }),
            let since = queue.stuckSince
        else { return [] }
        return ["since \(since.rfc3339) a deletion has made no progress (\(queue.stuckReason))"]
    }

    /// Nor does it find what the store refuses for some users.
    private func blocked(at name: StoreName) async throws(ControlProblem) -> [String] {
        let counts = try await attempt("check") { try await parts.state.requestCounts() }
        guard let blocked = counts.blocked[name] else { return [] }
        let count = blocked.values.reduce(0, +)
        let reasons = blocked.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        return [
            (count == 1 ? "1 request is" : "\(count) requests are") + " blocked: "
                + reasons.prefix(3).joined(separator: "; ")
                + (reasons.count > 3 ? "; and \(reasons.count - 3) more reasons" : "")
        ]
    }

    func suggest(
        _ input: SuggestInput,
        store name: StoreName,
        caller: Caller
    ) async throws(ControlProblem) -> WireSuggestion {
        let adapters = parts.registry.current
        let section = adapters.configuration.sections.first {
            $0.scope == .store && $0.text("name") == name.rawValue
        }
        guard let section, let adapter = adapters.stores[name] else {
            throw ControlProblem(.unknownStore)
        }
        guard let suggesting = adapter.unwrapped as? any RuleSuggesting else {
            throw ControlProblem(
                .suggestionRefused,
                "the store has no tables with foreign keys, so that there is no schema to read"
            )
        }
        audit("suggest_rules", caller, ["store": "\(name)"])
        switch await suggesting.suggestion(userTable: input.userTable) {
        case .rules(let text):
            return WireSuggestion(name: name.rawValue, configuration: section.text(withRules: text))
        case .refused(let reason): throw ControlProblem(.suggestionRefused, reason)
        case .failure(let failure):
            throw ControlProblem(
                .unavailable,
                "the store cannot be read (\(failure.code)); see 'expungectl stores check'"
            )
        }
    }

    func settings(
        _ view: SettingsView,
        caller: Caller
    ) async throws(ControlProblem) -> WireSettings {
        let configuration = parts.registry.current.configuration
        let writer = EffectiveConfiguration(
            isComplete: view != .nonDefault,
            isShareable: view == .shareable
        )
        let waiting = ReloadBlockers.find(from: parts.registry.started, to: configuration)
        return WireSettings(
            configuration: writer.text(of: configuration.sections),
            needRestart: waiting.map(\.key)
        )
    }
}

extension WireHealth {
    fileprivate mutating func summarize() {
        func headline(_ found: [String]?) -> String? {
            guard let found, let first = found.first else { return nil }
            return first + (found.count > 1 ? "; and \(found.count - 1) more" : "")
        }
        summary =
            if let finding = headline(findings) {
                "'\(name)' does not work: \(finding)"
            } else if state == .known(.paused) {
                "'\(name)' answers as its configuration expects, and stays paused"
                    + " (\(detail ?? "no reason known")) until it is resumed"
            } else if let place = headline(uncovered) {
                "'\(name)' works, but has data without a rule: \(place)"
            } else if let place = headline(unexamined) {
                "'\(name)' works, but could not be searched for user data: \(place)"
            } else {
                "'\(name)' works: it answered as its configuration expects"
            }
    }
}

extension SettingsSection {
    /// The section of a store as TOML, with other rules; its keys stay.
    func text(withRules rules: String) -> String {
        let given = EffectiveConfiguration(isComplete: false)
        let lines =
            ["# Suggested by expungectl from the live schema. Nothing of it is in effect yet."]
            + ["[[store]]"] + given.lines(of: self)
        let keys = children.filter { $0.scope == .key }.map { key in
            (["", "[[store.key]]"] + given.lines(of: key)).joined(separator: "\n") + "\n"
        }
        return lines.joined(separator: "\n") + "\n\n" + rules + keys.joined()
    }
}
