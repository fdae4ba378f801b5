import Control
import Engine
import Lifecycle
import Storage
import Stores
import Synchronization

/// Runs replays and drills, one at a time, and reports their progress.
final class ReplayService: Sendable {
    private let parts: RecheckParts
    private let current = Mutex(ReplayProgress.idle)
    private let orders: AsyncStream<ReplayTerms>
    private let order: AsyncStream<ReplayTerms>.Continuation

    init(_ parts: RecheckParts) {
        self.parts = parts
        (orders, order) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Of the replay that runs, or ran last.
    var progress: WireReplay { WireReplay(current.withLock { $0 }) }

    /// Starts a replay; the same id again starts no other, so a caller may repeat a lost call.
    ///
    /// - Throws: ``Control/ControlProblem``: `wrong_state` while one runs, `unknown_target`, or
    ///   `malformed_field` for a time to come.
    func begin(_ input: ReplayInput) throws(ControlProblem) {
        if let target = input.target, parts.registry.current.targets[target] == nil {
            throw ControlProblem(.unknownTarget)
        }
        let now = parts.clock.now()
        for (field, time) in [("since", input.since), ("restored_at", input.restoredAt ?? now)]
        where time > now {
            throw ControlProblem(
                .malformedField,
                "'\(field)' is in the future; it is \(now.rfc3339)"
            )
        }
        let terms = input.terms
        let isNew: Bool? = current.withLock { progress in
            if let id = terms.id, progress.terms?.id == id { return false }
            if case .running = progress { return nil }
            progress = .running(terms, RecheckReport())
            return true
        }
        guard let isNew else { throw ControlProblem(.wrongState, "a replay is running") }
        if isNew { order.yield(terms) }
    }

    func run() async throws {
        for await terms in orders {
            var run = RecheckRun(.replay(terms))
            try await parts.driver.drive(&run) { run in
                current.withLock {
                    $0 =
                        run.phase.isEnded
                        ? .ended(terms, run.report) : .running(terms, run.report)
                }
            }
        }
    }

    func stop() { order.finish() }
}

extension ReplayProgress {
    fileprivate var terms: ReplayTerms? {
        switch self {
        case .idle: nil
        case .running(let terms, _), .ended(let terms, _): terms
        }
    }
}

extension ReplayInput {
    fileprivate var terms: ReplayTerms {
        var terms = ReplayTerms(since: since)
        (terms.target, terms.restoredAt) = (target, restoredAt)
        (terms.isDrill, terms.copy, terms.id) = (isDrill, copy, id)
        return terms
    }
}

extension WireReplay {
    fileprivate init(_ progress: ReplayProgress) {
        switch progress {
        case .idle: self.init(state: .idle)
        case .running(let terms, let report): self.init(.running, terms, report)
        case .ended(let terms, let report):
            self.init(report.isComplete ? .finished : .incomplete, terms, report)
        }
    }

    private init(_ state: ReplayState, _ terms: ReplayTerms, _ report: RecheckReport) {
        self.init(state: state)
        (id, isDrill, since) = (terms.id, terms.isDrill, terms.since)
        (tombstones, reopened) = (report.tombstones, report.reopened)
        targets = report.stores.map { store in
            var target = WireReplayTarget(name: store.name.rawValue)
            (target.found, target.erased, target.rows) = (store.found, store.erased, store.rows)
            (target.newer, target.error, target.detail) = (store.newer, store.error, store.detail)
            return target
        }
    }
}
