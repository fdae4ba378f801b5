import Engine
import HTTP
import Lifecycle
import Logging
import NIOCore
import Providers
import Settings
import Stores
import Systemd
import Vault

/// The configured adapters, and what each was made from.
struct Adapters: Sendable {
    let configuration: DaemonConfiguration
    /// To be shut down when the adapters are replaced.
    var providers: [ProviderName: any ConnectedProvider]
    var targets: [TargetName: any PurgeTarget]
    /// Those of the targets that keep files open, under whatever wraps them.
    var files: [any FileHolding] = []
    /// What verifies the notifications of the providers that send any.
    var receivers: [ProviderName: any NotificationReceiver] = [:]
    /// Asked for a user's identities first.
    var directory: (any IdentityDirectory)?
    /// What could not be used when it was made.
    var unfit = UnfitComponents()

    /// What the engine calls.
    var forEngine: EngineAdapters {
        EngineAdapters(
            providers: providers.mapValues { $0 },
            targets: targets,
            directory: directory,
            rules: configuration.targets.reduce(into: [:]) { rules, target in
                rules[target.name] = configuration.planRules(of: target.name)
            }
        )
    }

    /// The providers where one revocation ends the whole grant.
    var wholeGrants: Set<ProviderName> {
        Set(providers.filter { $0.value.traits.revokesWholeGrant }.keys)
    }

    /// What the engine decides by.
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
            targets: configuration.targets.map(\.name),
            withoutIdentities: configuration.requests.withoutIdentities,
            purgesPerHourMax: configuration.requests.maxDeletionsPerHour,
            directory: configuration.directory?.name
        )
        engine.approval = configuration.requests.approval
        for target in configuration.targets {
            engine.keySources[target.name] = target.keyedBy?.target
            if target.withoutKeys == .park { engine.keyedTargetsToPark.insert(target.name) }
            if target.traits.goesLast { engine.lastTargets.insert(target.name) }
        }
        return engine
    }

    /// What intake promises to a new request.
    var intakePolicy: IntakePolicy {
        IntakePolicy(
            gracePeriod: configuration.requests.gracePeriod,
            deadline: configuration.requests.deadline,
            targets: configuration.targets.map(\.name),
            directory: configuration.directory?.name,
            signInAgeMax: configuration.requests.signInAgeMax
        )
    }

    /// Closes the files that no call is using.
    ///
    /// SQLite gives back a descriptor only once no other connection of the process holds a lock on
    /// the same file, and the adapters in force hold one soon.
    func closeIdleFiles() async {
        for file in files { await file.closeIdleFiles() }
    }

    /// Closes connections to providers.
    func shutDown() async {
        for provider in providers.values { await provider.shutdown() }
        for receiver in receivers.values { await receiver.shutdown() }
        await directory?.shutdown()
        for target in targets.values { await target.shutdown() }
    }
}

/// Makes adapters out of the configuration and the credentials.
struct AdapterFactory: Sendable {
    let credentials: CredentialDirectory?
    let hasher: any KeyedHasher
    let eventLoopGroup: any EventLoopGroup
    let now: @Sendable () -> WallTime
    let logger: Logger
    /// Keeps the ids that targets find for each other; `nil` where nothing is purged.
    var keys: (any FoundKeyStore)?

    /// What adapters are made with.
    var environment: AdapterEnvironment {
        AdapterEnvironment(
            credential: { [credentials] name, owner in
                guard let credentials else {
                    throw DaemonError(
                        .credential,
                        [
                            "cannot read credential '\(name)' of \(owner.role) '\(owner.name)':"
                                + " no credentials directory ($CREDENTIALS_DIRECTORY,"
                                + " --credentials-directory)"
                        ]
                    )
                }
                return try credentials.read(name)
            },
            signer: { pem, credential, algorithm in
                if algorithm == .hs256 { return try HMACSigner(key: pem) }
                return try SigningKey(pem: pem, credential: credential, algorithm: algorithm)
            },
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }

    /// Makes a target.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    func make(
        _ target: TargetConfiguration,
        in configuration: DaemonConfiguration
    ) async throws -> any PurgeTarget {
        try await target.store.open(storeEnvironment(of: target, in: configuration))
    }

    func storeEnvironment(
        of target: TargetConfiguration,
        in configuration: DaemonConfiguration
    ) -> StoreEnvironment {
        StoreEnvironment(
            target: target,
            adapters: environment,
            hasher: hasher,
            neighbours: neighbours(of: target.name, in: configuration)
        )
    }
}
