import Engine
import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Providers
import Settings
import Storage
import Systemd
import Testing
import Vault

@testable import Daemon

/// A state directory with a database and keys, and the services that work with them.
final class Bench: Sendable {
    static let start = WallTime(unixMilliseconds: 1_800_000_000_000)
    static let configuration = """
        [[provider]]
        name = "apple"
        kind = "apple"
        team_id = "ABCDE12345"
        key_id = "KEY1234567"
        client_ids = ["com.example.app"]
        private_key_credential = "apple-key.p8"
        """

    let directory: String
    let state: StateDatabase
    let hasher: HMACHasher
    let log = LogBook()

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "expunged-daemon-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        directory = url.path(percentEncoded: false)
        state = try StateDatabase.open(path: directory + "/state.db", now: { Self.start })
        hasher = try FileHashKey(directory: directory).hasher
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Issue.record("cannot remove a test's directory")
        }
    }

    static func configuration(_ more: String = "") throws -> DaemonConfiguration {
        let text = configuration + "\n" + more
        return try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
    }

    /// Records what receipts of requests that end from now on need of a configuration.
    func enforce(_ more: String = "") async throws {
        try await state.enforce(scope: ErasureScope(Self.configuration(more), [:]).document())
    }

    static func request(_ stores: String...) throws -> Request {
        Request(
            id: try #require(RequestID("018cc251-f400-7000-8000-000000000001")),
            kind: .deleteAccount,
            createdAt: start,
            acceptedAt: start,
            notBefore: start,
            deadlineAt: start,
            identities: [],
            stores: stores.map { StoreName($0) }
        )
    }

    /// An application's own connection to its database: it waits for the locks of others.
    static func application(_ path: String) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(120)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Writes a key into the credentials directory, which is the state directory here.
    func writeKey(_ name: String, filler: UInt8) throws {
        let path = directory + "/" + name
        try Data(Self.keyText(filler).utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o600) == 0)
    }

    static func key(_ filler: UInt8) throws -> VaultKey {
        try VaultKey(text: Secret(keyText(filler)), name: "vault-key")
    }

    private static func keyText(_ filler: UInt8) -> String {
        Data(repeating: filler, count: 32).base64EncodedString()
    }

    func service(
        _ vault: SealedVault,
        more: String = "",
        providers: [ProviderName: any ConnectedProvider] = [:],
        stores: [StoreName: any PurgeStore] = [:],
        post: @escaping @Sendable (EngineInput) -> Void = { _ in }
    ) throws -> CredentialService {
        let adapters = Adapters(
            configuration: try Self.configuration(more),
            providers: providers,
            stores: stores
        )
        return CredentialService(
            state: state,
            vault: vault,
            hasher: hasher,
            registry: AdapterRegistry(adapters),
            generator: IdentifierGenerator(now: { Self.start }),
            now: { Self.start },
            failures: SealFailures(logger: log.logger),
            post: post
        )
    }

    /// What looks again at pauses of the backend's components.
    func pauses(
        _ backend: DaemonBackend,
        clock: any EngineClock = StillClock(),
        post: @escaping @Sendable (EngineInput) -> Void = { _ in }
    ) -> PauseWatch {
        PauseWatch(
            state: state,
            registry: backend.parts.registry,
            clock: clock,
            logger: log.logger,
            post: post
        )
    }

    /// A keeper of the ledger that signs beside the state.
    func keeper(_ clock: any EngineClock) throws -> LedgerKeeper {
        try LedgerKeeper(
            state: state,
            directory: directory,
            signer: try LedgerKey(directory: directory, mayCreate: true),
            clock: clock,
            logger: log.logger
        )
    }

    /// A service that erases again, in the copy where one is asked for.
    func replay(
        _ registry: AdapterRegistry,
        _ clock: any EngineClock,
        copy: (any PurgeStore)? = nil
    ) throws -> ReplayService {
        ReplayService(parts: try recheckParts(registry, clock, copy: copy))
    }

    /// What rechecks, samples and replays share, without an engine.
    func recheckParts(
        _ registry: AdapterRegistry,
        _ clock: any EngineClock,
        vault: SealedVault? = nil,
        counter: RecheckCounter = RecheckCounter(),
        copy: (any PurgeStore)? = nil,
        operate: @escaping @Sendable (RequestID, RequestEvent) async throws -> OperationOutcome = {
            _,
            _ in .notOpen
        }
    ) throws -> RecheckParts {
        RecheckParts(
            state: state,
            ledger: try keeper(clock),
            vault: try vault ?? SealedUsers.vault(1),
            hasher: hasher,
            registry: registry,
            clock: clock,
            counter: counter,
            logger: log.logger,
            lanes: FreeLanes(state: state),
            makeCopy: { _, _ in
                copy.map { store in RecheckCopy(store: store, close: { await store.shutdown() }) }
                    ?? RecheckCopy(refusal: CopyRefusal(code: "no_copies", detail: ""))
            },
            operate: operate
        )
    }

    /// Stores that no engine uses meanwhile; holds are as the state has them.
    private struct FreeLanes: StoreLanes {
        let state: StateDatabase
        var stewardship: Stewardship? { Stewardship(claims: []) }
        var userHoldsVersion: Int { 0 }

        func turn<Answer: Sendable>(
            at store: StoreName,
            for requests: [RequestID],
            knowing holds: KnownHolds,
            _ body: @Sendable (PurgeGate) async -> Answer
        ) async throws -> Answer { await body(PurgeGate()) }

        func holds() async throws -> [StoreHold] { try await state.pauses().holds }
    }

    func setup(_ vault: String = "") throws -> VaultSetup {
        VaultSetup(
            settings: try Self.configuration("[vault]\n" + vault).vault,
            credentials: CredentialDirectory(path: directory),
            logger: log.logger
        )
    }

    func offer(_ user: String, _ secret: String) throws -> CredentialOffer {
        CredentialOffer(
            user: try #require(UserID(user)),
            userHash: hasher.hash(user, domain: .user),
            provider: ProviderName("apple"),
            credential: SubmittedCredential(kind: .refreshToken, secret: Secret(secret)),
            createdAt: Self.start
        )
    }

    /// A credential as it comes from the spool.
    func spooled(_ user: String, _ secret: String, row: Int64) throws -> CredentialOffer {
        var spooled = try offer(user, secret)
        spooled.spoolRow = SpoolRow(
            spoolID: "s",
            rowID: row,
            fingerprint: hasher.hash(secret, domain: .spoolRow)
        )
        return spooled
    }

    /// Hands in a deletion as an application does.
    func submit(
        _ user: String,
        stores: [StoreName],
        at now: WallTime
    ) async throws -> LoadedRequest {
        let generator = IdentifierGenerator(now: { now })
        let submission = Submission(
            kind: .deleteAccount,
            user: try #require(UserID(user)),
            userHash: hasher.hash(user, domain: .user),
            createdAt: now,
            origin: .control(uid: 1, role: "submit")
        )
        let policy = IntakePolicy(
            gracePeriod: .zero,
            deadline: .seconds(30 * 86_400),
            stores: stores
        )
        let outcomes = try await state.accept(
            [submission],
            policy: policy,
            now: now,
            newID: { generator.requestID() }
        )
        guard case .accepted(let loaded, _) = try #require(outcomes.first) else {
            throw CancellationError()
        }
        return loaded
    }
}
