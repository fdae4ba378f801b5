import DequeModule
package import Lifecycle

/// Decides what the engine does: a deterministic machine from inputs to actions.
///
/// It holds a window of due requests and steps their machines. Effects of a decision become actions
/// only after the commit that recorded it. A simulator drives the same code with a manual clock and
/// crashes it between any two actions.
package struct EngineCore: Sendable {
    struct Run: Sendable {
        var loaded: LoadedRequest
        /// The state that the last commit, done or under way, holds.
        var saved: Request
        var effects: [RequestEffect] = []
        /// Operations that the next commit executes.
        var orders: [Order] = []
        var isDirty = false
        var isCommitting = false
        var lane: ProviderName?
        /// Calls under way; counted only where partitions may have to be left.
        var callCount = 0
    }

    struct Identities: Sendable {
        enum Owner: Hashable, Sendable {
            case request(RequestID)
            case renewal
            /// A call of before the partition was lost is under way: it may rotate the token.
            case former
        }

        /// Whose calls a token is for: a refresh may rotate it, so no other comes between.
        var owners: [IdentityID: Owner] = [:]
        var callsBehind: [IdentityID: [ProviderLane.Call]] = [:]
        /// Those with a call under way; counted only where partitions may be lost.
        var called: Set<IdentityID> = []
    }

    /// The search for due requests.
    struct Fetch: Sendable {
        var isUnderWay = false
        var skippedLanes: Set<ProviderName> = []
        var laneLimits: [ProviderName: Int] = [:]
        var nextDueAt: WallTime? = .distantPast
        /// Due times noted while it was under way, which it cannot know.
        var notedMeanwhile: WallTime?
    }

    struct ClockState: Sendable {
        /// What the clock must not be behind of: the newest time that the ledger has signed.
        var floor = WallTime.distantPast
        /// Jumps that the state has not taken over yet; what it reads may be of before.
        var stepsUnderWay = 0
        var tickets: [Ticket] = []
    }

    struct Order: Sendable {
        let event: RequestEvent
        let ticket: Ticket
    }

    struct Batch: Sendable {
        var requests: [(id: RequestID, effects: [RequestEffect], orders: [Order], isChange: Bool)] =
            []
        var exchanges: [(id: CredentialID, effects: [CodeExchange.Effect])] = []
        var reports: [EngineReport] = []
        var tickets: [Ticket] = []
        /// To be committed again without what may not be.
        var changes: [StateChange] = []
        /// Whose changes they are, where several hosts share the state.
        var parts: [Partition?] = []
        /// It makes parked requests due, which only a later read can find.
        var hasWake = false
        var reclockCount = 0
    }

    var configuration: EngineConfiguration
    var environment: Environment
    var lanes: [ProviderName: ProviderLane] = [:]
    /// Those that may have an outage, of all users or of one client.
    var failingLanes: Set<ProviderName> = []
    var stores: [StoreName: StoreQueue] = [:]
    var plans = PlanQueue()
    /// The order in which slots are filled; a dictionary's own order would make no run replayable.
    var laneOrder: [ProviderName] = []
    var storeOrder: [StoreName] = []
    var massDeletionGuard: MassDeletionGuard
    var overridesUsed = 0
    var random: SeededGenerator

    var window: [RequestID: Run] = [:]
    var dirty: [RequestID] = []
    var identities = Identities()
    var renewals = RenewalBook()
    var exchanges: [CredentialID: LoadedExchange] = [:]
    /// Exchanges that are tried again at a time of their own.
    var waitingExchanges: Set<CredentialID> = []
    var looseChanges: [LooseChange] = []
    var nextBatch = Batch()
    var batchUnderWay: Batch?

    /// They were worked on when the process crashed: they run one at a time, to find the culprit.
    var suspects = Deque<RequestID>()
    var waitingOperations: [RequestID: [(RequestEvent, Ticket)]] = [:]
    var waitingUpdates: [RequestID: [IdentityUpdate]] = [:]
    var reads = ReadLog()
    var fetch = Fetch()
    /// Why what is paused is paused: what an operator has paused, the service does not resume.
    var providerPauses: [ProviderName: String] {
        didSet { environment.pausedProviders = Set(providerPauses.keys) }
    }
    var storePauses: [StoreName: String] {
        didSet { environment.pausedStores = Set(storePauses.keys) }
    }
    var spoolGate = SpoolGate()
    var clock = ClockState()
    private let unfinishedWakes: [ParkReason: RequestID]

    package internal(set) var ownership: Ownership
    /// Codes under way of partitions that were lost; they have slots of their providers.
    var lateCodes: [CredentialID: ProviderName] = [:]
    /// Operations of other hosts that are executed, or answered in a commit under way.
    var operations: [OperationID: Partition] = [:]
    var isReadingInbox = false
    var isInboxAwaited = false
    /// Codes that were settled while the inbox was read, which may not know it.
    var settledMeanwhile: Set<CredentialID> = []
    /// The version of the rules that this host obeys.
    package internal(set) var rulesVersion: Int64
    /// Raised with each hold on a user, and with other rules of other hosts.
    package internal(set) var userHoldsVersion = 0
    var isReadingRules = false
    var lastAllowance: GuardAllowance?

    var actions: [EngineAction] = []

    package init(
        configuration: EngineConfiguration,
        pauses: StoredPauses,
        isVaultOpen: Bool,
        seed: UInt64,
        ownership: Ownership = .all,
        rulesVersion: Int64 = 0
    ) {
        (self.ownership, self.rulesVersion) = (ownership, rulesVersion)
        self.configuration = configuration
        environment = Environment(providers: configuration.providers)
        environment.adopt(configuration)
        environment.pausedProviders = Set(pauses.providers.keys)
        environment.pausedStores = Set(pauses.stores.keys)
        environment.isVaultOpen = isVaultOpen
        environment.isApprovalRequired = configuration.approval == .required
        environment.holds = pauses.holds
        massDeletionGuard = MassDeletionGuard(purgesMax: configuration.purgesPerHourMax)
        (providerPauses, storePauses) = (pauses.providers, pauses.stores)
        unfinishedWakes = pauses.unfinishedWakes
        random = SeededGenerator(seed: seed)
        adoptLanes()
        adoptRenewals()
    }

    /// Lets nothing be revoked or purged until ``EngineInput/restraintLifted``; before the start.
    package mutating func restrain() { environment.isRestrained = true }

    /// `suspects` were being worked on when the process crashed by itself.
    package mutating func start(
        suspects: [RequestID],
        purgesInLastHour: Int,
        allowance: GuardAllowance? = nil,
        exchanges: [LoadedExchange],
        at now: WallTime
    ) {
        massDeletionGuard.restore(count: purgesInLastHour, at: now)
        if let allowance {
            massDeletionGuard.override(purges: allowance.purges, until: allowance.until)
        }
        self.suspects = Deque(suspects)
        for (reason, id) in unfinishedWakes.sorted(by: { $0.value < $1.value }) {
            continueWake(reason, after: id, at: now)
        }
        if environment.isVaultOpen {
            wake(.vaultSealed, at: now)
            wake(.unknownProvider, at: now)
        }
        for loaded in exchanges {
            adopt(loaded, event: loaded.exchange.phase == .exchanging ? .restarted : nil, at: now)
        }
        finishStep(at: now)
    }

    package mutating func handle(_ input: EngineInput, at now: WallTime) {
        if environment.isClockBehind { noteClock(at: now) }
        consume(input, at: now)
    }

    package mutating func takeActions(at now: WallTime) -> [EngineAction] {
        finishStep(at: now)
        defer { actions = [] }
        return actions
    }

    /// When the core wants to be woken by ``EngineInput/timer`` if nothing else happens.
    package func wakeTime(after now: WallTime) -> WallTime? {
        var times = waitingExchanges.compactMap { exchanges[$0]?.exchange.retryAt }
        for (name, lane) in lanes
        where !environment.pausedProviders.contains(name) && environment.isVaultOpen {
            if let chance = lane.nextChance(after: now) { times.append(chance) }
            if let opensAt = lane.opensAt, opensAt > now, fetch.skippedLanes.contains(name) {
                times.append(opensAt)
            }
        }
        times += renewalTimes(after: now)
        for (name, lane) in lanes {
            let isPaused = environment.pausedProviders.contains(name)
            let knownAt = isPaused ? nil : lane.outageKnownAt
            times += [lane.clientsEndAt, knownAt ?? lane.outageEndsAt].compactMap(\.self)
        }
        times += stores.values.compactMap(\.stuck.reportAt).filter { $0 > now }
        if let patience = spoolGate.wakeTime(after: now) { times.append(patience) }
        if environment.isClockBehind { times.append(clock.floor) }
        if mayBeginFetch, let nextDueAt = fetch.nextDueAt { times.append(nextDueAt) }
        return times.min()
    }

    package var workCount: Int { window.count + exchanges.count }

    mutating func adoptLanes() {
        for (name, configured) in configuration.lanes {
            let limits = ownership.isAll ? configured : shared(configured)
            lanes[name, default: ProviderLane(limits: limits)].adopt(limits)
        }
        for name in configuration.stores where stores[name] == nil {
            stores[name] = StoreQueue()
        }
        laneOrder = lanes.keys.sorted()
        storeOrder = stores.keys.sorted()
    }

    mutating func consume(_ input: EngineInput, at now: WallTime) {
        switch input {
        case .admitted(let requests, let read):
            admitNew(requests, by: read, at: now)
            reads.end(read)
        case .fetched(let read, let due, let limit):
            fetched(due, by: read, limit: limit, at: now)
        case .loaded(let read, let requests, let asked):
            guard !isBeforeStep(read) else {
                reads.end(read)
                load(asked)
                break
            }
            adoptLoaded(requests, asked: asked, by: read, at: now)
            reads.end(read)
        case .codes(let loaded):
            for exchange in loaded { adopt(exchange, event: nil, at: now) }
        case .committed(let update):
            commitEnded(update, at: now)
        case .answered(let id, let event, let provider, let failure, let lastAnswer):
            providerAnswered(provider, .request(id), failure: failure, at: now)
            apply(event, to: id, lastAnswer: lastAnswer, at: now)
            if let identity = event.identity {
                release(identity, of: id, at: provider, now: now)
            }
        case .storeAnswered(let store, let answers, let reason):
            stores[store]?.finished()
            for (id, event) in answers { apply(event, to: id, at: now) }
            noteProgress(at: store, answers, reason: reason, at: now)
        case .takeTurn(let store, let requests, let gate, let holds, let ticket):
            withQueue(store) { $0.enqueue(StoreQueue.Turn(requests, gate, holds, ticket)) }
        case .endTurn(let store):
            stores[store]?.finished()
        case .planned(let id, let result):
            planEnded(id, result, at: now)
        case .exchanged(let id, let result):
            exchangeAnswered(id, result, at: now)
        case .update(let update):
            spread(update, at: now)
        case .spoolRead(let outcomes):
            spoolRead(outcomes, at: now)
        case .sourceBack:
            spoolGate.wantRead()
        case .unsealed(let users):
            learn(users, at: now)
        case .clockStepped(let step):
            reclock(step, at: now)
        case .clockSettled(let ticket):
            guard clock.stepsUnderWay == 0 else { return clock.tickets.append(ticket) }
            reply(ticket, .done)
        case .clockFloor(let floor):
            // It may be of before a jump; what counts after that follows.
            setClockFloor(clock.stepsUnderWay > 0 ? max(floor, clock.floor) : floor, at: now)
        case .renewalsFound(let due):
            found(due, at: now)
        case .renewed(let id, let answer):
            renewed(id, answer, at: now)
        case .operate(let id, let event, let ticket):
            operate(id, event, ticket, at: now)
        case .pause(let name, let reason, let uid):
            pause(name, reason: reason, by: uid, at: now)
        case .resume(let name, let isOwn):
            resume(name, isOwn: isOwn, at: now)
        case .checked(let name, let isWell, let unserved):
            if isWell { trust(name, at: now) }
            endClients(of: name) { client, _ in
                client.isConfigured ? isWell : !unserved.contains(client.name)
            }
        case .pauseStore(let name, let reason, let uid):
            pauseStore(name, reason: reason, by: uid, at: now)
        case .resumeStore(let name, let isOwn):
            resumeStore(name, isOwn: isOwn, at: now)
        case .placeHold(let hold, let ticket):
            place(hold, ticket, at: now)
        case .liftHold(let name, let uid, let ticket):
            liftHold(name, by: uid, ticket, at: now)
        case .userHeld(let ticket):
            outdateTurns()
            reply(ticket, .done)
        case .reconfigured(let configuration):
            reconfigure(configuration, at: now)
        case .guardOverride(let purges, let until):
            massDeletionGuard.override(purges: purges, until: until)
            wake(.massDeletionGuard, at: now)
        case .restraintLifted:
            environment.isRestrained = false
            wake(.onHold, at: now)
        case .gained(let starts):
            for start in starts { gain(start, at: now) }
            readInbox()
        case .lost(let partitions):
            lose(partitions, at: now)
        case .leave(let partitions):
            leave(partitions, at: now)
        case .refused(let refusal):
            commitRefused(refusal, at: now)
        case .under(let read, let input):
            consume(input, of: read, at: now)
        case .renewedLeases(let version, let count):
            massDeletionGuard.restore(count: count, at: now)
            if version != rulesVersion { readRules() }
            readInbox()
        case .rules(let read, let rules):
            adopt(rules, by: read, at: now)
        case .mailed:
            readInbox()
        case .inbox(let read, let inbox):
            take(inbox, by: read, at: now)
        case .probe(let ticket):
            reply(ticket, .done)
        case .timer:
            retryCodes(at: now)
        }
    }

    private mutating func fetched(
        _ due: DueRequests,
        by read: ReadNumber,
        limit: Int,
        at now: WallTime
    ) {
        fetch.isUnderWay = false
        guard !isBeforeStep(read) else {
            fetch.nextDueAt = now
            return reads.end(read)
        }
        fetch.nextDueAt = [due.requests.count >= limit ? now : due.nextDueAt, fetch.notedMeanwhile]
            .compactMap(\.self).min()
        fetch.notedMeanwhile = nil
        noteRest(of: due.requests, at: now)
        admit(
            due.requests.filter { !reads.isStale($0.request.id, read) && accepts($0, read) },
            at: now
        )
        reads.end(read)
    }

    func isBeforeStep(_ read: ReadNumber) -> Bool {
        clock.stepsUnderWay > 0 || read <= reads.lastBeforeStep
    }

    package var lastRead: ReadNumber { reads.last }

    /// What the clock must not be behind of.
    package var clockFloor: WallTime { clock.floor }

    /// Begins to accept requests; the number shows how old they are when they come.
    package mutating func beginAdmission() -> ReadNumber { reads.beginAdmission() }

    func accepts(_ loaded: LoadedRequest, _ read: ReadNumber) -> Bool {
        ownership.isAll || accepts(Partition(userHash: loaded.userHash), read)
    }
}
