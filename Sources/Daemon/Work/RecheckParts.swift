import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Stores
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
    let makeCopy: @Sendable (TargetName, String) async -> DrillCopy
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
                    return (adapters.targets, adapters.recheckEnvironment)
                },
                openCopy: { name, place in
                    let copy = await makeCopy(name, place)
                    switch copy {
                    case .made(let store):
                        return RecheckCopy(store: store, close: { await copy.shutDown() })
                    case .refused(let code, let detail):
                        return RecheckCopy(refusal: CopyRefusal(code: code, detail: detail))
                    }
                },
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
                ["target": "\(store.name)", "count": "\(store.found)", "detail": "sample"]
            )
        case .unsearched(let name, let error):
            logger.note(
                .operationFailed,
                ["step": "search_for_erased", "target": "\(name)", "error": "\(error)"]
            )
        case .answered(let name): counter.answered(name)
        case .overdue(let name):
            counter.noteOverdue(name)
            logger.note(.recheckOverdue, ["target": "\(name)"])
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
                    "request.id": "\(request)", "target": "\(found.target)",
                    "count": "\(found.rowCount)",
                ]
            )
        }
    }
}

extension Adapters {
    fileprivate var recheckEnvironment: RecheckEnvironment {
        RecheckEnvironment(
            stores: configuration.targets.compactMap { target in
                guard let adapter = targets[target.name] else { return nil }
                var store = RecheckStore(name: target.name)
                store.withoutTimestamps = configuration.withoutTimestamps(target)
                store.isDatedByRestoration = target.traits.isDatedByRestoration
                store.keyedBy = target.keyedBy?.target
                store.keyName = (adapter as? KeyedTarget)?.erasedName
                store.hasKeys = !target.keys.isEmpty
                return store
            },
            intervals: configuration.requests.rechecks
        )
    }
}
