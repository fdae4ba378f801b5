import Engine
import Lifecycle
import Testing
import Vault

@testable import Daemon

@Suite("Sealing what applications hand in") struct CredentialServiceTests {
    /// Alice's data key is wrapped by a key that is not loaded any more.
    private func benchWithLostKey() async throws -> (Bench, CredentialService) {
        let bench = try Bench()
        let former = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        _ = try await bench.service(former).store([bench.offer("alice", "token-1")])
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(2)))
        return (bench, try bench.service(vault))
    }

    @Test("a user whose key is missing waits alone; the others and all requests go on")
    func postponesOne() async throws {
        let (bench, service) = try await benchWithLostKey()
        let intake = IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: service.registry,
            credentials: service,
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

    @Test("a row for an unknown provider or client leaves a trace on the user's deletion")
    func unknownNames() async throws {
        let bench = try Bench()
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let service = try bench.service(vault)
        let row = { SpoolRow(spoolID: "s", rowID: $0, fingerprint: [UInt8($0)]) }
        var lost = try bench.offer("alice", "token-1")
        lost.credential.clientID = "com.example.typo"
        lost.spoolRow = row(1)
        var nowhere = CredentialOffer(
            user: lost.user,
            userHash: lost.userHash,
            provider: ProviderName("aple"),
            credential: SubmittedCredential(kind: .refreshToken, secret: Secret("token-2")),
            createdAt: Bench.start
        )
        nowhere.spoolRow = row(2)
        // Read twice, as after a crash before the row was answered.
        for _ in 0..<2 {
            for (offer, reason) in [
                (lost, CredentialRejectReason.unknownClientID), (nowhere, .unknownProvider),
            ] {
                switch try await service.store([offer]).first {
                case .refused(reason, _)?, .rejected(reason)?: break
                case let other: Issue.record("\(String(describing: other))")
                }
            }
        }
        let loaded = try await bench.submit("alice", stores: [], at: Bench.start)
        let revocations = loaded.request.revocations.sorted { $0.clientID < $1.clientID }
        #expect(revocations.map(\.provider.rawValue) == ["aple", "apple"])
        #expect(revocations.map(\.clientID) == ["", "com.example.typo"])
        #expect(revocations.map(\.refusedCount) == [1, 1])
        #expect(revocations.allSatisfy { $0.credentials.isEmpty && $0.hasUnheldTokens })
    }

    @Test("a user's id at the provider is stored alone, and names the account")
    func subjectAlone() async throws {
        let bench = try Bench()
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        var offer = try bench.offer("alice", "unused")
        offer.credential = SubmittedCredential(kind: .subject, secret: Secret("u-17"))
        guard case .stored = try await bench.service(vault).store([offer]).first else {
            Issue.record("the user's id was not stored")
            return
        }
        let revocation = try #require(
            try await bench.submit("alice", stores: [], at: Bench.start).request.revocations.first
        )
        let subject = SubjectHash.make(Secret("u-17"), at: offer.provider, bench.hasher)
        #expect(revocation.subjectHash == subject)
        #expect(revocation.credentials.map(\.kind) == [.subject])
        #expect(revocation.credentials.map(\.isUnnamed) == [false])
    }

    @Test("a user's id under a client that is not configured names no account")
    func subjectRefused() async throws {
        let bench = try Bench()
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        var offer = try bench.offer("alice", "unused")
        offer.credential = SubmittedCredential(kind: .subject, secret: Secret("u-17"))
        offer.credential.clientID = "com.example.typo"
        offer.spoolRow = SpoolRow(spoolID: "s", rowID: 1, fingerprint: [1])
        _ = try await bench.service(vault).store([offer])
        let revocation = try #require(
            try await bench.submit("alice", stores: [], at: Bench.start).request.revocations.first
        )
        #expect(revocation.subjectHash == nil)
        #expect(revocation.refusedCount == 1)
    }

    @Test("the reason is told once in a run and stays an alarm")
    func tellsOnce() async throws {
        let (bench, service) = try await benchWithLostKey()
        #expect(!service.failures.isAny)
        for secret in ["token-2", "token-3"] {
            let outcomes = try await service.store([bench.offer("alice", secret)])
            #expect(outcomes == [.rejected(.vaultSealed)])
        }
        #expect(service.failures.isAny)
        #expect(bench.log.all == ["credentialNotSealed error=unknown_vault_key"])
    }
}
