import Engine
import Lifecycle
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon

@Suite("Rotating the vault key") struct KeyRotationTests {
    /// Enough for a few batches.
    private static let userCount = KeyRotation.batchMax * 2 + 7

    /// Rotates until it is done or stopped, on a clock without pauses.
    private func rotate(
        _ state: StateDatabase,
        _ vault: SealedVault
    ) async throws -> (
        KeyRotation.Progress, LogBook
    ) {
        let log = LogBook()
        let clock = JumpingClock()
        let rotation = KeyRotation(state: state, vault: vault, clock: clock, logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rotation.run() }
            try await rotation.begin()
            for await _ in log.changes where rotation.progress.endedAt != nil { break }
            group.cancelAll()
        }
        return (rotation.progress, log)
    }

    @Test("moves every user, and afterwards the new key alone opens everything")
    func movesEverybody() async throws {
        let bench = try Bench()
        let users = try await SealedUsers.store(Self.userCount, in: bench.state, under: 1)
        let both = try SealedUsers.vault(2, retired: [1])
        let (progress, log) = try await rotate(bench.state, both)
        #expect(progress.state == .finished)
        #expect(progress.rewrapped == Self.userCount && progress.unreadable == 0)
        let new = try Bench.key(2).id
        #expect(try await bench.state.vaultKeyUse() == [new: Self.userCount])
        #expect(try await bench.state.wrapCount(of: new) == Self.userCount)
        #expect(
            log.all == [
                "keyRotationStarted detail=\(new)",
                "keyRotationFinished count=\(Self.userCount) detail=\(new)",
            ]
        )
        try await users.expectOpen(in: bench.state, with: try SealedUsers.vault(2))
        // Nothing is left to do, and nothing is done twice.
        #expect(try await rotate(bench.state, both).0.rewrapped == 0)
        #expect(try await bench.state.wrapCount(of: new) == Self.userCount)
    }

    @Test("goes on after a restart until it is done, and not any more then")
    func goesOn() async throws {
        let bench = try Bench()
        _ = try await SealedUsers.store(3, in: bench.state, under: 1)
        let vault = try SealedUsers.vault(2, retired: [1])
        func make(_ log: LogBook) -> KeyRotation {
            KeyRotation(
                state: bench.state,
                vault: vault,
                clock: JumpingClock(),
                logger: log.logger
            )
        }
        // The process ends before it began.
        try await make(LogBook()).begin()
        let log = LogBook()
        let rotation = make(log)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rotation.run() }
            for await _ in log.changes where rotation.progress.endedAt != nil { break }
            group.cancelAll()
        }
        #expect(rotation.progress.rewrapped == 3)
        #expect(try await bench.state.note("key_rotation") == "")
    }

    @Test("a damaged data key stays, is counted, and stops nobody else")
    func damaged() async throws {
        let bench = try Bench()
        _ = try await SealedUsers.store(3, in: bench.state, under: 1)
        let old = try Bench.key(1).id
        let first = try #require(
            try await bench.state.userKeys(wrappedBy: old, after: 0, limit: 1).first
        )
        var bytes = first.key.bytes
        bytes[20] ^= 1
        let damaged = RewrappedKey(old: first, key: WrappedKey(bytes: bytes, keyID: old))
        #expect(try await bench.state.replaceUserKeys([damaged]) == 1)
        let (progress, _) = try await rotate(
            bench.state,
            try SealedUsers.vault(2, retired: [1])
        )
        #expect(progress.state == .finished)
        #expect(progress.rewrapped == 2 && progress.unreadable == 1)
        #expect(try await bench.state.vaultKeyUse()[old] == 1)
    }

    @Test("a key that is gone for good is left alone")
    func lost() async throws {
        let bench = try Bench()
        _ = try await SealedUsers.store(3, in: bench.state, under: 1)
        let (progress, _) = try await rotate(bench.state, try SealedUsers.vault(2))
        #expect(progress.state == .finished && progress.rewrapped == 0)
        #expect(try await bench.state.vaultKeyUse() == [Bench.key(1).id: 3])
    }

    @Test("a new key that has wrapped too much stops it, and says so")
    func exhausted() async throws {
        let bench = try Bench()
        let users = try await SealedUsers.store(3, in: bench.state, under: 1)
        let vault = SealedVault(
            keyring: VaultKeyring(active: try Bench.key(2), retired: [try Bench.key(1)]),
            wrapsBefore: SealedVault.wrapCountMax
        )
        let (progress, log) = try await rotate(bench.state, vault)
        #expect(progress.state == .stopped && progress.error == .exhausted)
        #expect(log.all.last == "keyRotationStopped error=vault_key_exhausted")
        try await users.expectOpen(in: bench.state, with: try SealedUsers.vault(1))
    }

    @Test("does not begin without a key")
    func sealed() async throws {
        let bench = try Bench()
        let rotation = KeyRotation(
            state: bench.state,
            vault: SealedVault(keyring: nil),
            clock: JumpingClock(),
            logger: bench.log.logger
        )
        await #expect(throws: VaultError(kind: .sealed)) { try await rotation.begin() }
        #expect(rotation.progress.state == .idle)
    }

    @Test("a data key that was wrapped anew or destroyed in the meantime is not written over")
    func compareAndSwap() async throws {
        let bench = try Bench()
        _ = try await SealedUsers.store(1, in: bench.state, under: 1)
        let both = try SealedUsers.vault(2, retired: [1])
        let old = try #require(
            try await bench.state.userKeys(wrappedBy: Bench.key(1).id, after: 0, limit: 1).first
        )
        let fresh = RewrappedKey(
            old: old,
            key: try both.rewrap(old.key, userHash: old.userHash)
        )
        #expect(try await bench.state.replaceUserKeys([fresh]) == 1)
        #expect(try await bench.state.replaceUserKeys([fresh]) == 0)
        #expect(try await bench.state.wrapCount(of: Bench.key(2).id) == 1)
    }

    @Test("kill -9 at any moment loses no user's key, and the next start ends the work")
    func killed() async throws {
        let bench = try Bench()
        let users = try await SealedUsers.store(2_000, in: bench.state, under: 1)
        let path = bench.state.path
        try await bench.state.close()
        let both = try SealedUsers.vault(2, retired: [1])
        var remaining = 2_000
        for batches in [1, 3, 2] {
            let child = try Victim.start(path: path)
            for batch in 0..<batches {
                if batch > 0 { child.goOn() }
                #expect(child.readByte() != nil)
            }
            // It dies somewhere in the next batch, and comes no further than to its end.
            child.goOn()
            child.kill()
            let state = try StateDatabase.open(path: path, now: { Bench.start })
            #expect(state.wasUncleanStop)
            try await users.expectOpen(in: state, with: both)
            let use = try await state.vaultKeyUse()
            #expect(use.values.reduce(0, +) == 2_000)
            let left = try use[Bench.key(1).id] ?? 0
            let done = [batches, batches + 1].map { $0 * KeyRotation.batchMax }
            #expect(done.contains(remaining - left))
            remaining = left
            try await state.close()
        }
        let state = try StateDatabase.open(path: path, now: { Bench.start })
        let (progress, _) = try await rotate(state, both)
        #expect(progress.rewrapped == remaining)
        try await users.expectOpen(in: state, with: try SealedUsers.vault(2))
        try await state.close()
    }

    /// Not a test of its own: runs only in the child.
    @Test(.enabled(if: Victim.path != nil))
    func victim() async throws {
        let path = try #require(Victim.path)
        let state = try StateDatabase.open(path: path, now: { Bench.start })
        let rotation = KeyRotation(
            state: state,
            vault: try SealedUsers.vault(2, retired: [1]),
            clock: JumpingClock { Victim.report() },
            logger: LogBook().logger
        )
        try await rotation.begin()
        try await rotation.run()
    }
}
