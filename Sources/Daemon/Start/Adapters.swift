import Engine
import HTTP
import Lifecycle
import Logging
import Messages
import NIOCore
import Providers
import Settings
import Storage
import Stores
import Synchronization
import Systemd
import Vault

struct Adapters: Sendable {
    let configuration: DaemonConfiguration
    var providers: [ProviderName: any ConnectedProvider]
    var stores: [StoreName: any PurgeStore]
    /// Those of the stores that keep files open, without their wrappers.
    var files: [any FileHolding] = []
    var receivers: [ProviderName: any NotificationReceiver] = [:]
    var directory: (any IdentityDirectory)?
    var channels: [SubscriberName: any MessageChannel] = [:]
    var mail: MailTransport?
    var unfit = UnfitComponents()

    var forEngine: EngineAdapters {
        EngineAdapters(
            providers: providers.mapValues { $0 },
            stores: stores,
            directory: directory,
            rules: configuration.stores.reduce(into: [:]) { rules, store in
                rules[store.name] = configuration.planRules(of: store.name)
            }
        )
    }

    var wholeGrants: Set<ProviderName> {
        Set(providers.filter { $0.value.traits.revokesWholeGrant }.keys)
    }

    var engineConfiguration: EngineConfiguration {
        var policies: [ProviderName: ProviderPolicy] = [:]
        var lanes: [ProviderName: LaneLimits] = [:]
        for provider in configuration.providers {
            guard let adapter = providers[provider.name] else { continue }
            policies[provider.name] = ProviderPolicy(
                traits: adapter.traits,
                onUnrevocable: provider.onUnrevocable,
                revocationDeadline: provider.revocationDeadline,
                keepAlive: KeepAlivePolicy(
                    traits: adapter.traits,
                    lifetime: provider.tokenLifetime,
                    isWanted: provider.keepsTokensAlive,
                    warnBefore: provider.expiryWarning
                )
            )
            lanes[provider.name] = LaneLimits(
                concurrency: provider.concurrency,
                ratePerSecond: provider.ratePerSecond.map(Double.init)
            )
        }
        if let directory = configuration.directory {
            lanes[directory.name] = LaneLimits(concurrency: directory.concurrency)
        }
        var engine = EngineConfiguration(
            providers: policies,
            lanes: lanes,
            stores: configuration.stores.map(\.name),
            withoutIdentities: configuration.requests.withoutIdentities,
            purgesPerHourMax: configuration.requests.maxDeletionsPerHour,
            directory: configuration.directory?.name
        )
        engine.approval = configuration.requests.approval
        for store in configuration.stores {
            engine.keySources[store.name] = store.keyedBy?.store
            if store.withoutKeys == .park { engine.keyedStoresToPark.insert(store.name) }
            if store.traits.goesLast { engine.lastStores.insert(store.name) }
        }
        return engine
    }

    var intakePolicy: IntakePolicy {
        IntakePolicy(
            gracePeriod: configuration.requests.gracePeriod,
            deadline: configuration.requests.deadline,
            stores: configuration.stores.map(\.name),
            directory: configuration.directory?.name,
            signInAgeMax: configuration.requests.signInAgeMax
        )
    }

    var hasMessages: Bool { !channels.isEmpty || mail != nil }

    var subscribers: [SubscriberWish] {
        var wishes = configuration.subscribers.map {
            SubscriberWish($0.name, requests: $0.wantsRequests, alarms: $0.wantsAlarms)
        }
        if let mail = configuration.mail {
            wishes.append(
                SubscriberWish(.mail, requests: false, alarms: !mail.recipients.isEmpty)
            )
        }
        return wishes
    }

    /// Records what receipts will say and who gets messages, before any request can end under it.
    func record(in state: StateDatabase, _ alarms: AlarmQueue) async throws {
        state.noteWholeGrants(wholeGrants)
        try await enforceScope(in: state)
        try await state.keepSubscribers(subscribers)
        alarms.setOn(subscribers.contains(where: \.wantsAlarms))
    }

