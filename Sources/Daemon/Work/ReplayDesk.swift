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
/// those are purged of them, too.
final class ReplayDesk: Sendable {
    /// Tombstones held in memory at once, some 20 MB; more take several passes over the store.
    static let tombstonesMax = 200_000
    /// Users in one call of a target, as the engine makes them.
    private static let batchMax = 128
    /// A store that is busy or away for a moment is asked again as often.
    private static let triesMax = 5
    private static let retryDelay = Duration.seconds(1)

    let state: StateDatabase
    private let ledger: LedgerKeeper
    private let hasher: any KeyedHasher
    let shelf: AdapterShelf
    /// Makes a target that works on a copy.
    private let makeCopy: @Sendable (TargetName, String) throws -> (any PurgeTarget)?
    private let clock: any EngineClock
    private let logger: Logger
    private let current = Mutex(WireReplay(state: .idle))
    private let orders: AsyncStream<ReplayInput>
    private let order: AsyncStream<ReplayInput>.Continuation

    init(
        state: StateDatabase,
        ledger: LedgerKeeper,
        hasher: any KeyedHasher,
        shelf: AdapterShelf,
        clock: any EngineClock,
        logger: Logger,
        makeCopy: @escaping @Sendable (TargetName, String) throws -> (any PurgeTarget)?
    ) {
        self.state = state
        self.ledger = ledger
        self.hasher = hasher
        self.shelf = shelf
        self.clock = clock
        self.logger = logger
        self.makeCopy = makeCopy
        (orders, order) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// The replay that runs, or ran last.
    var progress: WireReplay { current.withLock { $0 } }

    /// Has ``run()`` replay.
    ///
    /// - Throws: ``Control/ControlProblem`` with `wrong_state` while one runs, `unknown_target`, or
    ///   `malformed_field` for a time to come: nothing would be erased again, or too much.
    func begin(_ input: ReplayInput) throws(ControlProblem) {
        if let target = input.target, shelf.current.targets[target] == nil {
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
        let isFree = current.withLock { progress in
            guard progress.state.known != .running else { return false }
            progress = WireReplay(state: .running)
            progress.isDrill = input.isDrill
            progress.since = input.since
            return true
        }
        guard isFree else { throw ControlProblem(.wrongState, "a replay is running") }
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

    /// Counts which of some erased users have data in the stores again, and purges nothing.
    ///
    /// For a desk that nobody else has replay.
    ///
    /// - Parameter tombstones: At most ``tombstonesMax``.
    /// - Returns: What each target has of them.
    /// - Throws: `CancellationError`.
    func look(for tombstones: [Tombstone]) async throws -> [WireReplayTarget] {
        var input = ReplayInput(since: .distantPast)
        input.isDrill = true
        current.withLock { $0 = WireReplay(state: .running) }
        let known = Dictionary(tombstones.map { ($0.userHash, $0) }) {
            $0.erasedAt > $1.erasedAt ? $0 : $1
        }
        for target in try targets(input) {
            try await replay(Pass(target: target, tombstones: known, input: input))
        }
        return progress.targets
    }

    /// Ends ``run()`` after what it does.
    func stop() { order.finish() }
}

// MARK: - The work

extension ReplayDesk {
    /// A target and the tombstones to look for in it.
    struct Pass {
        let target: any PurgeTarget
        let tombstones: [[UInt8]: Tombstone]
        let input: ReplayInput
        /// A copy of the store is worked on, not the store.
        var isCopy: Bool { input.path != nil }
        /// Nothing is purged: neither the store nor a copy of it.
        var isLookOnly: Bool { input.isDrill && input.path == nil }
    }

    private func replay(_ input: ReplayInput) async throws {
        let learned = try await state.learn(try await ledger.tombstones(since: input.since))
        if learned > 0 {
            logger.notice("tombstones taken up", metadata: ["count": "\(learned)"])
        }
        let targets = try targets(input)
        for target in targets {
            current.withLock { $0.targets.append(WireReplayTarget(name: target.name.rawValue)) }
        }
        if input.path != nil, let problem = await targets.first?.diagnose().first {
            // Also where no erasure is to be repeated: the drill is to show that the copy works.
            note(targets[0].name.rawValue, in: nil, error: Trouble.misconfigured.code)
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
            current.withLock { $0.tombstones += page.count }
            // Of several lives of an account the last erasure counts.
            let known = Dictionary(page.map { ($0.userHash, $0) }) {
                $0.erasedAt > $1.erasedAt ? $0 : $1
            }
            if !input.isDrill { try await finishDependents(of: Array(known.values), input) }
            for target in targets {
                try await replay(Pass(target: target, tombstones: known, input: input))
            }
        }
    }

    private func targets(_ input: ReplayInput) throws -> [any PurgeTarget] {
        let adapters = shelf.current
        guard let name = input.target else {
            return adapters.configuration.targets.compactMap { adapters.targets[$0.name] }
        }
        if let path = input.path {
            // Never the store itself in the place of a copy that cannot be made.
            guard let copy = try makeCopy(name, path) else {
                note(name.rawValue, in: nil, error: "no_copies")
                return []
            }
            return [copy]
        }
        return adapters.targets[name].map { [$0] } ?? []
    }

    private func replay(_ pass: Pass) async throws {
        let (tombstones, hasher) = (pass.tombstones, hasher)
        let name = pass.target.name.rawValue
        let answer = try await users(of: pass.target) { user in
            tombstones[hasher.hash(user.exposeText(), domain: .user)] != nil
        }
        guard case .found(let users) = answer else {
            if case .trouble(let trouble) = answer {
                return note(name, in: nil, error: trouble.code)
            }
            if case .unknown(let why) = answer { change(name) { $0.detail = why } }
            return note(name, in: nil, error: "cannot_list")
        }
        var rest = users[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let orders = rest.prefix(Self.batchMax).compactMap { user -> (PurgeOrder, Tombstone)? in
                let hash = hasher.hash(user.exposeText(), domain: .user)
                guard let tombstone = tombstones[hash] else { return nil }
                return (
                    PurgeOrder(
                        request: tombstone.request,
                        user: user,
                        fence: max(tombstone.fence, pass.input.restoredAt ?? .distantPast)
                    ), tombstone
                )
            }
            rest = rest.dropFirst(Self.batchMax)
            guard !pass.isLookOnly else {
                try await look(orders, pass)
                continue
            }
            let done = try await erase(orders, pass)
            try await eraseDependents(of: done, pass)
        }
    }

    /// A store whose file was put back under an open connection notices that at the first look.
    private func users(
        of target: any PurgeTarget,
        where isErased: @escaping @Sendable (UserID) -> Bool
    ) async throws -> UsersAnswer {
        var answer = await target.users(where: isErased)
        for _ in 1..<Self.triesMax {
            guard case .trouble = answer else { break }
            try await clock.sleep(until: clock.now() + Self.retryDelay)
            answer = await target.users(where: isErased)
        }
        return answer
    }

    /// Counts whose data is there again.
    private func look(_ orders: [(PurgeOrder, Tombstone)], _ pass: Pass) async throws {
        for answer in await pass.target.verify(orders.map(\.0)) {
            note(pass.target.name.rawValue, in: answer, error: nil)
        }
    }

    private func note(_ name: String, in answer: VerifyAnswer?, error: String?) {
        change(name) { target in
            switch answer {
            case .remaining(let count)?:
                target.found += 1
                target.rows += count
            case .trouble(let trouble)?: target.error = trouble.code
            case .clean?, nil: break
            }
            if let error { target.error = error }
        }
    }

    /// Purges and verifies, a few times where that takes it.
    ///
    /// - Returns: The orders of which nothing is left.
    func erase(
        _ orders: [(PurgeOrder, Tombstone)],
        _ pass: Pass
    ) async throws -> [(PurgeOrder, Tombstone)] {
        var open = orders
        var done: [(order: (PurgeOrder, Tombstone), rows: Int)] = []
        var trouble: String?
        var (rows, fenced) = ([RequestID: Int](), [RequestID: Int]())
        for attempt in 1...Self.triesMax where !open.isEmpty {
            if attempt > 1 { try await clock.sleep(until: clock.now() + Self.retryDelay) }
            // Whoever placed a hold wants the data to stay, wherever it came back from.
            let holds = pass.isCopy ? [] : try await state.pauses().holds
            let ours = holds.filter { $0.target == pass.target.name }
            guard ours.allSatisfy({ $0.rows != nil }) else {
                trouble = ParkReason.onHold.rawValue
                break
            }
            for index in open.indices { open[index].0.holds = ours }
            let purged = await pass.target.purge(open.map(\.0))
            let verified = await pass.target.verify(open.map(\.0))
            var left: [(PurgeOrder, Tombstone)] = []
            for (index, order) in open.enumerated() {
                switch purged[index] {
                case .done(let counts), .held(let counts, _):
                    rows[order.0.request, default: 0] += counts.workedCount
                    fenced[order.0.request] = counts.entries.reduce(0) { $0 + $1.fencedCount }
                case .trouble: break
                }
                switch (purged[index], verified[index]) {
                case (.done, .clean): done.append((order, rows[order.0.request] ?? 0))
                case (.trouble(let cause), _), (_, .trouble(let cause)):
                    trouble = cause.code
                    left.append(order)
                case (.held, _):
                    trouble = ParkReason.onHold.rawValue
                    left.append(order)
                case (.done, .remaining):
                    trouble = "remaining_rows"
                    left.append(order)
                }
            }
            open = left
        }
        let (name, found) = (pass.target.name, done.filter { $0.rows > 0 })
        change(name.rawValue) { target in
            target.found += found.count + open.count
            target.erased += found.count
            target.rows += found.reduce(0) { $0 + $1.rows }
            target.fenced += fenced.values.reduce(0, +)
            if !open.isEmpty { target.error = trouble }
        }
        if !pass.input.isDrill, !found.isEmpty {
            let erased = found.map { (tombstone: $0.order.1, rows: $0.rows) }
            try await state.recordReplay(of: erased, in: name, at: clock.now())
        }
        return done.map(\.order)
    }

    private func change(_ name: String, _ body: (inout WireReplayTarget) -> Void) {
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
