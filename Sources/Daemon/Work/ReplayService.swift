import Control
import Engine
import Ledger
import Lifecycle
import Logging
import Settings
import Storage
import Synchronization

/// Erases again what a restored backup of a store brought back.
///
/// ```
/// tombstones (state.db, checkpoint files) ──▶ keyed hashes of erased users
/// store ──▶ its own user ids ──▶ hashed ──▶ among them? ──▶ purge ──▶ verify ──▶ ledger
/// ```
///
/// Of an erased user nothing is left but a keyed hash, so the ids come from the store itself. What
/// is not found there needs no erasing. Where the rows that came back name ids of other stores,
/// those are purged of them, too. A store that knows a user by ids of its own is asked for those:
/// they have tombstones as users have.
final class ReplayService: Sendable {
    /// Tombstones held in memory at once, some 20 MB; more take several passes over the store.
    static let tombstonesMax = 200_000
    /// Users in one call of a target, as the engine makes them; all ids of a request are in one.
    static let batchMax = 128

    let state: StateDatabase
    private let ledger: LedgerKeeper
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    /// Makes a target that works on a copy.
    private let makeCopy: @Sendable (TargetName, String) async -> DrillCopy
    let clock: any EngineClock
    private let logger: Logger
    /// Hands an event to an open request, and waits until that is durable.
    let operate: @Sendable (RequestID, RequestEvent) async -> OperationOutcome
    private let current = Mutex(WireReplay(state: .idle))
    /// The requests of which something was left where the rows of a source led.
    private let told = Mutex<[TargetName: Set<RequestID>]>([:])
    private let orders: AsyncStream<ReplayInput>
    private let order: AsyncStream<ReplayInput>.Continuation

    init(
        state: StateDatabase,
        ledger: LedgerKeeper,
        hasher: any KeyedHasher,
        registry: AdapterRegistry,
        clock: any EngineClock,
        logger: Logger,
        makeCopy: @escaping @Sendable (TargetName, String) async -> DrillCopy,
        operate: @escaping @Sendable (RequestID, RequestEvent) async -> OperationOutcome
    ) {
        self.state = state
        self.ledger = ledger
        self.hasher = hasher
        self.registry = registry
        self.clock = clock
        self.logger = logger
        self.makeCopy = makeCopy
        self.operate = operate
        (orders, order) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// The replay that runs, or ran last.
    var progress: WireReplay { current.withLock { $0 } }

    /// Has ``run()`` replay; what it has been told of under the same id it is not told again, so a
    /// caller whose answer was lost may ask once more.
    ///
    /// - Throws: ``Control/ControlProblem`` with `wrong_state` while one runs, `unknown_target`, or
    ///   `malformed_field` for a time to come: nothing would be erased again, or too much.
    func begin(_ input: ReplayInput) throws(ControlProblem) {
        if let target = input.target, registry.current.targets[target] == nil {
            throw ControlProblem(.unknownTarget)
        }
        let now = clock.now()
        for (field, time) in [("since", input.since), ("restored_at", input.restoredAt ?? now)]
        where time > now {
            throw ControlProblem(
                .malformedField,
                "'\(field)' is in the future; it is \(now.rfc3339)"
            )
        }
        let isNew: Bool? = current.withLock { progress in
            if let id = input.id, progress.id == id { return false }
            guard progress.state.known != .running else { return nil }
            progress = WireReplay(state: .running)
            progress.id = input.id
            progress.isDrill = input.isDrill
            progress.since = input.since
            return true
        }
        guard let isNew else { throw ControlProblem(.wrongState, "a replay is running") }
        guard isNew else { return }
        told.withLock { $0 = [:] }
        order.yield(input)
    }

    /// Replays whenever it was begun, until the task is cancelled.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func run() async throws {
        for await input in orders {
            logger.note(.replayStarted, ["detail": input.isDrill ? "drill" : "replay"])
            do {
                try await replay(input)
                judgeNewer(input)
            } catch let error as DaemonError {
                logger.error("a replay failed", metadata: ["error": "\(error)"])
                note("state", in: nil, error: "checkpoint_file")
            } catch let error as any StoreFailure where error.isRetryable {
                note("state", in: nil, error: "state_unavailable")
            }
            let done = current.withLock { progress in
                let isWhole = progress.targets.allSatisfy { $0.error == nil }
                progress.state = .known(isWhole ? .finished : .incomplete)
                return progress
            }
            let erased = done.targets.reduce(0) { $0 + $1.erased }
            let event: JournalEvent =
                done.state.known == .finished ? .replayFinished : .replayIncomplete
            logger.note(event, ["count": "\(erased)"])
        }
    }