    func retryFor(_ name: SubscriberName) -> Duration {
        configuration.subscribers.first { $0.name == name }?.retryFor
            ?? configuration.mail?.retryFor ?? .zero
    }

    /// Closes the files that no call uses.
    ///
    /// SQLite returns a descriptor only once no connection of the process locks the file.
    func closeIdleFiles() async {
        for file in files { await file.closeIdleFiles() }
    }

    func shutDown() async {
        for provider in providers.values { await provider.shutdown() }
        for receiver in receivers.values { await receiver.shutdown() }
        await directory?.shutdown()
        for channel in channels.values { await channel.shutdown() }
        for store in stores.values { await store.shutdown() }
    }
}

struct AdapterFactory: Sendable {
    let credentials: CredentialDirectory?
    let hasher: any KeyedHasher
    let eventLoopGroup: any EventLoopGroup
    /// `nil` where providers and stores share the group.
    var loops: OwnerLoops?
    let now: @Sendable () -> WallTime
    let logger: Logger
    /// `nil` where nothing is purged.
    var keys: (any FoundKeyStore)?
    var notes: (any NoteStore)?
    /// Until a check at the start is late.
    var sleep: Sleep = BootClock.sleeping

    var environment: AdapterEnvironment {
        AdapterEnvironment(
            credential: { [credentials] name, owner in
                guard let credentials else {
                    throw DaemonError(
                        .credential,
                        "cannot read credential '\(name)' of \(owner.role) '\(owner.name)':"
                            + " no credentials directory ($CREDENTIALS_DIRECTORY,"
                            + " --credentials-directory)"
                    )
                }
                return try credentials.read(name)
            },
            signer: { pem, credential, algorithm in
                if algorithm == .hs256 { return try HMACSigner(key: pem) }
                return try SigningKey(pem: pem, credential: credential, algorithm: algorithm)
            },
            eventLoopGroup: eventLoopGroup,
            loops: loops,
            now: now,
            logger: logger
        )
    }

    func make(
        _ store: StoreConfiguration,
        in configuration: DaemonConfiguration
    ) async throws -> any PurgeStore {
        try await store.settings.open(storeEnvironment(of: store, in: configuration))
    }

    func storeEnvironment(
        of store: StoreConfiguration,
        in configuration: DaemonConfiguration
    ) -> StoreEnvironment {
        var made = StoreEnvironment(
            store: store,
            adapters: environment,
            hasher: hasher,
            neighbours: neighbours(of: store.name, in: configuration)
        )
        made.notes = notes
        return made
    }
}

/// The adapters in force; a reload swaps them as a whole.
final class AdapterRegistry: Sendable {
    private struct State {
        var adapters: Adapters
        var replacedCount = 0
    }

    private let state: Mutex<State>
    /// What is read only at start is from here until a restart.
    let started: DaemonConfiguration
    /// Taken to change what is in force, or what receipts say of it.
    let turns = AsyncLock()

    init(_ adapters: Adapters) {
        state = Mutex(State(adapters: adapters))
        started = adapters.configuration
    }

    var current: Adapters { state.withLock { $0.adapters } }

    /// Findings about adapters count while this is the same.
    var replacedCount: Int { state.withLock { $0.replacedCount } }

    /// Returns the old ones, to be shut down once nothing uses them.
    func replace(with new: Adapters) -> Adapters {
        state.withLock { state in
            defer {
                state.adapters = new
                state.replacedCount += 1
            }
            return state.adapters
        }
    }
}

/// Lets one caller in at a time, in their order.
///
/// Bounded by its callers: the connections of operators, and one signal.
final class AsyncLock: Sendable {
    private struct Line {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let line = Mutex(Line())

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = line.withLock { line in
                guard line.isTaken else {
                    line.isTaken = true
                    return true
                }
                line.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = line.withLock { line -> CheckedContinuation<Void, Never>? in
            guard !line.waiting.isEmpty else {
                line.isTaken = false
                return nil
            }
            return line.waiting.removeFirst()
        }
        next?.resume()
    }
}
