import Engine
import Lifecycle
import Synchronization
import Testing
import Vault

@testable import Daemon

@Suite("Stopping the intake") struct IntakeServiceTests {
    /// What the parts of a daemon heard about pauses.
    private final class Listener: Sendable {
        private let pauses = Mutex<[Bool]>([])

        var all: [Bool] { pauses.withLock { $0 } }

        func hear(_ isPaused: Bool) { pauses.withLock { $0.append(isPaused) } }
    }

    /// A service as a start makes it, over the same state each time.
    private func start(_ bench: Bench) async throws -> (IntakeService, Listener) {
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let service = try bench.service(vault)
        let intake = IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: service.registry,
            credentials: service,
            logger: bench.log.logger
        )
        let listener = Listener()
        intake.onPause { listener.hear($0) }
        try await intake.restorePause()
        return (intake, listener)
    }

    @Test("a pause outlives a restart, with an entry, until it is lifted")
    func outlivesRestart() async throws {
        let bench = try Bench()
        let (first, heard) = try await start(bench)
        #expect(!first.isPaused)
        #expect(heard.all.isEmpty)
        try await first.setPaused(true)
        #expect(first.isPaused)
        #expect(heard.all == [true])

        let (second, again) = try await start(bench)
        #expect(second.isPaused)
        #expect(again.all == [true])
        #expect(bench.log.all == ["intakePaused"])
        try await second.setPaused(false)

        let (third, _) = try await start(bench)
        #expect(!third.isPaused)
    }
}
