import Control
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Vault

/// What the daemon does for the control API.
///
/// The submit role sees every request: the applications behind that socket are one trust domain.
/// Applications that distrust each other run instances of their own.
struct DaemonBackend: ControlBackend {
    let parts: BackendParts

    init(_ parts: BackendParts) { self.parts = parts }

    /// Turns a failure into what the API answers; nothing was acknowledged then.
    func attempt<Value>(
        _ step: String,
        _ body: () async throws -> Value
    ) async throws(ControlProblem) -> Value {
        do {
            return try await body()
        } catch {
            throw problem(error, during: step)
        }
    }

    private func problem(_ error: any Error, during step: String) -> ControlProblem {
        switch error {
        case let problem as ControlProblem: return problem
        case let failure as StorageError where failure.kind == .diskFull:
            return ControlProblem(
                .unavailable,
                "the disk of the state is full, nothing was taken",
                retryAfter: RetryPolicy.caller.first
            )
        case let failure as any StoreFailure where failure.isRetryable:
            return ControlProblem(.unavailable, retryAfter: RetryPolicy.caller.first)
        case is CancellationError: return ControlProblem(.unavailable, "the daemon is stopping")
        case let error as VaultError where error.kind == .sealed:
            return ControlProblem(.vaultSealed)
        case let error as VaultError: return logged("\(error)", step)
        case let failure as any StoreFailure: return logged("\(failure)", step)
        default:
            // The text of an error that is not ours might quote a value.
            return logged("\(type(of: error))", step)
        }
    }

    private func logged(_ text: String, _ step: String) -> ControlProblem {
        parts.logger.note(.operationFailed, ["error": "\(text)", "step": "\(step)"])
        return ControlProblem(.internal)
    }

    func audit(_ verb: String, _ caller: Caller, _ facts: Logger.Metadata = [:]) {
        var facts = facts
        facts["step"] = "\(verb)"
        facts[caller.role == .operator ? "operator.uid" : "peer.uid"] = "\(caller.actorUID)"
        parts.logger.note(.operatorAction, facts)
    }

    func hash(_ user: UserID) -> [UInt8] { parts.hasher.hash(user.exposeText(), domain: .user) }

    /// The client id that is meant, by the rule of the credentials.
    func clientID(_ named: String?, at name: ProviderName) throws(ControlProblem) -> String {
        switch parts.registry.current.configuration.clientID(named, at: name) {
        case .success(let clientID): return clientID
        case .failure(let refusal): throw ControlProblem(rejection: refusal.reason)
        }
    }

    func hosts(caller: Caller) async throws(ControlProblem) -> WireList<WireHost> {
        guard let shared = parts.shared else { return WireList([]) }
        let found = try await attempt("hosts") { try await shared.hosts() }
        return WireList(
            found.map { status in
                var host = WireHost(
                    name: status.name,
                    partitions: status.partitions.members.count,
                    renewedAt: status.lastRenewal
                )
                host.isSteward = status.partitions.contains(Stewardship.partition)
                host.isThis = status.name == shared.host
                return host
            }
        )
    }

    /// What one host does for all is begun there.
    ///
    /// - Throws: ``Control/ControlProblem`` `wrong_state` with the name of the steward.
    func requireSteward() async throws(ControlProblem) {
        guard !parts.steward.isHere else { return }
        let name = try await hosts(caller: Caller(role: .operator, uid: 0)).items
            .first(where: \.isSteward)?.name
        throw ControlProblem(
            .wrongState,
            name.map { "host '\($0)' does this for all hosts; run it there" }
                ?? "no host does this now; try again in some seconds"
        )
    }
}

struct BackendParts: Sendable {
    let state: StateDatabase
    /// `nil` for a state in a file.
    var shared: SharedDatabase?
    var steward = Steward.single
    let engine: DeletionEngine
    let vault: SealedVault
    let rotation: KeyRotation
    let ledger: LedgerKeeper
    let replay: ReplayService
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    let credentials: CredentialService
    let intake: IntakeService
    var signIns: SignInService { intake.signIns }
    let notifications: NotificationService
    let messages: MessageService
    let hub: EventHub
    var tokens = TokenCounter()
    var measurements = Measurements()
    var rechecks = RecheckCounter()
    /// What is wrong with a component that the service has paused.
    var pauseProblems: @Sendable (PauseWatch.Component) -> [String] = { _ in [] }
    /// Checks a component now, and keeps the result for ``pauseProblems``.
    var examine: @Sendable (PauseWatch.Component) async -> [String] = { _ in [] }
    /// Why no notifications are fetched from a provider.
    var pollProblem: @Sendable (ProviderName) -> String? = { _ in nil }
    /// Holds are placed and lifted one at a time: recorded first, then reported to the engine.
    let holdTurn = AsyncLock()
    let overview = Latest<RequestOverview?>(nil)
    /// Reports are made one at a time, so that they leave the other readers alone.
    let reportTurn = AsyncLock()
    let generator: IdentifierGenerator
    let now: @Sendable () -> WallTime
    let startedAt: WallTime
    var version = Daemon.version
    /// `nil` where no clock is watched.
    var clock: ClockKeeper?
    let logger: Logger
    let spoolHealth: @Sendable () -> SpoolHealth
    /// By the configured names.
    var queueHealth: @Sendable () -> [String: SpoolHealth] = { [:] }
    var refusedReload: @Sendable () -> RefusedReload? = { nil }
    let reload: @Sendable () async throws(ControlProblem) -> ReloadResult
}