    /// Calls a store not done whose data is newer than the erasure because it dates that itself.
    ///
    /// It came with a restoration, or with a later life of the user: only who restored knows.
    private func judgeNewer(_ input: ReplayInput) {
        guard input.restoredAt == nil else { return }
        let dated = registry.current.configuration.targets.filter(\.kind.family.datesByRestoration)
        let names = Set(dated.map(\.name.rawValue))
        current.withLock { progress in
            for index in progress.targets.indices {
                let target = progress.targets[index]
                guard names.contains(target.name), target.newer > 0, target.error == nil
                else { continue }
                progress.targets[index].error = "newer_than_erasure"
                progress.targets[index].detail =
                    "if it was restored, say when with --restored-at; if not, replay the others"
            }
        }
    }

    /// Finds which of some erased users have data in the stores again, and purges nothing.
    ///
    /// For a desk that nobody else has replay.
    ///
    /// - Parameter tombstones: At most ``tombstonesMax``.
    /// - Returns: What each target has of them, and of whom.
    /// - Throws: `CancellationError`.
    func look(
        for tombstones: [Tombstone]
    ) async throws -> (targets: [WireReplayTarget], found: [ReplayFinding]) {
        var input = ReplayInput(since: .distantPast)
        input.isDrill = true
        current.withLock { $0 = WireReplay(state: .running) }
        let known = Self.latest(tombstones)
        var found: [ReplayFinding] = []
        for target in targets(input) {
            let pass = ReplayPass(target, known, input, hasher)
            for orders in try await batches(pass) ?? [] { found += try await look(orders, pass) }
        }
        return (progress.targets, found)
    }

    /// Ends ``run()`` after what it does.
    func stop() { order.finish() }
}

// MARK: - The work

extension ReplayService {
    private func replay(_ input: ReplayInput) async throws {
        // Who was erased, and who holds what, is told by a state that nobody vouches for.
        if !input.isDrill, let alarm = await ledger.health.alarm {
            return note("state", in: nil, error: alarm.rawValue)
        }
        let learned = try await ledger.learnTombstones(since: input.since)
        if learned > 0 {
            logger.notice("tombstones taken up", metadata: ["count": "\(learned)"])
        }
        if !input.isDrill { try await reopen(input) }
        guard let name = input.target, let place = input.copy else {
            return try await replay(input, in: targets(input))
        }
        // Never the store itself in the place of a copy that cannot be made.
        let copy = await makeCopy(name, place)
        do {
            switch copy {
            case .made(let target, _):
                let keyed = registry.current.targets[name] as? KeyedTarget
                try await replay(input, in: [keyed?.byKey(in: target) ?? target])
            case .refused(let code, let detail):
                note(name.rawValue, in: nil, error: code)
                change(name.rawValue) { $0.detail = detail }
            }
        } catch {
            await copy.shutDown()
            throw error
        }
        await copy.shutDown()
    }

    private func replay(_ input: ReplayInput, in targets: [any PurgeTarget]) async throws {
        for target in targets {
            current.withLock { $0.targets.append(WireReplayTarget(name: target.name.rawValue)) }
        }
        if input.copy != nil, let problem = await targets.first?.diagnose().first {
            // Also where no erasure is to be repeated: the drill is to show that the copy works.
            note(targets[0].name.rawValue, in: nil, error: EffectFailure.misconfigured.code)
            return change(targets[0].name.rawValue) { $0.detail = problem }
        }
        var position = 0
        while true {
            let (page, next) = try await state.tombstones(
                since: input.since,
                after: position,
                limit: Self.tombstonesMax
            )
            guard !page.isEmpty else { return }
            position = next
            current.withLock { $0.tombstones += page.count { !$0.isKey } }
            let known = Self.latest(page)
            // Of ids, too: their user may have been erased before `since`.
            if !input.isDrill { try await finishDependents(of: page, input) }
            for target in targets {
                var pass = ReplayPass(target, known, input, hasher)
                pass.withoutTimestamps = withoutTimestamps(target.name)
                try await replay(pass)
            }
        }
    }

    /// Of several lives of an account, or owners of a shared id, the last erasure counts.
    private static func latest(_ tombstones: [Tombstone]) -> [[UInt8]: Tombstone] {
        Dictionary(tombstones.map { ($0.hash, $0) }) { $0.erasedAt > $1.erasedAt ? $0 : $1 }
    }

    func targets(_ input: ReplayInput) -> [any PurgeTarget] {
        let adapters = registry.current
        guard let name = input.target else {
            return adapters.configuration.targets.compactMap { target in
                adapters.targets[target.name].map { ($0 as? KeyedTarget)?.byKey() ?? $0 }
            }
        }
        let keyed = adapters.targets[name] as? KeyedTarget
        return (keyed?.byKey() ?? adapters.targets[name]).map { [$0] } ?? []
    }

    private func replay(_ pass: ReplayPass) async throws {
        guard let batches = try await batches(pass) else { return }
        if !pass.input.isDrill { try await endBegun(pass, besides: batches) }
        for orders in batches {
            let sure = orders.filter(pass.isSure)
            if pass.isLookOnly {
                _ = try await look(sure, pass)
            } else {
                let done = try await erase(sure, pass)
                try await eraseDependents(of: done, pass)
            }
            try await leave(orders.filter { !pass.isSure($0) }, pass)
        }
    }

