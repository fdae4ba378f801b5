import Engine
import Lifecycle

/// A bug that is planted on purpose; each must turn the simulation red.
enum PlantedBug: String, CaseIterable {
    /// A revocation's answer is forged before the provider was asked, so the purge comes first.
    case purgeBeforeVerdict
    /// A crash loses requests that were acknowledged.
    case lostImport
    /// A 503 is taken for success.
    case verdictOnUnavailable
    /// A code whose exchange was interrupted is sent again.
    case doubleExchange
    /// A hold is acknowledged and dropped.
    case forgottenHold
    /// The purge claims to be done and leaves a row; verification looks away.
    case blindVerification
    /// A rotated token is used before it is stored, and a crash forgets it.
    case unkeptRotation
    /// A directory that cannot be reached is taken for one that knows of no link.
    case skippedLookup
    /// A token is kept alive with the copy of a former look, though it was rotated since.
    case staleRenewal
    /// Nothing is ever enrolled for keeping alive.
    case forgottenRenewal
    /// The plan before the purge is the one shown before, whatever the stores hold.
    case blindPlan
    /// Once something is purged, a plan is the one shown before.
    case blindLaterPlan
    /// A purge that runs does not hear of a hold.
    case openGate
    /// A restart forgets the holds on stores, so that a held store is purged.
    case heldStorePurged
    /// A crash puts a request back to where it was when it was taken.
    case undoneStep
    /// A crash forgets the idempotency keys.
    case forgottenKey
    /// A read of the spool ends before it has taken anything.
    case unreadSpool
    /// Nobody hears that a credential cannot be sealed.
    case unheardSeal
    /// Nobody hears that the clock was set.
    case unheardStep
    /// The clock may be behind the ledger.
    case lowFloor
    /// A request counts as it was accepted, although the clock was set or it went on since.
    case staleAdmission
    /// A request takes its time from a clock that was set before the commit.
    case staleTime
    /// A replay leaves everything and says that it is done.
    case blindReplay
    /// A replay purges whatever is dated up to now.
    case lateCutoff
    /// A replay does not hear of holds.
    case deafReplay
    /// A recheck takes data that is back for none.
    case silentRecheck
    /// A run passes over its check of holds.
    case skippedHoldCheck
    /// A run purges what it has not noted.
    case skippedNote
    /// A run drops the answer that names the ids that an earlier one left.
    case droppedLateData
    /// A run goes on although the ledger has an alarm.
    case unheardAlarm
    /// A drill works on the store instead of its copy.
    case originalForCopy
    /// The state takes a commit of an epoch that is over.
    case noEpochCheck
    /// Effects begin although the lease has ended.
    case staleLease
    /// The row of an operation is gone once the owner has read it.
    case lostOperation

    /// Those that only several hosts can show.
    static let ofHosts: Set<PlantedBug> = [.noEpochCheck, .staleLease, .lostOperation]
    /// Those that the scenarios of runs show; few random lives meet what they need.
    static let ofRuns: Set<PlantedBug> = [
        .lateCutoff, .skippedHoldCheck, .skippedNote, .droppedLateData, .unheardAlarm,
        .originalForCopy,
    ]
}

/// Drives ``EngineCore`` with a manual clock, a world with faults, and crashes between any two
/// actions.
struct Simulator {
    /// Chances out of 1,000, drawn per seed.
    struct Faults {
        var failurePerMille = 0
        /// Of the purges alone; the higher of both counts.
        var storeFailurePerMille = 0
        var lostAnswerPerMille = 0
        var crashPerMille = 0
        var commitLatencyMaxMs: Int64 = 5
        var callLatencyMaxMs: Int64 = 400
        /// From the commit that accepts a request until the engine hears of it.
        var admissionLatencyMaxMs: Int64 = 0
        /// The user signs in once more while the commit that ends revoking is on its way.
        var lateSignInPerMille = 0
        /// A revocation or purge happens up to so many times more than it is answered.
        var repeatsMax = 0
        /// At each statement, where several hosts share a database.
        var connectionPerMille = 0
        /// Providers that answer nothing until that time.
        var outages: [ProviderName: WallTime] = [:]
        /// Users whose tokens a provider does not serve, and what it answers.
        var userFailures: [Int: EffectFailure] = [:]
    }

