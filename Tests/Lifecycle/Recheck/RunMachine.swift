import Lifecycle
import Testing

/// A run with everything that it reads, so that a test is a list of events.
struct RunMachine {
    static let crm = StoreName("crm")
    static let user = UserID("user-1")
    static let request = RequestID(TimeOrderedID(high: 7, low: 7))
    static let hash = [UInt8](repeating: 1, count: 32)

    var run: RecheckRun
    var environment = RunMachine.environment
    var now = Sample.start + Sample.day
    /// Everything that was asked for so far.
    var effects: [RecheckEffect] = []
    private var random = SeededGenerator(seed: 1)

    init(_ kind: RecheckRun.Kind) { run = RecheckRun(kind) }

    /// A replay of everything since the start.
    init(replay change: (inout ReplayTerms) -> Void = { _ in }) {
        var terms = ReplayTerms(since: Sample.start)
        change(&terms)
        self.init(.replay(terms))
    }

    /// A store whose rows name the ids of another one.
    static var environment: RecheckEnvironment {
        var database = RecheckStore(name: Sample.database)
        database.hasKeys = true
        var keyed = RecheckStore(name: crm)
        keyed.keyedBy = Sample.database
        keyed.keyName = KeyName(store: Sample.database, key: "customer")
        return RecheckEnvironment(stores: [database, keyed], intervals: [Sample.day])
    }

    /// The first store alone, with one that has no timestamps where told.
    static func single(withoutTimestamps: String? = nil) -> RecheckEnvironment {
        var database = RecheckStore(name: Sample.database)
        database.withoutTimestamps = withoutTimestamps
        return RecheckEnvironment(stores: [database], intervals: [Sample.day])
    }

    static var tombstone: Tombstone {
        Tombstone(hash: hash, erasedAt: Sample.start, request: request)
    }

    static func due(stores: [StoreName] = [Sample.database], stage: Int = 0) -> DueRecheck {
        DueRecheck(
            sealed: SealedRecheck(request: request, keyID: "k", recheckKey: [], sealedUser: []),
            stage: stage,
            openedAt: Sample.start,
            dueAt: Sample.start + Sample.day,
            cutoff: Sample.start,
            stores: stores
        )
    }

    static func page(_ due: [DueRecheck], paused: Set<StoreName> = []) throws -> DuePage {
        let user = try #require(user)
        return DuePage(
            opened: due.map { OpenRecheck(due: $0, user: user) },
            pausedStores: paused
        )
    }

    static func counts(_ rows: Int, newer: Int = 0) -> PurgeCounts {
        PurgeCounts(entries: [
            .init(name: "rows", action: .rule(.delete), rowCount: rows, newerCount: newer)
        ])
    }

    static func hold(isOfRows: Bool = false, on store: StoreName = Sample.database) -> StoreHold {
        let condition = RowFilter.Condition(column: "c", values: ["v"])
        return StoreHold(
            name: "h",
            store: store,
            rows: isOfRows ? RowFilter(table: "rows", conditions: [condition]) : nil,
            since: Sample.start,
            uid: 0
        )
    }

    @discardableResult
    mutating func send(_ event: RecheckEvent) -> [RecheckEffect] {
        var context = StepContext(now: now, random: random)
        defer { random = context.random }
        let wanted = run.handle(event, &context, in: environment)
        effects += wanted
        return wanted
    }

    mutating func send(_ events: [RecheckEvent]) { for event in events { send(event) } }

    /// The report on the first store.
    var database: StoreReport? { run.report.stores.first { $0.name == Sample.database } }

    var purgeCount: Int { effects.filter(\.isPurge).count }

    var phase: String { Self.name(of: run.phase) }

    static func name(of phase: RecheckPhase) -> String {
        let label = Mirror(reflecting: phase).children.first?.label ?? "\(phase)"
        return label
    }
}

extension RecheckEffect {
    var call: String {
        switch self {
        case .state(let effect): Mirror(reflecting: effect).children.first?.label ?? "\(effect)"
        case .store(let name, let view, let effect):
            "\(Mirror(reflecting: effect).children.first?.label ?? "\(effect)") \(name) \(view)"
        case .openCopy: "openCopy"
        case .wait: "wait"
        case .announce: "announce"
        }
    }

    var isAnnouncement: Bool { if case .announce = self { true } else { false } }
    var isPurge: Bool { if case .store(_, _, .purge) = self { true } else { false } }
}
