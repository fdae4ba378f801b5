import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Stores
import Synchronization
import Vault

struct RecheckParts: Sendable {
    let state: StateDatabase
    let ledger: LedgerKeeper
    let vault: SealedVault
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    let clock: any EngineClock
    let counter: RecheckCounter
    let logger: Logger
    /// The engine, where each store has a lane.
    let lanes: any StoreLanes
    let makeCopy: @Sendable (StoreName, String) async -> RecheckCopy
    let operate: @Sendable (RequestID, RequestEvent) async throws -> OperationOutcome

    var driver: RecheckDriver {
        RecheckDriver(
            RecheckPorts(
                state: RecheckStateAdapter(parts: self),
                lanes: lanes,
                hasher: hasher,
                clock: clock,
                stores: {
                    let adapters = registry.current
                    return (adapters.stores, adapters.recheckEnvironment)
                },
                openCopy: makeCopy,
                announce: { report($0) }
            )
        )
    }

    private func report(_ announcement: RecheckAnnouncement) {
        switch announcement {
        case .replayBegan(let isDrill):
            logger.note(.replayStarted, ["detail": isDrill ? "drill" : "replay"])
        case .replayEnded(let isComplete, let count):
            logger.note(
                isComplete ? .replayFinished : .replayIncomplete,
                ["count": "\(count)"]
            )
        case .rechecked(let ended): report(ended)
        case .reopened(let request, let found):
            counter.count(.returned)
            report(found, of: request)
        case .sampled(let store):
            logger.note(
                .dataReturned,
                ["store": "\(store.name)", "count": "\(store.found)", "detail": "sample"]
            )
        case .unsearched(let name, let error):
            logger.note(
                .operationFailed,
                ["step": "search_for_erased", "store": "\(name)", "error": "\(error)"]
            )
        case .answered(let name): counter.answered(name)
        case .overdue(let name):
            counter.noteOverdue(name)
            logger.note(.recheckOverdue, ["store": "\(name)"])
        }
    }

    private func report(_ ended: EndedRecheck) {
        guard let recheck = ended.recheck else { return }
        let id = ended.due.sealed.request
        counter.count(recheck.outcome)
        report(recheck.found, of: id)
        guard ended.next == .closed else { return }
        logger.note(
            .recheckClosed,
            ["request.id": "\(id)", "detail": "\(recheck.outcome.rawValue)"]
        )
    }

    private func report(_ found: [Recheck.Found], of request: RequestID) {
        for found in found {
            logger.note(
                .dataReturned,
                [
                    "request.id": "\(request)", "store": "\(found.store)",
                    "count": "\(found.rowCount)",
                ]
            )
        }
    }
}

extension Adapters {
    fileprivate var recheckEnvironment: RecheckEnvironment {
        RecheckEnvironment(
            stores: configuration.stores.compactMap { store in
                guard let adapter = stores[store.name] else { return nil }
                var entry = RecheckStore(name: store.name)
                entry.withoutTimestamps = configuration.withoutTimestamps(store)
                entry.isDatedByRestoration = store.traits.isDatedByRestoration
                entry.keyedBy = store.keyedBy?.store
                entry.keyName = (adapter as? KeyedStore)?.erasedName
                entry.hasKeys = !store.keys.isEmpty
                return entry
            },
            intervals: configuration.requests.rechecks
        )
    }
}

/// Rechecks the stores of completed deletions whenever one is due.
struct RecheckService: Sendable {
    let parts: RecheckParts
    var steward = Steward.single

    func run() async throws {
        let (state, clock) = (parts.state, parts.clock)
        var run = RecheckRun(.rechecks)
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            for await _ in state.recheckSignals {
                guard let next = try await steward.run({ try await recheck(&run) }) else {
                    // What it knew of the work may be what another host has done.
                    run = RecheckRun(.rechecks)
                    continue
                }
                timers.arm(next, at: clock.now(), by: clock, in: &group) { state.wakeRechecks() }
            }
            group.cancelAll()
        }
    }

    /// Rechecks everything that is due; returns when the next one is, `nil` when there is none.
    func recheck(_ run: inout RecheckRun) async throws -> WallTime? {
        parts.state.expectRecheck(at: nil)
        try await parts.driver.drive(&run)
        guard case .ended(let next) = run.phase else { return nil }
        parts.state.expectRecheck(at: next)
        return next
    }
}

/// Makes recheck records as the configuration in force says.
struct RecheckSealer: RecheckOpener {
    let vault: SealedVault
    let registry: AdapterRegistry
    let logger: Logger

    func open(_ request: Request, of user: UserID) -> OpenedRecheck? {
        let intervals = registry.current.configuration.requests.rechecks
        return RecheckRun.opening(of: request, intervals: intervals).flatMap { times in
            seal(user, of: request.id, openedAt: times.openedAt, dueAt: times.dueAt)
        }
    }

    /// `user` is nobody where only ids are known; the result is `nil` when the vault cannot seal.
    func seal(
        _ user: UserID,
        of request: RequestID,
        openedAt: WallTime,
        dueAt: WallTime
    ) -> OpenedRecheck? {
        do throws(VaultError) {
            return OpenedRecheck(
                sealed: try vault.sealRecheck(user, of: request),
                openedAt: openedAt,
                dueAt: dueAt
            )
        } catch {
            logger.note(
                .operationFailed,
                [
                    "step": "seal_recheck", "request.id": "\(request)",
                    "error": "\(error.kind.rawValue)",
                ]
            )
            return nil
        }
    }
}

final class RecheckCounter: Sendable {
    private struct State {
        var counts: [Recheck.Outcome: Int] = [:]
        var overdue: Set<StoreName> = []
        var isSampleFound = false
    }

    private let state = Mutex(State())

    var counts: [Recheck.Outcome: Int] { state.withLock(\.counts) }

    /// Stores that could not be checked for days.
    var overdue: Set<StoreName> { state.withLock(\.overdue) }

    /// Whether the last sample found data of an erased user that no recheck follows.
    var isSampleFound: Bool { state.withLock(\.isSampleFound) }

    func count(_ outcome: Recheck.Outcome) {
        state.withLock { $0.counts[outcome, default: 0] += 1 }
    }

    func sampled(isFound: Bool) { state.withLock { $0.isSampleFound = isFound } }

    func answered(_ store: StoreName) {
        state.withLock { _ = $0.overdue.remove(store) }
    }

    func noteOverdue(_ store: StoreName) {
        state.withLock { _ = $0.overdue.insert(store) }
    }
}