    /// What happens later.
    struct Pending {
        var at: WallTime
        let order: Int
        /// The host that it happens on; `nil` for the world outside.
        var host: Int?
        let occurrence: Occurrence
    }

    /// A rotated token on its way into the state, and the answer that waits for that.
    struct Keep {
        let credential: CredentialID
        let token: String
        let answer: EngineInput
        /// What the answer is tagged with, where several hosts share the state.
        var read: ReadNumber?
        var tries = 0
    }

    enum Occurrence {
        case perform(EngineAction)
        case keep(Keep)
        case input(EngineInput)
        case script((inout Simulator) -> Void)
        case run(Int, RecheckEffect)
        case host(HostOccurrence)
    }

    let configuration: EngineConfiguration
    var faults = Faults()
    var bug: PlantedBug?
    var world = SimulatedWorld()
    var disk = SimulatedDisk()
    /// The processes; one, unless several share the state.
    var hosts: [SimulatedHost]
    /// The host that something happens on right now.
    var current = 0
    var core: EngineCore {
        _read { yield hosts[current].core }
        _modify { yield &hosts[current].core }
    }
    static let start = WallTime(unixMilliseconds: 1_800_000_000_000)
    /// The true time.
    var now = Simulator.start
    /// How far the machine's clock is ahead of it.
    var clockError = Duration.zero
    /// What the service takes for the time.
    var clock: WallTime { now + clockError + hosts[current].skew }
    /// Since when the machine's clock was not set, by its own time.
    var clockEpoch = Simulator.start
    /// What it showed before it was set back a little, or what the ledger has signed.
    var clockFloor = Simulator.start
    /// How far it was ahead before.
    var clockErrorBefore = Duration.zero
    /// Somebody sets it while requests are accepted.
    var isClockSetAtIntake = false
    /// When somebody set it last.
    var clockSetAt = WallTime.distantPast
    /// Requests wait for the spool.
    var hasSpool = false
    var spool: [Spooled] = []
    /// When each request was really accepted.
    var acceptedAt: [RequestID: WallTime] = [:]
    var random: SeededGenerator
    var isVaultOpen = true
    /// Requests are accepted as if no directory were configured yet.
    var isDirectoryUnknownAtIntake = false

    var pending: [Pending] = []
    var order = 0
    var epoch = 0
    /// Crash when this many actions were begun; `nil` for never.
    var crashAtAction: Int?
    var actionCount = 0
    var crashCount = 0
    /// The numbers of the actions that keep tokens alive.
    var renewalActions: [Int] = []
    var renewed: [(provider: ProviderName, at: WallTime)] = []
    /// Providers whose tokens were told to die soon.
    var warnings: [ProviderName] = []
    /// Poison: this request crashes the process when it is worked on.
    var poison: RequestID?

    /// Acknowledged to an application: must be found for ever.
    var acknowledged: Set<RequestID> = []
    /// What applications were answered, by idempotency key.
    var answered: [String: RequestID] = [:]
    /// Requests as they were taken.
    var taken: [RequestID: SimulatedDisk.Row] = [:]
    /// Requests as they were at the last look.
    var seen: [RequestID: Request] = [:]
    /// Holds that were acknowledged to an operator and not lifted.
    var held: Set<RequestID> = []
    /// Holds on stores that were acknowledged to an operator and not lifted, by name.
    var storeHolds: [String: StoreHold] = [:]
    /// Requests whose revocations an operator gave up, whether that was heard or not.
    var givenUp: Set<RequestID> = []
    /// Plans that an operator approved, by hash, whether that was heard or not.
    var approved: [RequestID: [String: PurgePlan]] = [:]
    /// From here on nothing goes wrong and nobody interferes.
    var isHealed = false
    var outcomes: [UInt64: OperationOutcome] = [:]
    var coverage = Coverage()
    var book = RunBook()
    /// Prints every input and action of a replayed seed.
    var isTracing = false
    /// How much of the time passed while no lease could change.
    var skipped = Duration.zero
    /// What would be a crash is a pause longer than a lease.
    var pausesInsteadOfCrash = false
    /// The version of the rules that each hold came with.
    var holdVersions: [String: Int64] = [:]
    /// Operations that were handed to owners.
    var submitted: Set<UInt64> = []
    var announcements: [(RequestID, Announcement)] = []

