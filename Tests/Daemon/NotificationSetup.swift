import Engine
import Lifecycle
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Providers

/// A service with alice, whose subject at Apple is known.
struct NotificationSetup {
    let bench: Bench
    let intake: IntakeService
    let service: NotificationService

    init(more: String = "", storesSubject: Bool = true) async throws {
        bench = try Bench()
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let credentials = try bench.service(vault, more: more)
        var offer = try bench.offer("alice", "token-1")
        if storesSubject { offer.credential.subject = Secret("sub-1") }
        _ = try await credentials.store([offer])
        intake = IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: credentials.registry,
            credentials: credentials,
            logger: bench.log.logger
        )
        service = NotificationService(
            state: bench.state,
            vault: vault,
            hasher: bench.hasher,
            registry: credentials.registry,
            intake: intake,
            clock: StoppedClock(),
            logger: bench.log.logger,
            post: { _ in }
        )
    }

    func take(
        _ meaning: NotificationMeaning,
        subject: String = "sub-1",
        key: String = "j1",
        at time: WallTime = Bench.start + .seconds(5),
        acknowledgement: NotificationAcknowledgement = .status(200)
    ) async throws -> NotificationResult {
        let notification = ProviderNotification(
            meaning: meaning,
            event: "e",
            subject: Secret(subject),
            clientIDs: ["com.example.app"],
            occurredAt: time,
            dedupeKey: Secret(key)
        )
        return try await service.take(
            VerifiedNotification(notifications: [notification], acknowledgement: acknowledgement),
            of: ProviderName("apple"),
            at: Bench.start + .seconds(10),
            from: NotificationSource(uid: 7, role: "submit")
        )
    }

    func openDeletions() async throws -> [RequestID] {
        let hash = bench.hasher.hash("alice", domain: .user)
        return try await bench.state.userHold(hash).openRequests
    }
}

/// A clock that only says one time; whoever sleeps ends.
final class StoppedClock: EngineClock {
    private let left: Mutex<Int>

    /// - Parameter sleeps: Sleeps that end at once before the first that is cancelled.
    init(after sleeps: Int = 0) { left = Mutex(sleeps) }

    func now() -> WallTime { Bench.start + .seconds(10) }

    func sleep(until time: WallTime) async throws {
        let isOver = left.withLock { left in
            left -= 1
            return left < 0
        }
        if isOver { throw CancellationError() }
    }
}
