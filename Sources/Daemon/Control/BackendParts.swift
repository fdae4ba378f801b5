import Control
import Engine
import Lifecycle
import Logging
import Storage
import Vault

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
