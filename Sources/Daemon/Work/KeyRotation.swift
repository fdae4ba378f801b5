import Engine
import Lifecycle
import Logging
import Storage
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
struct KeyRotation: Sendable {
    struct Progress: Hashable, Sendable {
        var state = KeyRotationState.idle
        var rewrapped = 0
        /// Data keys that no loaded key opens; they stay as they are.
        var unreadable = 0
        var startedAt: WallTime?
        var endedAt: WallTime?
        var error: VaultError.Kind?

        /// Says again how the last rotation ended.
        mutating func settle() {
            state = endedAt == nil ? .idle : error == nil ? .finished : .stopped
        }
    }

    /// Half a millisecond of cryptography and a commit of a few milliseconds.
    static let batchMax = 200
    /// With the batch at most 2,000 keys a second: a million users take ten minutes and the
    /// writer's other callers notice nothing.
    static let pause = Duration.milliseconds(100)
    /// Its value is the id of the key that is rotated to.
    private static let note = "key_rotation"

    let state: StateDatabase
    let vault: SealedVault
    let clock: any EngineClock
    var steward = Steward.single
    let logger: Logger
    private let current = Latest(Progress())
    private let start = WakeSignal()

    var progress: Progress { current.value }

    /// Starts a rotation to the active key, which goes on after every restart until it is done.
    ///
    /// - Throws: ``Engine/VaultError`` of kind `sealed` without a key, or the state's error.
    func begin() async throws {
        guard let active = vault.activeKeyID else { throw VaultError(kind: .sealed) }
        // Before the note: a start that finds it may be done before this goes on.
        let before = progress.state
        current.withLock { $0.state = .running }
        do {
            // Where the stewardship has gone meanwhile, the note would be nobody's.
            _ = try await steward.run { try await state.setNote(Self.note, to: active) }
        } catch {
            current.withLock { $0.state = before }
            throw error
        }
        start.send()
    }

    /// Rotates whenever it was begun, until the task is cancelled.
    func run() async throws {
        if steward.isHere { try await resume() }
        for await _ in start.signals {
            guard let active = vault.activeKeyID else { continue }
            let isDone: Void? = try await steward.run {
                // A start that found the note of a beginning may have done what this one is for.
                guard try await isBegun(active) else { return current.withLock { $0.settle() } }
                try await rotate(to: active)
            }
            // The next steward goes on.
            if isDone == nil { current.withLock { $0 = Progress() } }
        }
    }

    /// Goes on with a rotation that another process has begun.
    func resume() async throws {
        guard let active = vault.activeKeyID else { return }
        guard try await isBegun(active) else { return }
        current.withLock { $0.state = .running }
        start.send()
    }

    private func isBegun(_ active: String) async throws -> Bool {
        try await clock.persist { try await state.note(Self.note) } == active
    }

    private func rotate(to active: String) async throws {
        let startedAt = clock.now()
        current.withLock { $0 = Progress(state: .running, startedAt: startedAt) }
        logger.note(.keyRotationStarted, ["detail": "\(active)"])
        do {
            // A user may get an old key while the pages are read; the next pass finds it.
            while try await rewrapRound(active) > 0 {}
        } catch let error as VaultError {
            current.withLock { progress in
                progress.state = .stopped
                progress.error = error.kind
                progress.endedAt = clock.now()
            }
            return logger.note(.keyRotationStopped, ["error": "\(error.kind.rawValue)"])
        }
        try await clock.persist { try await state.setNote(Self.note, to: "") }
        // Until then the old wrappings are still in the write-ahead log.
        state.requestScrub()
        let done = current.withLock { progress in
            progress.state = .finished
            progress.endedAt = clock.now()
            return progress
        }
        logger.note(.keyRotationFinished, ["count": "\(done.rewrapped)", "detail": "\(active)"])
    }

    private func rewrapRound(_ active: String) async throws -> Int {
        current.withLock { $0.unreadable = 0 }
        let loaded = Set(vault.keyIDs)
        let limit = Self.batchMax
        var count = 0
        let ids = try await clock.persist { try await state.vaultKeyIDs() }
        for id in ids where id != active && loaded.contains(id) {
            count += try await renew { [state] (last: StoredUserKey?) in
                try await state.userKeys(wrappedBy: id, after: last?.position ?? 0, limit: limit)
            } make: { [vault] (old) throws(VaultError) in
                RewrappedKey(old: old, key: try vault.rewrap(old.key, userHash: old.userHash))
            } store: {
                try await $0.replaceUserKeys($1)
            }
            count += try await renew { [state] (last: SealedRecheck?) in
                try await state.sealedRechecks(under: id, after: last?.request, limit: limit)
            } make: { [vault] (old) throws(VaultError) in
                (old: old, new: try vault.resealRecheck(old))
            } store: {
                try await $0.replaceRechecks($1)
            }
            count += try await renew { [state] (last: StoredKeys?) in
                try await state.foundKeys(under: id, after: last?.position ?? 0, limit: limit)
            } make: { [vault] (old) throws(VaultError) in
                (old: old, new: try vault.resealKeys(old.sealed))
            } store: {
                try await $0.replaceFoundKeys($1)
            }
            count += try await renew { [state] (last: StoredAddress?) in
                try await state.addresses(under: id, after: last?.request, limit: limit)
            } make: { [vault] (old) throws(VaultError) in
                (old: old, new: try vault.resealKeys(old.address.keys))
            } store: {
                try await $0.replaceAddresses($1)
            }
        }
        return count
    }

    /// Makes rows anew, page by page, and returns how many were stored.
    private func renew<Old: Sendable, New: Sendable>(
        page: (_ last: Old?) async throws -> [Old],
        make: (Old) throws(VaultError) -> New,
        store: (StateDatabase, [New]) async throws -> Int
    ) async throws -> Int {
        var last: Old?
        var count = 0
        while true {
            let rows = try await clock.persist { try await page(last) }
            guard !rows.isEmpty else { return count }
            last = rows.last
            var fresh: [New] = []
            for old in rows {
                do throws(VaultError) {
                    fresh.append(try make(old))
                } catch {
                    // Damaged bits concern this user alone.
                    guard error.kind == .broken else { throw error }
                    current.withLock { $0.unreadable += 1 }
                }
            }
            let batch = fresh
            let stored = try await clock.persist { try await store(state, batch) }
            current.withLock { $0.rewrapped += stored }
            count += stored
            try await clock.sleep(until: clock.now() + Self.pause)
        }
    }
}