    /// What of a target has no time cutoff.
    private func withoutTimestamps(_ name: TargetName) -> String? {
        let configuration = registry.current.configuration
        return configuration.targets.first { $0.name == name }.flatMap(
            configuration.withoutTimestamps
        )
    }

    /// Counts what nobody can tell from a later life of the account, and leaves it alone.
    private func leave(_ orders: [ReplayOrder], _ pass: ReplayPass) async throws {
        guard !orders.isEmpty, let withoutTimestamps = pass.withoutTimestamps else { return }
        try Task.checkCancellation()
        let name = pass.target.name
        // What the rows of its source led to, and was left, was counted then.
        let told = remember([], in: name, isFirst: false)
        let answers = await pass.target.verify(orders.map(\.purge))
        change(name.rawValue) { target in
            for (order, answer) in zip(orders, answers) {
                switch answer {
                case .clean, .notLookedFor: break
                case .failure(let failure): target.error = target.error ?? failure.code
                case .remaining(let count):
                    guard !told.contains(order.purge.request) else { continue }
                    target.found += 1
                    target.newer += count
                    guard target.error == nil else { continue }
                    target.error = "undated"
                    target.detail = withoutTimestamps + pass.undatedAdvice
                }
            }
        }
    }

    /// What a store lists of those who were erased; `nil` where it cannot list anybody.
    private func batches(_ pass: ReplayPass) async throws -> [[ReplayOrder]]? {
        let name = pass.target.name.rawValue
        let answer = try await users(of: pass.target) { pass.tombstone(of: $0) != nil }
        guard case .found(let users) = answer else {
            if case .failure(let failure) = answer {
                note(name, in: nil, error: failure.code)
                return nil
            }
            if case .unknown(let why) = answer { change(name) { $0.detail = why } }
            note(name, in: nil, error: "cannot_list")
            return nil
        }
        // Of several ids of a request none leads on while another one stays.
        let all = users.compactMap(pass.order(for:))
        var rest = all.sorted { $0.purge.request < $1.purge.request }[...]
        var batches: [[ReplayOrder]] = []
        while !rest.isEmpty {
            var orders = rest.prefix(Self.batchMax)
            let last = orders.last?.purge.request
            orders += rest.dropFirst(Self.batchMax).prefix { $0.purge.request == last }
            rest = rest.dropFirst(orders.count)
            batches.append(Array(orders))
        }
        return batches
    }

    /// A store whose file was put back under an open connection notices that at the first look.
    private func users(
        of target: any PurgeTarget,
        where isErased: @escaping @Sendable (UserID) -> Bool
    ) async throws -> UsersAnswer {
        var answer = await target.users(where: isErased)
        for _ in 1..<Self.triesMax {
            guard case .failure = answer else { break }
            try await clock.sleep(until: clock.now() + Self.retryDelay)
            answer = await target.users(where: isErased)
        }
        return answer
    }

    /// Counts whose data is there again.
    private func look(
        _ orders: [ReplayOrder],
        _ pass: ReplayPass
    ) async throws -> [ReplayFinding] {
        try Task.checkCancellation()
        let answers = await pass.target.verify(orders.map(\.purge))
        return zip(orders, answers).compactMap { order, answer in
            note(pass.target.name.rawValue, in: answer, error: nil)
            guard case .remaining(let count) = answer else { return nil }
            return ReplayFinding(
                order: order,
                target: pass.target.name,
                rowCount: count,
                key: pass.byKey?.erased
            )
        }
    }

    private func note(_ name: String, in answer: VerifyAnswer?, error: String?) {
        change(name) { target in
            switch answer {
            case .remaining(let count)?:
                target.found += 1
                target.rows += count
            case .failure(let failure)?: target.error = failure.code
            case .clean?, .notLookedFor?, nil: break
            }
            if let error { target.error = error }
        }
    }

    /// Remembers of which requests something was left in a target, or tells of which.
    ///
    /// - Parameters:
    ///   - requests: Of these something was left now.
    ///   - name: The target.
    ///   - isFirst: The rows of its source led there; the store itself does not list them yet.
    /// - Returns: The requests that were counted before.
    func remember(
        _ requests: [RequestID],
        in name: TargetName,
        isFirst: Bool
    ) -> Set<RequestID> {
        told.withLock { told in
            guard isFirst else { return told[name] ?? [] }
            told[name, default: []].formUnion(requests)
            return []
        }
    }

    func note(reopened count: Int) { current.withLock { $0.reopened = count } }

    func change(_ name: String, _ body: (inout WireReplayTarget) -> Void) {
        current.withLock { progress in
            if let index = progress.targets.firstIndex(where: { $0.name == name }) {
                body(&progress.targets[index])
            } else {
                var target = WireReplayTarget(name: name)
                body(&target)
                progress.targets.append(target)
            }
        }
    }
}
