import Engine
import Lifecycle
import Synchronization

/// A store whose rows name ids, one that knows users by them, and what keeps the ids between them.
final class KeyBench: Sendable {
    static let customer = KeyName(store: StoreName("app-db"), key: "customer")

    /// The rows of the source: a user and an id that it names.
    struct Row: Hashable {
        let user: String
        let id: String
    }

    private struct State {
        var rows: [Row] = []
        var objects: Set<String> = []
        var kept: [KeyName: [RequestID: Set<String>]] = [:]
        var calls: [String] = []
        var failures: [String: EffectFailure] = [:]
        var holds: Set<String> = []
        var own: Set<KeyName> = []
        var marks: [String?] = []
        var cutoffs: [WallTime] = []
        var afterPurge: [String: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    init(rows: [(String, String)], objects: [String] = []) {
        state.withLock { state in
            state.rows = rows.map { Row(user: $0.0, id: $0.1) }
            state.objects = Set(objects)
        }
    }

    /// Rows as `user:id`.
    var rows: [String] { state.withLock { $0.rows.map { "\($0.user):\($0.id)" } } }

    /// What is left in the keyed store.
    var objects: Set<String> { state.withLock { $0.objects } }

    /// What was done, in order.
    var calls: [String] { state.withLock { $0.calls } }

    /// The ids that are kept for a request, sorted.
    func kept(_ request: Int, as name: KeyName = customer) -> [String]? {
        state.withLock { $0.kept[name]?[Sample.request(request)]?.sorted() }
    }

    /// Under what ids were kept as a request's own.
    var own: Set<KeyName> { state.withLock { $0.own } }

    /// Of the orders that the keyed store was given, in order.
    var marks: [String?] { state.withLock { $0.marks } }
    var cutoffs: [WallTime] { state.withLock { $0.cutoffs } }

    /// Has a step answer with a failure, or with none again: `find`, `keep`, `read`, `named`, or
    /// `purge` and `verify` with an id behind them.
    func fail(_ step: String, _ failure: EffectFailure?) {
        state.withLock { $0.failures[step] = failure }
    }

    /// Has the keyed store do something when an id is gone.
    func onPurge(_ id: String, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.afterPurge[id] = body }
    }

    func hold(_ id: String) { _ = state.withLock { $0.holds.insert(id) } }

    func add(_ user: String, _ id: String) {
        state.withLock { $0.rows.append(Row(user: user, id: id)) }
    }

    private func note(_ call: String) -> EffectFailure? {
        state.withLock { state in
            state.calls.append(call)
            return state.failures[call] ?? state.failures[call.split(separator: " ")[0].description]
        }
    }

    // MARK: Parts

    func source(
        _ name: String = "app-db",
        keys: [String] = ["customer"],
        shared: Set<String> = []
    ) -> SourceStore {
        let source = Source(bench: self, name: StoreName(name))
        return SourceStore(source, keys: keys, shared: shared, foundKeys: Keeper(self))
    }

    func keyed(
        isShared: Bool = false,
        inner: (any PurgeStore)? = nil,
        by name: KeyName = customer,
        upstream: KeyedStore? = nil,
        withoutKeys: WithoutKeys = .proceed
    ) -> KeyedStore {
        KeyedStore(
            inner ?? Store(bench: self),
            origin: KeyedStore.Origin(
                name: name,
                isShared: isShared,
                source: source(name.store.rawValue, keys: [name.key]),
                upstream: upstream,
                withoutKeys: withoutKeys
            ),
            foundKeys: Keeper(self),
            hasher: PlainHasher()
        )
    }

    static func order(_ number: Int, _ user: String) -> PurgeOrder {
        guard let user = UserID(user) else { fatalError("a user id of the test") }
        return PurgeOrder(request: Sample.request(number), user: user, cutoff: Sample.start)
    }

    /// Purges the rows of users, whoever's they are.
    private struct Source: KeySource, StubStore {
        let bench: KeyBench
        let name: StoreName