    init(seed: UInt64, configuration: EngineConfiguration) {
        self.configuration = configuration
        random = SeededGenerator(seed: seed)
        let core = EngineCore(
            configuration: configuration,
            pauses: StoredPauses(),
            isVaultOpen: true,
            seed: seed
        )
        hosts = [SimulatedHost(core: core)]
        self.core.start(suspects: [], purgesInLastHour: 0, exchanges: [], at: now)
    }

    mutating func chance(_ perMille: Int) -> Bool {
        perMille > 0 && Int.random(in: 0..<1000, using: &random) < perMille
    }

    mutating func latency(_ max: Int64) -> Duration {
        .milliseconds(Int64.random(in: 0...Swift.max(0, max), using: &random))
    }

    mutating func schedule(_ occurrence: Occurrence, after delay: Duration) {
        order += 1
        var host: Int? = current
        if case .script = occurrence { host = nil }
        let at = max(now + delay, host.flatMap { hosts[$0].pausedUntil } ?? .distantPast)
        pending.append(Pending(at: at, order: order, host: host, occurrence: occurrence))
    }

    mutating func at(_ delay: Duration, _ body: @escaping (inout Simulator) -> Void) {
        schedule(.script(body), after: delay)
    }

    /// Runs until nothing is left to happen, or `limit` of virtual time passed.
    mutating func run(for limit: Duration, stepsMax: Int = 200_000) {
        let end = now + limit
        turn([])
        goOn(until: end, stepsMax: stepsMax)
    }

    /// Plays a run once for each of its actions, with a crash at that action, and hands it on with
    /// the action's number, from 1.
    ///
    /// Up to the crash all are the same run, so each begins with a copy from shortly before it.
    /// - Returns: The run without a crash.
    @discardableResult
    func crashed(
        atEachActionFor limit: Duration,
        _ body: (_ point: Int, _ run: Simulator) -> Void
    ) -> Simulator {
        let end = now + limit
        var quiet = self
        var before = quiet
        func fork(_ goOn: (inout Simulator) -> Void) {
            for point in before.actionCount..<quiet.actionCount {
                var run = before
                run.crashAtAction = point + 1
                goOn(&run)
                body(point + 1, run)
            }
        }
        quiet.turn([])
        fork { $0.run(for: limit) }
        while true {
            before = quiet
            let isOver = !quiet.step(until: end)
            fork { $0.goOn(until: end) }
            if isOver { return quiet }
        }
    }

    private mutating func goOn(until end: WallTime, stepsMax: Int = 200_000) {
        var steps = 0
        while steps < stepsMax {
            steps += 1
            guard step(until: end) else { break }
            if !world.violations.isEmpty { return }
        }
        if steps >= stepsMax { world.violations.append("no end after \(stepsMax) steps") }
        now = max(now, end)
        world.reach(now)
    }

    /// Whether anything was left to happen.
    private mutating func step(until end: WallTime) -> Bool {
        let wake = nextWake()
        let next = pending.indices.min { left, right in
            (pending[left].at, pending[left].order) < (pending[right].at, pending[right].order)
        }
        var isLeaseStep = false
        if isShared, skipQuietTime(until: next.map { pending[$0].at }, end) { return true }
        if let next, wake.map({ pending[next].at <= $0.at }) ?? true {
            guard pending[next].at <= end else { return false }
            let item = pending.remove(at: next)
            isLeaseStep = item.occurrence.isOfLease
            now = max(now, item.at)
            choose(item.host)
            occur(item.occurrence)
        } else if let wake {
            guard wake.at <= end else { return false }
            now = max(now, wake.at)
            if isShared { choose(wake.host) }
            isLeaseStep = wake.isLease
            if wake.isLease { lease(.due) } else { turn([.timer]) }
        } else {
            return false
        }
        if !isLeaseStep { check() }
        return true
    }

