import Control
import Engine
import Lifecycle
import Providers
import Storage
import Synchronization
import Vault

@testable import Daemon

/// An engine that is made after those who tell it something.
private final class LateEngine: Sendable {
    let engine = Mutex<DeletionEngine?>(nil)

    func post(_ input: EngineInput) { engine.withLock { $0 }?.post(input) }
}

extension Bench {
    private func engine(
        _ service: CredentialService,
        _ vault: SealedVault,
        _ clock: any EngineClock,
        _ hub: EventHub
    ) -> DeletionEngine {
        DeletionEngine(
            core: EngineCore(
                configuration: service.registry.current.engineConfiguration,
                pauses: StoredPauses(),
                isVaultOpen: true,
                seed: 1
            ),
            ports: EnginePorts(
                state: state,
                vault: vault,
                hasher: hasher,
                observer: Reporter(
                    logger: log.logger,
                    hub: hub,
                    now: { Bench.start },
                    signalMirror: {}
                ),
                clock: clock,
                makeRowNonce: { [] }
            ),
            adapters: service.registry.current.forEngine
        )
    }

    /// The control API over this bench, with an engine that does not run.
    func backend(
        spool: SpoolHealth = SpoolHealth(),
        more: String = "",
        providers: [ProviderName: any ConnectedProvider] = [:],
        stores: [StoreName: any PurgeStore] = [:],
        clock: any EngineClock = AnchoredClock(),
        problems: [PauseWatch.Component: [String]] = [:]
    ) throws -> DaemonBackend {
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let late = LateEngine()
        let service = try service(
            vault,
            more: more,
            providers: providers,
            stores: stores,
            post: { late.post($0) }
        )
        let hub = EventHub()
        let engine = self.engine(service, vault, clock, hub)
        late.engine.withLock { $0 = engine }
        let intake = IntakeService(
            state: state,
            hasher: hasher,
            registry: service.registry,
            credentials: service,
            logger: log.logger
        )
        return DaemonBackend(
            BackendParts(
                state: state,
                engine: engine,
                vault: vault,
                rotation: KeyRotation(
                    state: state,
                    vault: vault,
                    clock: clock,
                    logger: log.logger
                ),
                ledger: try keeper(clock),
                replay: try replay(service.registry, clock),
                hasher: hasher,
                registry: service.registry,
                credentials: service,
                intake: intake,
                notifications: NotificationService(
                    state: state,
                    vault: vault,
                    hasher: hasher,
                    registry: service.registry,
                    intake: intake,
                    clock: clock,
                    logger: log.logger,
                    post: { _ in }
                ),
                messages: messages(service, vault, clock),
                hub: hub,
                examine: { problems[$0] ?? [] },
                generator: service.generator,
                now: { Bench.start },
                startedAt: Bench.start,
                version: "test",
                logger: log.logger,
                spoolHealth: { spool },
                reload: { () throws(ControlProblem) in throw ControlProblem(.internal) }
            )
        )
    }

    private func messages(
        _ service: CredentialService,
        _ vault: SealedVault,
        _ clock: any EngineClock
    ) -> MessageService {
        MessageService(
            state: state,
            registry: service.registry,
            mail: MailRoom(state: state, vault: vault, generator: service.generator),
            alarms: AlarmQueue { Bench.start },
            clock: clock,
            logger: log.logger
        )
    }
}
