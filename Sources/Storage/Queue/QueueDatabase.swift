import Engine
import Lifecycle
import Synchronization

/// A queue in a database of the application, as the spool's service sees it.
///
/// Transactions commit in another order than that of their ids. So a read is a walk through all
/// rows that wait, from the lowest id to the highest that waited when it began: what was committed
/// before is found by its end. Rows that were taken are marked at once, and those that were
/// postponed are offered again by a rescan only.
final class QueueDatabase: SpoolAccess {
    private struct Walk: Sendable {
        /// The last id of each table when it began; `nil` where none waited.
        let last: [SpoolTable: Int64]
        private var passed: [SpoolTable: Int64] = [:]
        private var ended: Set<SpoolTable> = []

        init(last: [SpoolTable: Int64]) { self.last = last }

        /// `nil` when no row is left.
        func range(_ table: SpoolTable) -> ClosedRange<Int64>? {
            guard let last = last[table], !ended.contains(table) else { return nil }
            guard let passed = passed[table] else { return .min...last }
            return passed < last ? passed + 1...last : nil
        }

        mutating func pass(_ id: Int64?, of table: SpoolTable) {
            if let id { passed[table] = id } else { ended.insert(table) }
        }
    }

    private struct State {
        var facts: QueueFacts?
        /// Survives a reopening, so that another queue is noticed.
        var lastID: String?
        var isReplaced = false
        var tail: Walk?
        var rescan: Walk?
        var isRescanning = false
        /// What was handed out since the connection was opened; the last of it.
        var seen: Set<SpoolRow> = []
        var walkBeganAt = Duration.zero
        var walkAllowedAt = Duration.zero
    }

    let server: any QueueServer
    let hasher: any KeyedHasher
    let clock: SpoolClock
    private let name: String
    private let wakeInterval: Duration
    private let state = Mutex(State())

    /// Looks after `wakeInterval` where the server does not say that anything is new.
    init(
        _ server: any QueueServer,
        name: String,
        hasher: any KeyedHasher,
        clock: SpoolClock,
        wakeInterval: Duration
    ) {
        (self.server, self.name, self.hasher, self.clock) = (server, name, hasher, clock)
        self.wakeInterval = wakeInterval
    }

    var isOpen: Bool { state.withLock { $0.facts != nil } }
    var isInWAL: Bool { false }
    var isRescanning: Bool { state.withLock { $0.isRescanning } }

    var spoolID: String? {
        state.withLock { $0.facts }.map { SpoolSource.spoolID(queue: name, id: $0.id) }
    }

    func open() async -> SpoolAnswer<Void> {
        if isOpen { return .done(()) }
        do throws(SpoolFailure) {
            let facts = try await server.open()
            state.withLock { state in
                state.isReplaced = state.lastID.map { $0 != facts.id } ?? false
                (state.facts, state.lastID) = (facts, facts.id)
                (state.tail, state.rescan, state.isRescanning) = (nil, nil, false)
            }
            return .done(())
        } catch {
            return answer(error)
        }
    }

    /// The next access opens the connection anew.
    func close() {
        state.withLock { state in
            state.facts = nil
            state.seen = []
        }
    }

    func rewind() {
        state.withLock { state in
            (state.tail, state.seen) = (nil, [])
        }
    }

    /// Every read looks.
    func readAgain() {}

    func beginRescan(isForced: Bool) -> Bool {
        state.withLock { state in
            // Each walk of the tail is one of everything.
            guard isForced || state.isRescanning else { return false }
            if !state.isRescanning { (state.rescan, state.isRescanning) = (nil, true) }
            return true
        }
    }

    func watch(every sweepInterval: Duration) throws(StorageError) -> any SpoolWaker {
        QueueWaker(
            server: server,
            interval: wakeInterval,
            sweepInterval: sweepInterval,
            clock: clock
        )
    }

    func answer<Value>(_ failure: SpoolFailure) -> SpoolAnswer<Value> {
        if failure == .locked { return .busy }
        if failure == .unreachable { close() }
        return .failure(failure)
    }
}

// MARK: - Reading