        func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
            orders.map { order in
                let user = order.user.exposeText()
                if let failure = bench.note("find \(user)") { return .failure(failure) }
                let ids = bench.state.withLock { state in
                    Set(state.rows.filter { $0.user == user }.map(\.id))
                }
                return .found(ids.compactMap { UserID($0) })
            }
        }

        func named(
            _ ids: [UserID],
            as key: String,
            besides orders: [PurgeOrder]
        ) async -> OwnersAnswer {
            if let failure = bench.note("named") { return .failure(failure) }
            let own = Set(orders.map { $0.user.exposeText() })
            return .named(
                bench.state.withLock { state in
                    let named = Set(state.rows.filter { !own.contains($0.user) }.map(\.id))
                    return Set(ids.filter { named.contains($0.exposeText()) })
                }
            )
        }

        func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
            orders.map { order in
                let user = order.user.exposeText()
                if let failure = bench.note("purge \(user)") { return .failure(failure) }
                bench.state.withLock { state in state.rows.removeAll { $0.user == user } }
                return .done(PurgeCounts())
            }
        }

        func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] { orders.map { _ in .clean } }
    }

    /// One object for each id.
    private struct Store: UserListing, StubStore {
        let bench: KeyBench
        let name = StoreName("crm")

        func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
            orders.map { order in
                let id = order.user.exposeText()
                guard !order.isStopped else { return .stopped }
                bench.state.withLock { state in
                    state.marks.append(order.partitionKey)
                    state.cutoffs.append(order.cutoff)
                }
                if let failure = bench.note("purge \(id)") { return .failure(failure) }
                defer { bench.state.withLock { $0.afterPurge[id] }?() }
                return bench.state.withLock { state in
                    let isHeld = state.holds.contains(id)
                    let count = isHeld ? 0 : state.objects.remove(id) == nil ? 0 : 1
                    let counts = PurgeCounts(entries: [
                        .init(name: "files", action: .rule(.delete), rowCount: count)
                    ])
                    return isHeld ? .held(counts, under: ["case 7"]) : .done(counts)
                }
            }
        }

        func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
            orders.map { order in
                let id = order.user.exposeText()
                if let failure = bench.note("verify \(id)") { return .failure(failure) }
                return bench.objects.contains(id) ? .remaining(1) : .clean
            }
        }

        func users(
            where isWanted: @escaping @Sendable (UserID) -> Bool
        ) async -> UsersAnswer {
            .found(bench.objects.sorted().compactMap { UserID($0) }.filter(isWanted))
        }

        func plan(_ order: PurgeOrder) async -> PlanAnswer {
            let isThere = bench.objects.contains(order.user.exposeText())
            return .items([PlanItem(name: "files", action: .delete, count: isThere ? 1 : 0)])
        }
    }

    private struct Keeper: FoundKeyStore {
        let bench: KeyBench

        init(_ bench: KeyBench) { self.bench = bench }

        var late: any FoundKeyStore { self }

        func add(_ found: [FoundKeys]) async -> EffectFailure? {
            if let failure = bench.note("keep") { return failure }
            bench.state.withLock { state in
                for found in found {
                    if found.isOwn { state.own.insert(found.name) }
                    state.kept[found.name, default: [:]][found.request, default: []]
                        .formUnion(found.ids.map { $0.exposeText() })
                }
            }
            return nil
        }

        func keys(of requests: [RequestID], as name: KeyName) async -> [RequestID: KeysAnswer] {
            if let failure = bench.note("read") {
                return Dictionary(requests.map { ($0, .failure(failure)) }) { first, _ in first }
            }
            return bench.state.withLock { state in
                (state.kept[name] ?? [:]).filter { requests.contains($0.key) }.mapValues { ids in
                    .found(ids.sorted().compactMap { UserID($0) })
                }
            }
        }
    }

    /// The text itself: the tests look at nothing but that marks differ.
    private struct PlainHasher: KeyedHasher {
        func hash(_ text: String, domain: HashDomain) -> [UInt8] { Array(text.utf8) }
    }
}
