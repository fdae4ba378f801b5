import Control
import Engine
import Lifecycle
import Storage
import Stores

/// Runs replays and drills, one at a time, and reports their progress.
struct ReplayService: Sendable {
    let parts: RecheckParts
    var steward = Steward.single
    private let current = Latest(ReplayProgress.idle)
    private let orders = AsyncStream.makeStream(
        of: ReplayTerms.self,
        bufferingPolicy: .bufferingOldest(1)
    )

    /// Of the replay that runs, or ran last.
    var progress: WireReplay { WireReplay(current.value) }

    /// Starts a replay; the same id again starts no other, so a caller may repeat a lost call.
    ///
    /// - Throws: ``Control/ControlProblem``: `wrong_state` while one runs, `unknown_store`, or
    ///   `malformed_field` for a time to come.
    func begin(_ terms: ReplayTerms) throws(ControlProblem) {
        let stores = Set(parts.registry.current.stores.keys)
        let now = parts.clock.now()
        do throws(ReplayProgress.Refusal) {
            let isNew = try current.withLock { progress throws(ReplayProgress.Refusal) in
                try progress.begin(terms, in: stores, at: now)
            }
            if isNew { orders.continuation.yield(terms) }
        } catch {
            throw ControlProblem(of: error)
        }
    }

    func run() async throws {
        for await terms in orders.stream {
            var run = RecheckRun(.replay(terms))
            let isDone: Void? = try await steward.run {
                try await parts.driver.drive(&run) { run in
                    current.withLock { $0.follow(run, of: terms) }
                }
            }
            // Another host is the steward now; whoever waits learns that it is incomplete.
            if isDone == nil {
                current.withLock { $0 = .ended(terms, run.report.broken("other_host")) }
            }
        }
    }

    func stop() { orders.continuation.finish() }
}

extension ControlProblem {
    fileprivate init(of refusal: ReplayProgress.Refusal) {
        switch refusal {
        case .unknownStore: self.init(.unknownStore)
        case .inFuture(let field, let now):
            self.init(
                .malformedField,
                "'\(field.rawValue)' is in the future; it is \(now.rfc3339)"
            )
        case .running: self.init(.wrongState, "a replay is running")
        }
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
        stores = report.stores
    }
}
