import Engine
import Lifecycle
import Testing
import Vault

@testable import Daemon

@Suite("Sealing what applications hand in") struct CredentialDeskTests {
    /// Alice's data key is wrapped by a key that is not loaded any more.
    private func benchWithLostKey() async throws -> (Bench, CredentialDesk) {
        let bench = try Bench()
        let former = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        _ = try await bench.desk(former).store([bench.offer("alice", "token-1")])
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(2)))
        return (bench, try bench.desk(vault))
    }

    @Test("a user whose key is missing waits alone; the others and all requests go on")
    func postponesOne() async throws {
        let (bench, desk) = try await benchWithLostKey()
        let intake = IntakeDesk(
            state: bench.state,
            hasher: bench.hasher,
            shelf: desk.shelf,
            credentials: desk,
            logger: bench.log.logger
        )
        let request = Submission(
            kind: .deleteAccount,
            user: try #require(UserID("carol")),
            userHash: bench.hasher.hash("carol", domain: .user),
            createdAt: Bench.start,
            origin: .control(uid: 0, role: "submit")
        )
        let batch = SpoolBatch(
            credentials: [
                try bench.spooled("alice", "token-2", row: 1),
                try bench.spooled("bob", "token-3", row: 2),
            ],
            requests: [request],
            refused: []
        )
        let receipts = try await intake.take(batch)
        #expect(receipts.credentials == [.postponed, .sealed])
        guard case .accepted = receipts.requests.first else {
            Issue.record("the request was not accepted")
            return
        }
    }

    @Test("the reason is told once in a run and stays an alarm")
    func tellsOnce() async throws {
        let (bench, desk) = try await benchWithLostKey()
        #expect(!desk.troubles.isAny)
        for secret in ["token-2", "token-3"] {
            let outcomes = try await desk.store([bench.offer("alice", secret)])
            #expect(outcomes == [.rejected(.vaultSealed)])
        }
        #expect(desk.troubles.isAny)
        #expect(bench.log.all == ["credentialNotSealed error=unknown_vault_key"])
    }
}