    private mutating func occur(_ occurrence: Occurrence) {
        world.reach(now)
        switch occurrence {
        case .input(let input): turn([input])
        case .script(let body): body(&self)
        case .perform(let action): perform(action)
        case .keep(let kept): keep(kept)
        case .run(let number, let effect): perform(run: number, effect)
        case .host(let occurrence): occur(occurrence)
        }
    }

    /// One turn of the shell's loop.
    mutating func turn(_ inputs: [EngineInput]) {
        guard !hosts[current].isDown else { return }
        if let until = hosts[current].pausedUntil, until > now {
            for input in inputs { schedule(.input(input), after: .zero) }
            return
        }
        for input in inputs {
            if isTracing { print(now.rfc3339, "input", input) }
            coverage.note(input, disk)
            core.handle(tagged(input), at: clock)
        }
        for action in core.takeActions(at: clock) {
            if isShared {
                guard turnShared(action) else { return }
                continue
            }
            actionCount += 1
            if isTracing { print(now.rfc3339, "action", action) }
            if action.isRenewal { renewalActions.append(actionCount) }
            if crashAtAction == actionCount || chance(faults.crashPerMille) {
                crash(during: action)
                return
            }
            begin(action)
        }
    }

    /// A crash during a commit leaves it done or not done; during a call, made or not made.
    mutating func crash(during action: EngineAction? = nil) {
        crashCount += 1
        if isShared { return goDown(during: action, for: downtime()) }
        if let action, Bool.random(using: &random) { performInWorldOnly(action) }
        for item in pending {
            if case .perform(let action) = item.occurrence, Bool.random(using: &random) {
                performInWorldOnly(action)
            }
            if case .run(let number, let effect) = item.occurrence, Bool.random(using: &random) {
                _ = perform(effect, of: number)
            }
        }
        restart(isOwnCrash: false)
    }

    mutating func restart(isOwnCrash: Bool) {
        for item in pending {
            guard case .keep(let kept) = item.occurrence else { continue }
            leave(kept)
        }
        let scripts = pending.filter { if case .script = $0.occurrence { true } else { false } }
        pending = scripts
        (book.live, book.turns, book.retries) = ([:], [:], [:])
        world.openCopies = []
        if bug == .lostImport, let lost = acknowledged.min() { disk.requests[lost] = nil }
        if bug == .undoneStep, let undone = taken.keys.min() {
            disk.requests[undone] = taken[undone]
        }
        if bug == .forgottenKey { disk.idempotency = [:] }
        var exchanges: [LoadedExchange] = []
        for (id, exchange) in disk.exchanges.sorted(by: { $0.key < $1.key }) {
            var stored = exchange
            if bug == .doubleExchange {
                stored = CodeExchange(
                    credential: id,
                    identity: exchange.identity,
                    provider: exchange.provider,
                    createdAt: exchange.createdAt
                )
            }
            exchanges.append(LoadedExchange(exchange: stored, credential: disk.sealed(id)))
        }
        let suspects = disk.recoverFromCrash(isOwnCrash: isOwnCrash)
        var pauses = disk.pauses
        if bug == .heldStorePurged { pauses.holds = [] }
        core = EngineCore(
            configuration: configuration,
            pauses: pauses,
            isVaultOpen: isVaultOpen,
            seed: random.next()
        )
        takeMissedStep()
        disk.makeWaitingDue(at: clock)
        let recent = disk.purgeTimes.count { clock.since($0) < .seconds(3600) }
        core.start(suspects: suspects, purgesInLastHour: recent, exchanges: exchanges, at: clock)
        prepareCore()
        turn([])
        startRechecks()
    }
}