extension QueueDatabase {
    func read(
        _ range: SpoolDatabase.Range,
        _ tables: SpoolDatabase.Tables,
        limit: Int
    ) async -> SpoolAnswer<SpoolDatabase.Reading> {
        guard let spoolID else { return .closed }
        let known = state.withLock { range == .tail ? $0.tail : $0.rescan }
        if known == nil, range == .tail, await !waitForTurn() { return .closed }
        do throws(SpoolFailure) {
            var reading = SpoolDatabase.Reading()
            reading.isWalkStart = known == nil
            var walk: Walk
            if let known { walk = known } else { walk = try await beginWalk() }
            let raws = try await rows(of: tables, &walk, &reading, limit: limit)
            let isTail = range == .tail
            let new = isTail ? unseen(raws, of: spoolID) : raws
            let checks = SpoolChecks(spoolID: spoolID, hasher: hasher)
            (reading.batch, reading.refusedCredentials) = checks.sort(new)
            note(walk, range, isAtEnd: reading.isAtEnd)
            (reading.isReplaced, reading.foreignCount) = takeFacts()
            reading.hasOtherID = reading.isReplaced
            return .done(reading)
        } catch {
            return answer(error)
        }
    }

    /// A walk that found much is not repeated at once: it may have found what nobody takes.
    private func waitForTurn() async -> Bool {
        let rest = state.withLock { $0.walkAllowedAt } - clock.uptime()
        return rest > .zero ? await clock.pause(rest) : !Task.isCancelled
    }

    private func beginWalk() async throws(SpoolFailure) -> Walk {
        let now = clock.uptime()
        state.withLock { $0.walkBeganAt = now }
        var last: [SpoolTable: Int64] = [:]
        for table in SpoolTable.allCases { last[table] = try await server.lastID(of: table) }
        return Walk(last: last)
    }

    private func rows(
        of tables: SpoolDatabase.Tables,
        _ walk: inout Walk,
        _ reading: inout SpoolDatabase.Reading,
        limit: Int
    ) async throws(SpoolFailure) -> [SpoolRawRow] {
        var found: [SpoolRawRow] = []
        for table in [SpoolTable.credentials, .requests] {
            if table == .requests, tables == .credentials || !reading.areCredentialsAtEnd { break }
            while let range = walk.range(table), found.count < limit {
                let page = try await server.page(
                    of: table,
                    in: range,
                    limit: limit - found.count
                )
                reading.unreadableCount += page.oversizedCount
                walk.pass(page.lastID, of: table)
                found += page.rows.map { SpoolRawRow(table: table, $0) }
            }
            let isAtEnd = walk.range(table) == nil
            reading.isAtEnd = isAtEnd
            if table == .credentials { reading.areCredentialsAtEnd = isAtEnd }
        }
        return found
    }

    /// Rows that were not handed out yet; remembers them.
    private func unseen(_ raws: [SpoolRawRow], of spoolID: String) -> [SpoolRawRow] {
        let rows = raws.map {
            SpoolRow(spoolID: spoolID, rowID: $0.id, fingerprint: $0.fingerprint(hasher))
        }
        return state.withLock { state in
            if state.seen.count > QueueLimits.seenMax { state.seen = [] }
            return zip(raws, rows).filter { state.seen.insert($0.1).inserted }.map(\.0)
        }
    }

    /// Whether another queue is in the place of the one before, once; and what is foreign in it.
    private func takeFacts() -> (isReplaced: Bool, foreignCount: Int?) {
        state.withLock { state in
            defer { state.isReplaced = false }
            return (state.isReplaced, state.facts?.foreignCount)
        }
    }

    private func note(_ walk: Walk, _ range: SpoolDatabase.Range, isAtEnd: Bool) {
        let now = clock.uptime()
        state.withLock { state in
            switch range {
            case .tail:
                state.tail = isAtEnd ? nil : walk
                guard isAtEnd else { return }
                let cost = now - state.walkBeganAt
                state.walkAllowedAt =
                    cost > QueueLimits.cheapWalk
                    ? now + min(cost * QueueLimits.walkShare, QueueLimits.walkPauseMax) : now
            case .all:
                state.rescan = isAtEnd ? nil : walk
                if isAtEnd { state.isRescanning = false }
            }
        }
    }
}

extension SpoolRawRow {
    init(table: SpoolTable, _ row: QueueRow) {
        self.init(table: table, id: row.id, cells: row.cells.map { $0.map { .text($0) } ?? .null })
    }
}
