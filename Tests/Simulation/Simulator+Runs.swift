import Lifecycle

@testable import Engine

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
        /// Of whom a sample was answered with data there.
        var sampled: Set<RequestID> = []
        /// Those that it wants to have rechecked again.
        var reopened: Set<RequestID> = []
        /// Users who were on hold when it last read the holds.
        var onHold: Set<Int> = []
        /// The ledger had an alarm when it asked.
        var isAlarmed = false
        /// A backup was put back meanwhile.
        var isDisturbed = false
        /// The copy that it has open.
        var copy: String?

        init(machine: RecheckRun, erased: Set<RequestID>) {
            (self.machine, self.erased) = (machine, erased)
        }

        /// `nil` where nothing is replayed.
        var terms: ReplayTerms? {
            if case .replay(let terms) = machine.kind { terms } else { nil }
        }

        mutating func noteFound(_ request: RequestID) {
            switch machine.kind {
            case .rechecks: returned.insert(request)
            case .sample: sampled.insert(request)
            case .replay: break
            }
        }
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
    var retries: [StoreName: Retry] = [:]
    /// Of what the process has alarmed, or recorded.
    var alarms: Set<RequestID> = []
    var samplePosition = 0
    var purgeCount = 0
    var runCount = 0
    var coverage = RunCoverage()
}

/// What the state has of them.
struct StoredRuns {
    struct Record: Equatable {
        var stage: Int
        var openedAt: WallTime
        var dueAt: WallTime
        var isReopened = false
        var isNameless = false
        var keyNames: [KeyName] = []
        var returnedTo: Set<StoreName> = []
    }

    /// What the ledger says of itself.
    enum Ledger: Equatable {
        case sound
        case alarmed(String)
        case unreadable
    }

    var ledger = Ledger.sound
    var usersOnHold: Set<Int> = []
    /// Requests of which restored rows named ids that are not used up.
    var late: Set<RequestID> = []
    /// Records whose user id cannot be opened, and whether that is for ever.
    var unopened: [RequestID: Bool] = [:]
    var tombstones: [Tombstone] = []
    var records: [RequestID: Record] = [:]
    var begun: [StoreName: Set<BegunErasure>] = [:]
    var outcomes: [RequestID: [Recheck.Outcome]] = [:]
    var replayed: [(request: RequestID, store: StoreName, isResumed: Bool)] = []
}

extension Simulator {
    static let recheckIntervals = [Duration.seconds(86_400), .seconds(7 * 86_400)]

    static let crmKey = KeyName(store: database, key: "customer")

    /// Whether rows of the database lead to another store.
    var hasKeys: Bool { configuration.stores.contains(crm) }

    /// The files have no timestamps.
    var recheckEnvironment: RecheckEnvironment {
        var dated = RecheckStore(name: database)
        dated.hasKeys = hasKeys
        var undated = RecheckStore(name: files)
        undated.withoutTimestamps = "files have no date"
        var keyed = RecheckStore(name: crm)
        (keyed.keyedBy, keyed.keyName) = (database, Self.crmKey)
        return RecheckEnvironment(
            stores: hasKeys ? [dated, undated, keyed] : [dated, undated],
            intervals: Self.recheckIntervals
        )
    }

    // MARK: What operators and timers do

    /// A backup is put back: everything of erased users is there again.
    mutating func restoreBackup(_ store: StoreName) {
        for (user, count) in world.rows[store] ?? [:] where count == 0 {
            world.rows[store]?[user] = 3
            world.restored[store, default: []].insert(user)
        }
        for number in Array(book.live.keys) { book.live[number]?.isDisturbed = true }
    }

    /// A copy of a backup, with everything of erased users.
    mutating func makeCopy(of store: StoreName, at place: String) {
        world.copies[place] = (world.rows[store] ?? [:]).mapValues { _ in 3 }
    }

    /// One commit, so the operator hears of it at once; nothing of the user is under way.
    mutating func holdUser(_ user: Int) {
        let requests = disk.requests.values.filter { $0.user == user }.map(\.request)
        guard !requests.isEmpty, requests.allSatisfy(\.phase.isEnded) else { return }
        disk.runs.usersOnHold.insert(user)
    }

    func requestID(of user: Int) -> RequestID? {
        disk.requests.values.first { $0.user == user }?.request.id
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
        guard !isShared else { return }
        let isRunning = book.live.values.contains { $0.machine.kind == .rechecks }
        guard !isRunning, !disk.runs.records.isEmpty else { return }
        begin(.rechecks)
    }

    /// After each commit: a deletion that ended may be the next one to be rechecked.
    mutating func scheduleRechecks() {
        guard !isShared, let next = disk.runs.records.values.map(\.dueAt).min(),
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
            erased: Set(disk.runs.tombstones.map(\.request))
        )
        step(book.lastNumber, .begin)
    }

    // MARK: The shell of a run

    mutating func step(_ number: Int, _ event: RecheckEvent) {
        guard var live = book.live[number] else { return }
        var context = StepContext(now: clock, random: random)
        book.coverage.note(live.machine.phase)
        let effects = live.machine.handle(event, &context, in: recheckEnvironment, with: bug)
        random = context.random
        book.live[number] = live
        book.coverage.note(live.machine.phase, effects)
        check(effects, of: live)
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
            case .purge(let orders, let holds, _):
                takeTurn(number, effect, name, orders.map(\.request), holds)
            case .verify: takeTurn(number, effect, name, [], [])
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
        _ name: StoreName,
        _ requests: [RequestID],
        _ holds: [StoreHold]
    ) {
        let ticket = random.next() | 1
        book.turns[ticket] = (number, effect)
        let known = KnownHolds(rows: holds)
        turn([.takeTurn(name, requests, PurgeGate(), known, Ticket(number: ticket))])
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
            disk.runs.records[id] = nil
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
        if let place = live.copy { world.openCopies.remove(place) }
        switch live.machine.kind {
        case .rechecks: book.retries = live.machine.retries
        case .sample:
            checkSample(live)
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
