import Engine
import FoundationEssentials
import Lifecycle
import Storage
import Testing
import Vault

@testable import Daemon

@Suite("What a completed deletion leaves behind") struct ErasureTests {
    private static let policy = IntakePolicy(
        gracePeriod: .zero,
        deadline: .seconds(30 * 86_400),
        stores: [StoreName("app-db")]
    )

    @Test("nothing in our files opens any more, also with the vault key at hand")
    func nothingOpens() async throws {
        let bench = try Bench()
        let vault = try SealedUsers.vault(1)
        let service = try bench.service(vault)
        for user in ["alice", "bob"] {
            for token in ["a", "b", "c"] {
                _ = try await service.store([bench.offer(user, "\(user) \(token)")])
            }
        }
        let alice = bench.hasher.hash("alice", domain: .user)
        let bob = bench.hasher.hash("bob", domain: .user)
        let wrapped = try #require(try await bench.state.userKey(alice)).bytes
        // The search finds what is there, or it would prove nothing.
        #expect(try keys(of: alice, in: bench, vault) > 0)
        try await complete("alice", bench)
        try await bench.state.scrub()
        #expect(try await bench.state.userKey(alice) == nil)
        #expect(try keys(of: alice, in: bench, vault) == 0)
        #expect(try files(bench).allSatisfy { $0.firstRange(of: wrapped) == nil })
        #expect(try keys(of: bob, in: bench, vault) > 0)
    }

    @Test("after a rotation no wrapping under the old key is left in our files")
    func oldWrappings() async throws {
        let bench = try Bench()
        let old = try SealedUsers.vault(1)
        _ = try await bench.service(old).store([bench.offer("alice", "a")])
        let alice = bench.hasher.hash("alice", domain: .user)
        let stored = try #require(
            try await bench.state.userKeys(wrappedBy: Bench.key(1).id, after: 0, limit: 1).first
        )
        #expect(try keys(of: alice, in: bench, old) > 0)
        let both = try SealedUsers.vault(2, retired: [1])
        let fresh = RewrappedKey(old: stored, key: try both.rewrap(stored.key, userHash: alice))
        _ = try await bench.state.replaceUserKeys([fresh])
        try await bench.state.scrub()
        #expect(try keys(of: alice, in: bench, old) == 0)
        #expect(try keys(of: alice, in: bench, try SealedUsers.vault(2)) > 0)
    }

    /// Ends a deletion of the user as the engine's last commit does.
    private func complete(_ user: String, _ bench: Bench) async throws {
        let generator = IdentifierGenerator(now: { Bench.start })
        let submission = Submission(
            kind: .deleteAccount,
            user: try #require(UserID(user)),
            userHash: bench.hasher.hash(user, domain: .user),
            createdAt: Bench.start,
            origin: .control(uid: 0, role: "submit")
        )
        let outcomes = try await bench.state.accept(
            [submission],
            policy: Self.policy,
            now: Bench.start,
            newID: { generator.requestID() }
        )
        guard case .accepted(let loaded, _) = outcomes.first else {
            Issue.record("not accepted")
            return
        }
        var done = loaded.request
        for index in done.revocations.indices {
            done.revocations[index].verdict = .proven
            done.revocations[index].endedAt = Bench.start
        }
        for index in done.purges.indices { done.purges[index].step = .verified }
        done.phase = .completed
        done.endedAt = Bench.start
        done.dueAt = nil
        _ = try await bench.state.commit([
            .save(now: done, was: loaded.request, at: Bench.start)
        ])
    }

    /// How many byte ranges of our files are a data key of the user that this vault can use.
    private func keys(of userHash: [UInt8], in bench: Bench, _ vault: SealedVault) throws -> Int {
        let byteCount = try vault.makeUserKey(userHash: userHash).bytes.count
        let id = try #require(vault.activeKeyID)
        let context = SealContext(
            field: "t",
            rowNonce: [],
            provider: ProviderName("p"),
            userHash: userHash
        )
        var count = 0
        for bytes in try files(bench) where bytes.count >= byteCount {
            // Everything sealed begins with the version of its format.
            for start in 0...(bytes.count - byteCount) where bytes[start] == 1 {
                let key = WrappedKey(
                    bytes: Array(bytes[start..<(start + byteCount)]),
                    keyID: id
                )
                do throws(VaultError) {
                    _ = try vault.seal(Secret("t"), under: key, context: context)
                    count += 1
                } catch {
                    guard error.kind == .broken else { throw error }
                }
            }
        }
        return count
    }

    /// Closing them drops SQLite's POSIX locks in this process; nobody else has them open here.
    private func files(_ bench: Bench) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: bench.directory).map { name in
            Array(try Data(contentsOf: URL(filePath: bench.directory + "/" + name)))
        }
    }
}
