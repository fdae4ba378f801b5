import Engine
import Lifecycle

/// Runs of rechecks, samples and replays, as the process has them.
///
/// A crash loses them all.
struct RunBook {
    struct Live {
        var machine: RecheckRun
        /// The deletions that were over when it began.
        let erased: Set<RequestID>
        /// Of whom a recheck was answered with data there.
        var returned: Set<RequestID> = []
    }

    var live: [Int: Live] = [:]
    var lastNumber = 0
    /// Calls that wait for a turn at their store.
    var turns: [UInt64: (run: Int, effect: RecheckEffect)] = [:]
    /// When the process rechecks by itself.
    var nextRecheck: WallTime?
    /// The answers that operators have, by the name of the replay.
    var reports: [String: RecheckReport] = [:]
    /// What the process knows of stores that failed a recheck.
    var retries: [TargetName: Retry] = [:]
    /// Of what the process has alarmed, or recorded.
    var alarms: Set<RequestID> = []
    var samplePosition = 0
    var purgeCount = 0
    var runCount = 0
}

/// What the state has of them.
struct StoredRuns {
    struct Record: Equatable {
        var stage: Int
        var openedAt: WallTime
        var dueAt: WallTime
        var isReopened = false
    }

    var tombstones: [Tombstone] = []
    var records: [RequestID: Record] = [:]
    var begun: [TargetName: Set<BegunErasure>] = [:]
    var outcomes: [RequestID: [Recheck.Outcome]] = [:]
    var replayed: [(request: RequestID, target: TargetName, isResumed: Bool)] = []
}

extension Simulator {
    static let recheckIntervals = [Duration.seconds(86_400), .seconds(7 * 86_400)]

    /// The files have no timestamps.
    static var recheckEnvironment: RecheckEnvironment {
        var undated = RecheckStore(name: files)
        undated.withoutTimestamps = "files have no date"
        return RecheckEnvironment(
            stores: [RecheckStore(name: database), undated],
            intervals: recheckIntervals
        )
    }

    // MARK: What operators and timers do

    /// A backup is put back: everything of erased users is there again.
    mutating func restoreBackup(_ target: TargetName) {
        for (user, count) in world.rows[target] ?? [:] where count == 0 {
            world.rows[target]?[user] = 3
            world.restored[target, default: []].insert(user)
        }
    }

    /// Replays as an operator does: again until there is an answer, also across a crash.
    mutating func replayUntilDone(_ terms: ReplayTerms) {
        guard let id = terms.id, book.reports[id] == nil else { return }
        let isRunning = book.live.values.contains { live in
            if case .replay = live.machine.kind { true } else { false }
        }
        if !isRunning { begin(.replay(terms)) }
        at(.seconds(600)) { $0.replayUntilDone(terms) }
    }

    mutating func sampleOnce() { begin(.sample(after: book.samplePosition)) }

    /// What a start does, and a recheck that becomes due.
    mutating func startRechecks() {
        book.nextRecheck = nil
        let isRunning = book.live.values.contains { $0.machine.kind == .rechecks }
        guard !isRunning, !store.runs.records.isEmpty else { return }
        begin(.rechecks)
    }

    /// After each commit: a deletion that ended may be the next one to be rechecked.
    mutating func scheduleRechecks() {
        guard let next = store.runs.records.values.map(\.dueAt).min(),
            book.nextRecheck.map({ next < $0 }) ?? true
        else { return }
        book.nextRecheck = next
        let delay = max(.zero, next.since(clock))
        at(delay) { sim in
            guard let due = sim.book.nextRecheck, due <= sim.clock else { return }
            sim.startRechecks()
        }
    }

    private mutating func begin(_ kind: RecheckRun.Kind) {
        book.lastNumber += 1
        book.runCount += 1
        var machine = RecheckRun(kind)
        if kind == .rechecks { machine.retries = book.retries }
        book.live[book.lastNumber] = RunBook.Live(
            machine: machine,
            erased: Set(store.runs.tombstones.map(\.request))
        )
        step(book.lastNumber, .begin)
    }

    // MARK: The shell of a run

