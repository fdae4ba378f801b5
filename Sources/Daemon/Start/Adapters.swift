import Engine
import HTTP
import Lifecycle
import Logging
import NIOCore
import Providers
import Settings
import Systemd
import Stores

/// The configured adapters, and what each was made from.
struct Adapters: Sendable {
    let configuration: DaemonConfiguration
    /// To be shut down when the adapters are replaced.
    var providers: [ProviderName: any ConnectedProvider]
    var targets: [TargetName: any PurgeTarget]
    /// Those of the targets that keep a SQLite file open, under whatever wraps them.
    var files: [SQLiteTarget] = []
    /// What verifies the notifications of the providers that send any.
    var receivers: [ProviderName: any NotificationReceiver] = [:]
    /// Asked for a user's identities first.
    var directory: (any IdentityDirectory)?
    /// What the directory and the targets call Google with; to be shut down like the providers.
    var clients: [GoogleClient] = []
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
            if target.kind.family.goesLast { engine.lastTargets.insert(target.name) }
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

    /// Closes the SQLite files that no call is using.
    ///
    /// SQLite gives back a descriptor only once no other connection of the process holds a lock on
    /// the same file, and the adapters in force hold one soon.
    func closeIdleFiles() async {
        for file in files { await file.close() }
    }

    /// Closes connections to providers.
    func shutDown() async {
        for provider in providers.values { await provider.shutdown() }
        for receiver in receivers.values { await receiver.shutdown() }
        for client in clients { await client.shutdown() }
        await (directory as? PendingDirectory)?.shutdown()
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

    var providerFactory: ProviderFactory {
        ProviderFactory(
            credentials: credentials,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }

    /// Makes a target, and a client of Google's where it needs one.
    func make(
        _ target: TargetConfiguration,
        in configuration: DaemonConfiguration,
        noting clients: inout [GoogleClient]
    ) async throws -> any PurgeTarget {
        switch target.kind {
        case .firebaseAuth(let firebase):
            let google = try await make(target, firebase)
            clients.append(google.client)
            return google.made
        case .cloudStorage(let storage):
            let google = try await make(storage, named: target.name)
            clients.append(google.client)
            return google.made
        case .realtimeDatabase(let database):
            let google = try await make(database, named: target.name)
            clients.append(google.client)
            return google.made
        case .firestore(let firestore):
            let google = try await make(firestore, named: target.name)
            clients.append(google.client)
            return google.made
        case .files, .sqlite, .postgresql, .redis, .s3, .command, .webhook:
            return try makeLocal(target, in: configuration)
        }
    }

    /// Makes a target that needs no client of Google's.
    private func makeLocal(
        _ target: TargetConfiguration,
        in configuration: DaemonConfiguration
    ) throws -> any PurgeTarget {
        switch target.kind {
        case .cloudStorage, .firestore, .realtimeDatabase, .firebaseAuth:
            preconditionFailure("Google has no local store")
        case .files(let files):
            var paths: [PathPattern] = []
            for path in files.paths { paths.append(try PathPattern(path)) }
            return FilesTarget(
                plan: FilesTargetPlan(name: target.name, root: files.root, paths: paths)
            )
        case .sqlite(let sqlite):
            var plan = SQLiteTargetPlan(
                name: target.name,
                path: sqlite.path,
                rules: sqlite.tables.map(TableRule.init),
                triggers: TriggerPolicy(sqlite.triggers),
                vacuum: sqlite.vacuum == .incremental ? .incremental : .off
            )
            plan.keys = target.keys.map(KeyRule.init)
            plan.residualCopiesKept = target.residualCopiesKept
            plan.neighbours = neighbours(of: target.name, in: configuration)
            return SQLiteTarget(plan: plan, hasher: hasher, clock: .system(wall: now))
        case .postgresql(let postgresql):
            return try make(postgresql, target, neighbours(of: target.name, in: configuration))
        case .redis(let redis): return try makeRedis(redis, of: target)
        case .command(let command): return try makeCommand(command, named: target.name)
        case .webhook(let webhook): return try makeWebhook(webhook, named: target.name)
        case .s3(let s3): return try makeS3(s3, named: target.name)
        }
    }
}

extension AdapterFactory {
    /// Reads the connection string, which holds the password, from its credential.
    private func make(
        _ postgresql: PostgreSQLTargetConfiguration,
        _ target: TargetConfiguration,
        _ neighbours: SchemaClaims
    ) throws -> any PurgeTarget {
        let name = target.name
        guard let credentials else {
            throw DaemonError(
                .target,
                ["cannot use target '\(name)': there is no credentials directory"]
            )
        }
        let tls: PostgreSQLTargetPlan.TLS =
            switch postgresql.tls {
            case .verifyFull: .verifyFull
            case .verifyCA: .verifyCA
            case .off: .off
            }
        var plan = PostgreSQLTargetPlan(
            name: name,
            conninfo: try credentials.read(postgresql.conninfoCredential),
            schemas: postgresql.schemas,
            rules: postgresql.tables.map(TableRule.init),
            tls: tls,
            caFile: postgresql.caFile,
            timeouts: (postgresql.statementTimeout, postgresql.lockTimeout)
        )
        plan.database = postgresql.database
        plan.keys = target.keys.map(KeyRule.init)
        plan.residualCopiesKept = target.residualCopiesKept
        plan.neighbours = neighbours
        return PostgreSQLTarget(plan: plan, hasher: hasher, clock: .system(wall: now))
    }
}

extension TableRule {
    /// The same rule in the words of the target.
    init(_ table: TableConfiguration) {
        let action: Stores.TableAction
        let reason: String?
        switch table.action {
        case .delete: (action, reason) = (.delete, nil)
        case .anonymize(let changes, let keepReason):
            (action, reason) = (.anonymize(changes.map(ColumnMask.init)), keepReason)
        case .keep(let keepReason): (action, reason) = (.keep, keepReason)
        }
        self.init(
            table: table.table,
            column: table.column,
            idType: Stores.IDType(table.idType),
            action: action,
            reason: reason,
            creation: table.createdAt.map(CreationColumn.init)
        )
    }
}

extension ColumnMask {
    init(_ change: ColumnChange) {
        let strategy: MaskStrategy =
            switch change.replacement {
            case .null: .null
            case .text(let text): .text(text)
            case .integer(let integer): .integer(integer)
            case .hash: .hash
            case .random: .random
            case .truncate(let length): .truncate(length: length)
            }
        self.init(column: change.column, strategy: strategy)
    }
}

extension TriggerPolicy {
    init(_ setting: TriggerSetting) {
        switch setting {
        case .off: self = .off
        case .checked: self = .checked
        case .trusted: self = .trusted
        }
    }
}
