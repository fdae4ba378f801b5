import Engine
import Lifecycle
import Synchronization
import Testing
import Vault

@testable import Daemon

@Suite("Credentials of the spool that cannot be sealed") struct UnsealedRowsTests {
    /// What the engine was told, in order.
    private final class Ear: Sendable {
        private let heard = Mutex<[EngineInput]>([])

        func hear(_ input: EngineInput) { heard.withLock { $0.append(input) } }

        /// The users of whom something waits, as they were when each request was admitted.
        var usersAtAdmission: [(users: UnsealedUsers, loaded: LoadedRequest)] {
            var users = UnsealedUsers()
            var found: [(UnsealedUsers, LoadedRequest)] = []
            for input in heard.withLock({ $0 }) {
                switch input {
                case .unsealed(let now): users = now
                case .admitted(let requests, _): found += requests.map { (users, $0) }
                default: break
                }
            }
            return found
        }

        var users: UnsealedUsers? {
            heard.withLock { $0 }.compactMap {
                if case .unsealed(let users) = $0 { users } else { nil }
            }
            .last
        }
    }

    private func intake(_ bench: Bench, _ key: UInt8, _ ear: Ear) throws -> IntakeService {
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(key)))
        let service = try bench.service(vault, post: { ear.hear($0) })
        return IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: service.registry,
            credentials: service,
            logger: bench.log.logger
        )
    }

    private func request(_ bench: Bench, _ user: String, row: Int64) throws -> Submission {
        Submission(
            kind: .deleteAccount,
            user: try #require(UserID(user)),
            userHash: bench.hasher.hash(user, domain: .user),
            createdAt: Bench.start,
            origin: .spool(SpoolRow(spoolID: "s", rowID: row, fingerprint: [UInt8(row)]))
        )
    }

    /// A state in which alice's data key is wrapped by a key that the next start does not have.
    private func benchWithLostKey() async throws -> Bench {
        let bench = try Bench()
        let first = try intake(bench, 1, Ear())
        let batch = SpoolBatch(
            credentials: [try bench.spooled("alice", "token-1", row: 1)],
            requests: [],
            refused: []
        )
        #expect(try await first.take(batch).credentials == [.sealed])
        return bench
    }

    @Test("the engine knows of them before it hears of the user's deletion in the same read")
    func toldBeforeDeletion() async throws {
        let bench = try await benchWithLostKey()
        let ear = Ear()
        let intake = try intake(bench, 2, ear)
        let batch = SpoolBatch(
            credentials: [
                try bench.spooled("alice", "token-2", row: 2),
                try bench.spooled("bob", "token-3", row: 3),
            ],
            requests: [try request(bench, "alice", row: 4), try request(bench, "bob", row: 5)],
            refused: []
        )
        let receipts = try await intake.take(batch)
        #expect(receipts.credentials == [.postponed, .sealed])
        let admitted = ear.usersAtAdmission
        #expect(admitted.map { $0.users.contains($0.loaded.userHash) } == [true, false])
        #expect(admitted.allSatisfy { $0.loaded.isSpoolRead })
    }

    @Test("a row that is sealed later, or is gone at the end of a rescan, holds up nobody")
    func ends() async throws {
        let bench = try await benchWithLostKey()
        let ear = Ear()
        let lost = try intake(bench, 2, ear)
        let alice = bench.hasher.hash("alice", domain: .user)
        let row = try bench.spooled("alice", "token-2", row: 2)
        let batch = SpoolBatch(credentials: [row], requests: [], refused: [])
        _ = try await lost.take(batch)
        #expect(ear.users?.contains(alice) == true)
        #expect(!lost.unsealed.isEmpty)
        // Still there at the next rescan, and then not any more.
        lost.rescanBegan()
        _ = try await lost.take(batch)
        lost.rescanEnded()
        #expect(ear.users?.contains(alice) == true)
        lost.rescanBegan()
        lost.rescanEnded()
        #expect(ear.users == UnsealedUsers())

        let found = Ear()
        let right = try intake(bench, 1, found)
        #expect(try await right.take(batch).credentials == [.sealed])
        #expect(right.unsealed.isEmpty)
    }

    @Test("a paused intake seals credentials, holds up whose it cannot, and takes no request")
    func paused() async throws {
        let bench = try await benchWithLostKey()
        let ear = Ear()
        let intake = try intake(bench, 2, ear)
        try await intake.setPaused(true)
        let batch = SpoolBatch(
            credentials: [
                try bench.spooled("alice", "token-2", row: 2),
                try bench.spooled("bob", "token-3", row: 3),
            ],
            requests: [try request(bench, "bob", row: 4)],
            refused: []
        )
        let receipts = try await intake.take(batch)
        #expect(receipts.credentials == [.postponed, .sealed])
        #expect(receipts.requests == [.postponed])
        #expect(ear.users?.contains(bench.hasher.hash("alice", domain: .user)) == true)
        #expect(ear.users?.contains(bench.hasher.hash("bob", domain: .user)) == false)
        #expect(ear.usersAtAdmission.isEmpty)
        try await intake.setPaused(false)
        let accepted = try await intake.take(batch).requests
        guard case .accepted? = accepted.first else {
            Issue.record("answered \(accepted)")
            return
        }
    }

    @Test("the many rows of one user hold up that user alone")
    func oneUserOfMany() throws {
        let bench = try Bench()
        let ear = Ear()
        let unsealed = UnsealedRows { ear.hear(.unsealed($0)) }
        let rows = try (1...Int64(Limits.unsealedUsersMax + 1)).map {
            try bench.spooled("alice", "token", row: $0)
        }
        unsealed.rescanBegan()
        unsealed.note(rows, rows.map { _ in .postponed })
        let (alice, bob) = (rows[0].userHash, bench.hasher.hash("bob", domain: .user))
        #expect(ear.users?.contains(alice) == true)
        #expect(ear.users?.contains(bob) == false)
        // Rows that are not remembered one by one still count, until a rescan has seen none.
        unsealed.note(Array(rows.prefix(100)), rows.prefix(100).map { _ in .sealed })
        #expect(ear.users?.contains(alice) == true)
        unsealed.rescanEnded()
        #expect(ear.users?.contains(alice) == true)
        unsealed.rescanBegan()
        unsealed.note(rows, rows.map { _ in .sealed })
        unsealed.rescanEnded()
        #expect(ear.users == UnsealedUsers())
    }
}
