import Control
import Engine
import Lifecycle
import Storage

extension ReplayService {
    /// A store that is busy or away for a moment is asked again as often.
    static let triesMax = 5
    static let retryDelay = Duration.seconds(1)

    /// An order and what became of it.
    private struct Work {
        var order: ReplayOrder
        var rows = 0
        var newer = 0
        /// An earlier try had begun, and what that took is not known.
        var isResumed = false
        /// It is a shared id, or has some, that rows name again.
        private var isShared = false

        var request: RequestID { order.purge.request }

        /// Something went, now or in an earlier try.
        ///
        /// Where something stays that the store lists, or that leads to it, nobody can tell whether
        /// there ever was more.
        var isErased: Bool { rows > 0 || (isResumed && newer == 0 && !isShared) }

        init(order: ReplayOrder) { self.order = order }

        mutating func note(_ answer: PurgeAnswer) {
            switch answer {
            case .done(let counts), .held(let counts, _), .halted(let counts):
                rows += counts.workedCount
                newer = counts.entries.reduce(0) { $0 + $1.newerCount }
                isShared = counts.entries.contains {
                    $0.action == KeyedTarget.sharedAction && $0.rowCount > 0
                }
            case .failure(.lost): isResumed = true
            case .stopped, .failure: break
            }
        }
    }

    /// Purges and verifies, a few times where that takes it.
    ///
    /// - Returns: The orders of the requests of which nothing is left.
    func erase(_ orders: [ReplayOrder], _ pass: ReplayPass) async throws -> [ReplayOrder] {
        try Task.checkCancellation()
        var open = orders.map { Work(order: $0) }
        var done: [Work] = []
        var held: [Work] = []
        var failure: String?
        let round = String(UInt64.random(in: .min ... .max), radix: 36)
        for attempt in 1...Self.triesMax where !open.isEmpty {
            if attempt > 1 { try await clock.sleep(until: clock.now() + Self.retryDelay) }
            guard let holds = pass.holds(among: try await state.pauses().holds) else {
                failure = ParkReason.onHold.rawValue
                break
            }
            if !pass.isCopy {
                let users = try await state.usersOnHold(withTombstones: pass.byKey != nil)
                held += open.filter { users.includes($0.order.tombstone) }
                open.removeAll { users.includes($0.order.tombstone) }
            }
            if !held.isEmpty { failure = ParkReason.onHold.rawValue }
            guard !open.isEmpty else { break }
            if attempt == 1 { try await begin(&open, pass) }
            for index in open.indices {
                open[index].order.purge.holds = holds
                open[index].order.purge.round = round
            }
            let purged = await pass.target.purge(open.map(\.order.purge))
            let verified = await pass.target.verify(open.map(\.order.purge))
            var left: [Work] = []
            for index in open.indices {
                open[index].note(purged[index])
                guard let cause = Self.failure(purged[index], verified[index]) else {
                    done.append(open[index])
                    continue
                }
                failure = cause
                left.append(open[index])
            }
            open = left
        }
        open += held
        try await record(done, open, failure, pass)
        let left = Set(open.map(\.request))
        return done.map(\.order).filter { !left.contains($0.purge.request) }
    }

    /// Notes what is about to go, so that it is told also by whoever goes on after a crash.
    private func begin(_ open: inout [Work], _ pass: ReplayPass) async throws {
        guard !pass.input.isDrill else { return }
        let begun = try await state.beginReplay(
            of: open.map { pass.begun($0.order) },
            in: pass.target.name
        )
        for index in open.indices {
            open[index].isResumed = begun.contains(pass.begun(open[index].order))
        }
    }

    /// Ends what was begun in a store that does not list it any more.
    ///
    /// - Parameters:
    ///   - pass: The target, and what was looked for in it.
    ///   - listed: What it has.
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func endBegun(_ pass: ReplayPass, besides listed: [[ReplayOrder]]) async throws {
        let name = pass.target.name
        let there = Set(listed.joined().map(\.tombstone.hash))
        let gone = try await state.begunReplays(in: name).filter { begun in
            pass.tombstones[begun.hash]?.isKey == (pass.byKey != nil) && !there.contains(begun.hash)
        }
        for start in stride(from: 0, to: gone.count, by: Self.batchMax) {
            let some = gone[start..<min(start + Self.batchMax, gone.count)]
            try await state.endReplay(
                of: some.map { EndedErasure($0, rows: 0, isResumed: true) },
                in: name,
                at: clock.now()
            )
            change(name.rawValue) { target in
                target.found += some.count
                target.erased += some.count
            }
        }
    }

    /// Why an order is not done; `nil` when it is.
    private static func failure(_ purged: PurgeAnswer, _ verified: VerifyAnswer) -> String? {
        switch (purged, verified) {
        case (.failure(let cause), _), (_, .failure(let cause)): cause.code
        case (.held, _), (.stopped, _), (.halted, _): ParkReason.onHold.rawValue
        case (.done, .remaining): "remaining_rows"
        case (.done, .clean), (.done, .notLookedFor): nil
        }
    }

    private func record(
        _ done: [Work],
        _ open: [Work],
        _ failure: String?,
        _ pass: ReplayPass
    ) async throws {
        let (name, erased) = (pass.target.name, done.filter(\.isErased))
        let leftBehind = open + done.filter { $0.newer > 0 }
        // What the rows of its source led to, and was left, is met again where the store lists it.
        let told = remember(leftBehind.map(\.request), in: name, isFirst: pass.byKey == nil)
        change(name.rawValue) { target in
            target.found += erased.count + open.count { !told.contains($0.request) }
            target.erased += erased.count
            target.rows += erased.reduce(0) { $0 + $1.rows }
            target.newer += leftBehind.reduce(0) {
                told.contains($1.request) ? $0 : $0 + $1.newer
            }
            if !open.isEmpty { target.error = failure }
        }
        guard !pass.input.isDrill, !done.isEmpty else { return }
        let ended = done.map { work in
            EndedErasure(
                pass.begun(work.order),
                rows: work.rows,
                isResumed: work.isResumed && work.isErased
            )
        }
        try await state.endReplay(of: ended, in: name, at: clock.now())
    }
}
