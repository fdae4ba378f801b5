import Engine
import HTTP
import Lifecycle
import Messages
import Providers
import Settings
import Stores

/// Providers and stores that cannot be used, one sentence per problem.
struct UnfitComponents: Hashable, Sendable {
    /// Also the directory.
    var providers: [ProviderName: String] = [:]
    var stores: [StoreName: [String]] = [:]
    var subscribers: [SubscriberName: String] = [:]

    /// One line per problem, with its name.
    var lines: [String] {
        providers.sorted { $0.key < $1.key }.map(\.value)
            + stores.sorted { $0.key < $1.key }.flatMap { name, problems in
                problems.map { "cannot use store '\(name)': \($0)" }
            }
            + subscribers.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension AdapterFactory {
    /// Makes every adapter and compares each store with its live schema.
    ///
    /// What cannot be set up is pending: a broken store or credential must not stop the rest. The
    /// errors are those that only another configuration mends; nothing is left open then.
    func make(_ configuration: DaemonConfiguration) async throws(DaemonError) -> Adapters {
        var adapters = Adapters(configuration: configuration, providers: [:], stores: [:])
        do {
            for provider in configuration.providers { try add(provider, to: &adapters) }
            try await addDirectory(to: &adapters)
            for store in configuration.stores { try await add(store, to: &adapters) }
        } catch {
            await adapters.shutDown()
            throw error
        }
        addChannels(to: &adapters)
        adapters.files = adapters.stores.values.compactMap { $0 as? any FileHolding }
        adapters.stores = connect(adapters.stores, configuration)
        adapters.unfit.stores = await startupProblems(of: adapters.stores)
        return adapters
    }

    /// A channel that cannot be set up is tried again with each message.
    private func addChannels(to adapters: inout Adapters) {
        for subscriber in adapters.configuration.subscribers {
            let channel = WebhookChannel(subscriber, in: environment)
            adapters.channels[subscriber.name] = channel
            do {
                try channel.setUp()
            } catch {
                adapters.unfit.subscribers[subscriber.name] = "\(error)"
            }
        }
        adapters.mail = adapters.configuration.mail.map { mail in
            MailTransport(mail, on: eventLoopGroup)
        }
    }

    /// Asks all stores at once: a slow one keeps no other waiting, and none the start.
    func startupProblems(
        of stores: [StoreName: any PurgeStore]
    ) async -> [StoreName: [String]] {
        await withTaskGroup(of: (StoreName, [String]).self) { group in
            for (name, store) in stores {
                group.addTask { (name, await startupProblems(of: store)) }
            }
            var found: [StoreName: [String]] = [:]
            for await (name, problems) in group where !problems.isEmpty { found[name] = problems }
            return found
        }
    }

    /// The problems that stop the store, or the one that it did not answer in time.
    ///
    /// What a store waits for ends when its task is cancelled, so that nothing waits for it.
    private func startupProblems(of store: any PurgeStore) async -> [String] {
        let limit = Limits.startCheckMax
        let late =
            "it did not answer the check at the start within \(limit.milliseconds / 1000) s; the"
            + " service checks it again and resumes it"
        return await BootClock.within(limit, late: [late], sleep: sleep) {
            await store.startupProblems()
        }
    }

    private func add(
        _ provider: ProviderConfiguration,
        to adapters: inout Adapters
    ) throws(DaemonError) {
        let setup = ProviderSetup(provider, in: environment)
        let name = provider.name
        do {
            adapters.providers[name] = try provider.kind.make(setup)
        } catch {
            try Self.requireMendable(error, .provider)
            adapters.unfit.providers[name] = "\(error)"
            adapters.providers[name] = PendingProvider(name, traits: provider.kind.traits) {
                try provider.kind.make(setup)
            }
        }
        do {
            adapters.receivers[name] = try provider.notifications.makeReceiver(setup)
        } catch {
            try Self.requireMendable(error, .provider)
            adapters.unfit.providers[name] = adapters.unfit.providers[name] ?? "\(error)"
            adapters.receivers[name] = PendingReceiver(name) {
                try provider.notifications.makeReceiver(setup)
            }
        }
    }

    private func addDirectory(to adapters: inout Adapters) async throws(DaemonError) {
        guard let directory = adapters.configuration.directory else { return }
        do {
            adapters.directory = try await directory.kind.open(directory, in: environment)
        } catch {
            try Self.requireMendable(error, .provider)
            adapters.unfit.providers[directory.name] = "\(error)"
            adapters.directory = PendingDirectory(directory.name) {
                try await directory.kind.open(directory, in: environment)
            }
        }
    }

    private func add(
        _ store: StoreConfiguration,
        to adapters: inout Adapters
    ) async throws(DaemonError) {
        let configuration = adapters.configuration
        do {
            adapters.stores[store.name] = try await make(store, in: configuration)
        } catch {
            try Self.requireMendable(error, .store, "cannot use store '\(store.name)': ")
            adapters.stores[store.name] = PendingStore(store.name) {
                try await make(store, in: configuration)
            }
        }
    }

    /// Throws what only another configuration mends.
    private static func requireMendable(
        _ error: any Error,
        _ kind: DaemonError.Kind,
        _ prefix: String = ""
    ) throws(DaemonError) {
        switch error {
        case let error as SetupError:
            switch error.kind {
            case .malformedBaseURL, .plainHTTP, .malformedClient: break
            case .unreadableCAFile, .wrongKeyAlgorithm, .malformedServiceAccount: return
            }
        default: return
        }
        throw DaemonError(kind, prefix + "\(error)")
    }

    /// Makes what fetches notifications, and reports why some cannot be set up yet.
    func makePollers(
        _ configuration: DaemonConfiguration
    ) async -> (sources: [NotificationPoller.Source], problems: [ProviderName: String]) {
        var sources: [NotificationPoller.Source] = []
        var problems: [ProviderName: String] = [:]
        for provider in configuration.providers {
            guard let poll = provider.notifications.poll else { continue }
            let setup = ProviderSetup(provider, in: environment)
            let poller = PendingPoller(
                discard: { await $0.shutdown() },
                make: { try poll.makePoller(setup) }
            )
            problems[provider.name] = await poller.setUp()
            sources.append(
                NotificationPoller.Source(
                    provider: provider.name,
                    interval: poll.interval,
                    poller: poller
                )
            )
        }
        return (sources, problems)
    }
}

extension Adapters {
    /// Pauses what could not be used; ``PauseWatch`` checks it again.
    ///
    /// A provider whose notifications alone cannot be verified goes on.
    func pauseUnfit(_ pause: (EngineInput) -> Void) {
        for name in unfit.providers.keys.sorted() where isPending(name) {
            pause(.pause(name, reason: PauseReason.notSetUp))
        }
        for name in unfit.stores.keys.sorted() {
            pause(.pauseStore(name, reason: EffectFailure.misconfigured.code))
        }
    }

    fileprivate func isPending(_ name: ProviderName) -> Bool {
        if let provider = providers[name] as? PendingProvider { return !provider.isSetUp }
        return (directory as? PendingDirectory).map { $0.name == name && !$0.isSetUp } ?? false
    }
}

extension AdapterFactory {
    /// A store on a copy of its data, for a drill; to be closed.
    ///
    /// The copy is never the location of a configured store: a drill must not touch live data.
    func makeCopy(
        of name: StoreName,
        at place: String,
        _ configuration: DaemonConfiguration
    ) async -> RecheckCopy {
        guard let store = configuration.stores.first(where: { $0.name == name }) else {
            return Self.refused("no_copies", "the store is not configured any more")
        }
        guard let original = store.settings as? any DrillCopying else {
            return Self.refused("no_copies", "a store of kind \"\(store.kind)\" has no copies")
        }
        let settings: any DrillCopying
        do {
            settings = try original.copy(at: place)
        } catch {
            switch error {
            case .malformed(let requirement):
                return Self.refused("bad_copy", "the copy must be \(requirement)")
            case .impossible(let why): return Self.refused("no_copies", why)
            }
        }
        do {
            let copy = store.with(settings)
            var environment = storeEnvironment(of: copy, in: configuration)
            environment.notes = nil
            for other in configuration.stores
            where try settings.overlaps(other.settings, environment) {
                let cause = "that is store '\(other.name)' itself, and no copy"
                return Self.refused("bad_copy", cause)
            }
            let opened = try await settings.open(environment)
            return RecheckCopy(store: opened, close: { await opened.shutdown() })
        } catch {
            return Self.refused("bad_copy", "\(error)")
        }
    }

    private static func refused(_ code: String, _ detail: String) -> RecheckCopy {
        RecheckCopy(refusal: CopyRefusal(code: code, detail: detail))
    }

    /// Wraps the stores that depend on each other, sources first.
    func connect(
        _ made: [StoreName: any PurgeStore],
        _ configuration: DaemonConfiguration
    ) -> [StoreName: any PurgeStore] {
        guard let keys else { return made }
        var connected = made
        var sources: [StoreName: SourceStore] = [:]
        var keyed: [StoreName: KeyedStore] = [:]
        for store in configuration.stores {
            let used = store.keys.filter { key in
                configuration.stores.contains { store.has(key, for: $0) }
            }
            if !used.isEmpty, let source = made[store.name] as? any KeySource {
                let wrapped = SourceStore(
                    source,
                    keys: used.map(\.name),
                    shared: Set(used.filter(\.isShared).map(\.name)),
                    foundKeys: keys
                )
                sources[store.name] = wrapped
                connected[store.name] = wrapped
            }
            guard let reference = store.keyedBy, let inner = connected[store.name],
                let source = sources[reference.store]
            else { continue }
            let origin = KeyedStore.Origin(
                name: KeyName(store: reference.store, key: reference.key),
                isShared: configuration.isShared(reference),
                source: source,
                upstream: keyed[reference.store],
                withoutKeys: store.withoutKeys
            )
            let wrapped = KeyedStore(inner, origin: origin, foundKeys: keys, hasher: hasher)
            keyed[store.name] = wrapped
            connected[store.name] = wrapped
        }
        return connected
    }

    /// What the other stores of the same database, and so of a copy of it, do in it.
    func neighbours(
        of name: StoreName,
        in configuration: DaemonConfiguration
    ) -> SchemaClaims {
        guard let store = configuration.stores.first(where: { $0.name == name }) else {
            return SchemaClaims()
        }
        // A copy is another place of the same store.
        return configuration.stores.compactMap { other -> SchemaClaims? in
            guard other.name != name, let tables = store.settings as? any TableKind,
                tables.sharesDatabase(with: other.settings)
            else { return nil }
            return (other.settings as? any TableKind)?.claims
        }.reduce(SchemaClaims()) { $0.joined(with: $1) }
    }
}
