import Engine
import Lifecycle
import Logging
import Storage
import Synchronization
import Vault

/// Wraps every user's data key, and seals every case and found id, anew under the active vault key,
/// in small batches.
///
/// ```
/// begin() ──▶ note in state.db ──▶ batch: read, wrap anew, one commit ──▶ pause ──┐
///                                    ▲                                            │
/// restart with the note ─────────────┴────────────────────────────────────────────┘
/// nothing left under another loaded key ──▶ note removed ──▶ scrub
/// ```
///
/// A key is replaced only if it is still the one that was read, and what it seals stays as it is.
/// So at every moment each user has exactly one wrapped key that a loaded vault key opens, and a
/// crash costs at most the batch that was not committed.
final class KeyRotation: Sendable {
    /// How far it is, since the start of the process.
    struct Progress: Hashable, Sendable {
        enum State: String, CaseIterable, Sendable { case idle, running, finished, stopped }

        var state = State.idle
        var rewrapped = 0
        /// Data keys that no loaded key opens; they stay as they are.
        var unreadable = 0
        var startedAt: WallTime?
        var endedAt: WallTime?
        var error: VaultError.Kind?
    }

    /// Half a millisecond of cryptography and a commit of a few milliseconds.
    static let batchMax = 200
    /// With the batch at most 2,000 keys a second: a million users take ten minutes and the
    /// writer's other callers notice nothing.
    static let pause = Duration.milliseconds(100)
    /// Its value is the id of the key that is rotated to.
    private static let note = "key_rotation"

    private let state: StateDatabase
    private let vault: SealedVault
    private let clock: any EngineClock
    private let logger: Logger
    private let current = Mutex(Progress())
    private let starts: AsyncStream<Void>
    private let start: AsyncStream<Void>.Continuation

    init(state: StateDatabase, vault: SealedVault, clock: any EngineClock, logger: Logger) {
        self.state = state
        self.vault = vault
        self.clock = clock
        self.logger = logger
        (starts, start) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var progress: Progress { current.withLock { $0 } }

    /// Has ``run()`` rotate to the active key, now and after every restart until it is done.
    ///
    /// - Throws: ``Engine/VaultError`` of kind `sealed` without a key, or the store's error:
    ///   nothing was begun then.
    func begin() async throws {
        guard let active = vault.activeKeyID else { throw VaultError(kind: .sealed) }
        try await state.setNote(Self.note, to: active)
        wake()
    }

    private func wake() {
        let isNew = current.withLock { progress in
            defer { if progress.state != .running { progress = Progress(state: .running) } }
            return progress.state != .running
        }
        if isNew { start.yield() }
    }

    /// Rotates whenever it was begun, until the task is cancelled.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func run() async throws {
        if let active = vault.activeKeyID, try await state.note(Self.note) == active {
            wake()
        }
        for await _ in starts {
            guard let active = vault.activeKeyID else { continue }
            try await rotate(to: active)
        }
    }

    private func rotate(to active: String) async throws {
        let startedAt = clock.now()
        current.withLock { $0 = Progress(state: .running, startedAt: startedAt) }
        logger.note(.keyRotationStarted, ["detail": "\(active)"])
        do {
            // A user may get a key of before while the pages are gone through; the next round
            // finds it.
            while try await rewrapRound(active) > 0 {}
        } catch let error as VaultError {
            current.withLock { progress in
                progress.state = .stopped
                progress.error = error.kind
                progress.endedAt = clock.now()
            }
            return logger.note(.keyRotationStopped, ["error": "\(error.kind.rawValue)"])
        }
        try await state.persist(clock) { try await $0.setNote(Self.note, to: "") }
        // Until then the old wrappings are still in the write-ahead log.
        state.requestScrub()
        let done = current.withLock { progress in
            progress.state = .finished
            progress.endedAt = clock.now()
            return progress
        }
        logger.note(.keyRotationFinished, ["count": "\(done.rewrapped)", "detail": "\(active)"])
    }

    /// - Returns: How many keys were wrapped anew.
    private func rewrapRound(_ active: String) async throws -> Int {
        current.withLock { $0.unreadable = 0 }
        let loaded = Set(vault.keyIDs)
        var count = 0
        for id in try await state.vaultKeyIDs() where id != active && loaded.contains(id) {
            var position: Int64 = 0
            while true {
                let keys = try await state.userKeys(
                    wrappedBy: id,
                    after: position,
                    limit: Self.batchMax
                )
                guard let last = keys.last else { break }
                position = last.position
                count += try await rewrap(keys)
                try await clock.sleep(until: clock.now() + Self.pause)
            }
            count += try await resealRechecks(under: id)
            count += try await resealKeys(under: id)
        }
        return count
    }

    /// - Returns: How many rows of found ids were sealed anew.
    private func resealKeys(under id: String) async throws -> Int {
        var position: Int64 = 0
        var count = 0
        while true {
            let page = try await state.foundKeys(
                under: id,
                after: position,
                limit: Self.batchMax
            )
            guard let end = page.last else { return count }
            position = end.position
            var fresh: [(old: StoredKeys, new: SealedKeys)] = []
            for old in page {
                do throws(VaultError) {
                    fresh.append((old, try vault.resealKeys(old.sealed)))
                } catch {
                    guard error.kind == .broken else { throw error }
                    current.withLock { $0.unreadable += 1 }
                }
            }
            let batch = fresh
            let stored = try await state.persist(clock) { try await $0.replaceFoundKeys(batch) }
            current.withLock { $0.rewrapped += stored }
            count += stored
            try await clock.sleep(until: clock.now() + Self.pause)
        }
    }

    /// - Returns: How many cases were sealed anew.
    private func resealRechecks(under id: String) async throws -> Int {
        var last: RequestID?
        var count = 0
        while true {
            let page = try await state.sealedRechecks(under: id, after: last, limit: Self.batchMax)
            guard let end = page.last else { return count }
            last = end.request
            var fresh: [(old: SealedRecheck, new: SealedRecheck)] = []
            for old in page {
                do throws(VaultError) {
                    fresh.append((old, try vault.resealRecheck(old)))
                } catch {
                    guard error.kind == .broken else { throw error }
                    current.withLock { $0.unreadable += 1 }
                }
            }
            let batch = fresh
            let stored = try await state.persist(clock) { try await $0.replaceRechecks(batch) }
            current.withLock { $0.rewrapped += stored }
            count += stored
            try await clock.sleep(until: clock.now() + Self.pause)
        }
    }

    private func rewrap(_ keys: [StoredUserKey]) async throws -> Int {
        var fresh: [RewrappedKey] = []
        fresh.reserveCapacity(keys.count)
        for old in keys {
            do throws(VaultError) {
                let key = try vault.rewrap(old.key, userHash: old.userHash)
                fresh.append(RewrappedKey(old: old, key: key))
            } catch {
                // Damaged bits concern this user alone.
                guard error.kind == .broken else { throw error }
                current.withLock { $0.unreadable += 1 }
            }
        }
        let batch = fresh
        let count = try await state.persist(clock) { try await $0.replaceUserKeys(batch) }
        current.withLock { $0.rewrapped += count }
        return count
    }
}
