import Engine
import Lifecycle
import Logging
import Storage
import Stores
import Vault

/// Reads and records what a run needs, in the state, the vault and the ledger.
struct RecheckStateAdapter: RecheckState {
    let parts: RecheckParts

    private var state: StateDatabase { parts.state }

    func perform(_ effect: RecheckStateEffect) async throws -> RecheckEvent {
        switch effect {
        case .readAlarm:
            return .readAlarm(await parts.ledger.health.alarm?.rawValue)
        case .learnTombstones(let since):
            return .learned(isReadable: try await learnTombstones(since: since))
        case .findOpen(let names):
            return .foundOpen(try await state.openDeletions(begunIn: names))
        case .restore(let requests, let names, let time):
            try await restore(requests, .restored(names, at: time))
            return .restored
        case .loadTombstones(let since, let position, let limit):
            let (page, next) = try await state.tombstones(
                since: since ?? .distantPast,
                after: position,
                limit: limit
            )
            return .loaded(page, next: next)
        case .loadDue(let limit):
            return try await loadDue(limit)
        case .findLate(let requests):
            return .foundLate(try await state.lateKeyRequests(among: requests))
        case .findBegun(let name):
            return .foundBegun(try await state.begunReplays(in: name))
        case .readHolds(let withTombstones):
            let users = try await state.usersOnHold(withTombstones: withTombstones)
            return .readHolds(try await parts.lanes.holds(), users)
        case .note(let begun, let name):
            return .noted(try await state.beginReplay(of: begun, in: name))
        case .record(let ended, let name):
            try await state.endReplay(of: ended, in: name, at: parts.clock.now())
            return .recorded
        case .forgetLate(let tombstones):
            try await state.forgetLateKeys(of: tombstones)
            return .recorded
        case .close(let ended):
            return .closed(try await state.endRechecks(ended))
        case .reopen(let returned, let dueAt):
            return try await reopen(returned, dueAt: dueAt)
        case .recordSample(let store):
            try await state.recordSample(
                users: store.found,
                rows: store.rows,
                in: store.name,
                at: parts.clock.now()
            )
            return .recorded
        }
    }

    /// Returns whether the checkpoint files could be read.
    private func learnTombstones(since: WallTime) async throws -> Bool {
        do {
            let count = try await parts.ledger.learnTombstones(since: since)
            if count > 0 {
                parts.logger.notice("tombstones learned", metadata: ["count": "\(count)"])
            }
            return true
        } catch let error as DaemonError {
            parts.logger.note(
                .operationFailed,
                ["step": "read_checkpoints", "error": "\(error)"]
            )
            return false
        }
    }

    private func restore(_ requests: [RequestID], _ event: RequestEvent) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for id in requests { group.addTask { _ = try await parts.operate(id, event) } }
        }
    }

    private func loadDue(_ limit: Int) async throws -> RecheckEvent {
        guard parts.vault.isOpen else { return .vaultSealed }
        let due = try await state.dueRechecks(
            under: parts.vault.recheckKeyIDs,
            at: parts.clock.now(),
            limit: limit
        )
        var opened: [OpenRecheck] = []
        var unopened: [UnopenedRecheck] = []
        for due in due.rechecks {
            do throws(VaultError) {
                let user = try parts.vault.openRecheck(due.sealed)
                opened.append(OpenRecheck(due: due, user: user))
            } catch {
                unopened.append(UnopenedRecheck(due: due, failure: error.failure))
            }
        }
        return .loadedDue(
            DuePage(
                opened: opened,
                unopened: unopened,
                pausedStores: Set(try await state.pauses().stores.keys),
                next: due.nextDueAt
            )
        )
    }

    private func reopen(_ users: [ReturnedUser], dueAt: WallTime) async throws -> RecheckEvent {
        let now = parts.clock.now()
        let sealer = RecheckSealer(
            vault: parts.vault,
            registry: parts.registry,
            logger: parts.logger
        )
        let keys = FoundKeyService(
            state: state,
            vault: parts.vault,
            hasher: parts.hasher,
            logger: parts.logger
        )
        let sealed = await keys.sealForRechecks(
            users.flatMap { user in
                user.keys.map { FoundKeys(request: user.request, name: $0.name, ids: [$0.id]) }
            }
        )
        let keysOf = Dictionary(grouping: sealed, by: \.request)
        let returned = users.map { user in
            ReturnedData(
                request: user.request,
                found: user.found,
                opened: sealer.seal(
                    user.user ?? .nobody(),
                    of: user.request,
                    openedAt: now,
                    dueAt: dueAt
                ),
                keys: keysOf[user.request] ?? [],
                isNameless: user.user == nil
            )
        }
        let recorded = try await state.reopenRechecks(returned, at: now)
        return .reopened(recorded.map { ($0.request, $0.found) })
    }
}