    mutating func step(_ number: Int, _ event: RecheckEvent) {
        guard var live = book.live[number] else { return }
        var context = StepContext(now: clock, random: random)
        let effects = live.machine.handle(event, &context, in: Self.recheckEnvironment)
        random = context.random
        book.live[number] = live
        for case .announce(let announcement) in effects { note(announcement) }
        checkAlarms(event)
        for effect in effects {
            if case .announce = effect { continue }
            actionCount += 1
            if isTracing { print(now.rfc3339, "run \(number)", effect) }
            if crashAtAction == actionCount || chance(faults.crashPerMille) {
                if Bool.random(using: &random) { _ = perform(effect, of: number) }
                crash()
                return
            }
            begin(effect, of: number)
        }
        if live.machine.phase.isEnded { ended(number) }
    }

    private mutating func begin(_ effect: RecheckEffect, of number: Int) {
        switch effect {
        case .store(let name, let view, let call) where view != .copy:
            switch call {
            case .purge(let orders, _, _): takeTurn(number, effect, name, orders.map(\.request))
            case .verify: takeTurn(number, effect, name, [])
            case .list, .check: schedule(.run(number, effect), after: latency(400))
            }
        case .wait(let time): schedule(.run(number, effect), after: max(.zero, time.since(clock)))
        case .state(.restore(let requests, let names, let time)):
            restoreOpen(requests, .restored(names, at: time), of: number)
        case .store, .state, .openCopy, .announce:
            schedule(.run(number, effect), after: latency(5))
        }
    }

    private mutating func takeTurn(
        _ number: Int,
        _ effect: RecheckEffect,
        _ name: TargetName,
        _ requests: [RequestID]
    ) {
        let ticket = random.next() | 1
        book.turns[ticket] = (number, effect)
        turn([.takeTurn(name, requests, PurgeGate(), Ticket(number: ticket))])
    }

    /// The store is free for a call that waited.
    mutating func turnCame(_ ticket: UInt64) {
        guard let (number, effect) = book.turns.removeValue(forKey: ticket) else { return }
        schedule(.run(number, effect), after: latency(faults.callLatencyMaxMs))
    }

    /// Waits until the engine has made every operation durable.
    private mutating func restoreOpen(
        _ requests: [RequestID],
        _ event: RequestEvent,
        of number: Int
    ) {
        let tickets = requests.map { id in
            store.runs.records[id] = nil
            world.reopened.insert(id)
            return operate(id, event)
        }
        awaitOutcomes(tickets, of: number)
    }

    private mutating func awaitOutcomes(_ tickets: [UInt64], of number: Int) {
        at(.seconds(1)) { sim in
            guard sim.book.live[number] != nil else { return }
            if tickets.allSatisfy({ sim.outcomes[$0] != nil }) {
                sim.step(number, .restored)
            } else {
                sim.awaitOutcomes(tickets, of: number)
            }
        }
    }

    mutating func perform(run number: Int, _ effect: RecheckEffect) {
        guard book.live[number] != nil else { return }
        let event = perform(effect, of: number)
        if case .store(let name, let view, let call) = effect, view != .copy {
            switch call {
            case .purge, .verify: turn([.endTurn(name)])
            case .list, .check: break
            }
        }
        if let event { step(number, event) }
    }

    private mutating func ended(_ number: Int) {
        guard let live = book.live.removeValue(forKey: number) else { return }
        scheduleRechecks()
        switch live.machine.kind {
        case .rechecks: book.retries = live.machine.retries
        case .sample:
            book.samplePosition = live.machine.report.position
        case .replay(let terms):
            checkReplay(live, terms)
            if let id = terms.id { book.reports[id] = live.machine.report }
        }
    }

    private mutating func note(_ announcement: RecheckAnnouncement) {
        switch announcement {
        case .rechecked(let ended) where ended.recheck?.outcome == .returned:
            book.alarms.insert(ended.due.sealed.request)
        case .reopened(let request, _): book.alarms.insert(request)
        case .replayBegan, .replayEnded, .rechecked, .sampled, .unsearched, .answered, .overdue:
            break
        }
    }
}
