import Control
import Cryptography
import Encoding
import Engine
import Lifecycle
import Settings
import Storage
import Stores

/// What receipts need of a configuration.
///
/// It is recorded before it comes into force, and each request names the one in force when it
/// ended, so no later configuration changes its receipt. If a reload meets a running purge, the
/// new configuration counts. It holds no credential name, no store location and no user's data.
struct ErasureScope: Codable, Hashable, Sendable {
    struct Store: Codable, Hashable, Sendable {
        let name: String
        /// Whether everything newer than the request is left alone.
        let hasTimestamps: Bool
        /// `nil` when the configuration does not say.
        let backupsKeptMilliseconds: Int64?
        let tables: [Table]
        /// How the database compares table names; absent where it has none.
        let naming: TableNaming?
        /// Whether stores of its kind can be searched for unmapped data.
        let isSearchable: Bool
        /// A digest of where its database is; `nil` where that is not known.
        fileprivate(set) var location: String?
        /// `nil` without one under the rules in force.
        fileprivate(set) var search: Search?
    }

    /// What the last search for unmapped data found.
    struct Search: Codable, Hashable, Sendable {
        /// No time: each other text is stored as a scope of its own.
        let day: String
        private(set) var unmapped: Places
        /// What was not read, or only in part.
        let unexamined: Places
        /// Names of what was not read; only while the search is new.
        private var unread: Set<String> = []

        private enum CodingKeys: CodingKey { case day, unmapped, unexamined }

        init(_ report: CoverageReport, in store: StoreConfiguration, at time: WallTime) {
            let isNamed = store.settings is any TableKind
            day = String(time.rfc3339.prefix(10))
            unmapped = Places(report.unmapped, isNamed: isNamed)
            unexamined = Places(report.sampled, isNamed: isNamed)
            unread = Set(report.sampled.filter(\.isUnread).map(\.name))
        }

        /// Takes over what an earlier one found where this one did not read.
        fileprivate mutating func keep(_ earlier: Self) {
            guard !unread.isEmpty else { return }
            let isWhole = unexamined.names.isEmpty || unread.contains(CoverageFinding.everywhere)
            let kept = earlier.unmapped.names.filter { name in
                isWhole || unread.contains { name == $0 || name.hasPrefix($0 + ".") }
            }
            if isWhole || !kept.isEmpty { unmapped.add(kept, restMin: earlier.unmapped.rest) }
        }
    }

    /// Tables and columns; what is in other stores may be named after users, and is counted.
    struct Places: Codable, Hashable, Sendable {
        private static let namesMax = 1000
        /// Of a receipt.
        private static let shownMax = 50
        /// Characters of a name: paths in a schema have any length.
        private static let nameMax = 200

        private(set) var names: [String]
        private(set) var rest: Int

        fileprivate init(_ found: [CoverageFinding], isNamed: Bool) {
            let places = Set(found.map(\.name)).sorted()
            names = places.prefix(isNamed ? Self.namesMax : 0).map {
                String($0.prefix(Self.nameMax))
            }
            rest = places.count - names.count
        }

        fileprivate mutating func add(_ others: [String], restMin: Int) {
            let all = Set(names + others).sorted()
            names = Array(all.prefix(Self.namesMax))
            rest = max(rest + all.count - names.count, restMin)
        }

        var shown: [String] { Array(names.prefix(Self.shownMax)) }
        var moreCount: Int { names.count - shown.count + rest }

        /// Some of the places; `nil` where there are none.
        var text: String? {
            var some = Array(names.prefix(5))
            let count = names.count - some.count + rest
            if count > 0 {
                let other = count == 1 ? "1 other place" : "\(count) other places"
                some.append("\(other) (run: expungectl stores check)")
            }
            return some.isEmpty ? nil : some.joined(separator: ", ")
        }
    }

    /// What a rule does instead of deleting rows, and why.
    struct Kept: Codable, Hashable, Sendable {
        let action: PlanItem.Action
        let reason: String?
    }

    struct Table: Codable, Hashable, Sendable {
        let name: String
        /// Whether rows newer than the request are left alone.
        let hasTimestamps: Bool
        /// `nil` where the rows are deleted.
        let kept: Kept?
        /// The column that leads to the user in rows that stay; `nil` where it is masked.
        let leading: String?
    }

    /// `nil` where none is configured.
    let controller: Controller?
    let recipients: [Recipient]?
    private(set) var stores: [Store]
    /// A digest of what is purged: a search counts as long as it is the same.
    let rules: String
    let userActions: [String: WireUserAction]
    let notInScope: [String]

    /// `locations` are those of databases, which the configuration does not name.
    init(
        _ configuration: DaemonConfiguration,
        _ traits: [ProviderName: ProviderTraits],
        locations: [StoreName: String] = [:]
    ) {
        controller = configuration.controller
        recipients = configuration.recipients.isEmpty ? nil : configuration.recipients
        let digest = { (text: String) in Base64URL.text(SHA256.hash(Array(text.utf8))) }
        stores = configuration.stores.map { store in
            var made = Store(store, in: configuration)
            made.location = locations[store.name].map(digest)
            return made
        }
        let parts = configuration.stores.map { store in
            let rules = configuration.planRules(of: store.name)
            return PurgePlan.Part(store: store.name, items: nil, rules: rules)
        }
        rules = digest(PurgePlan.canonicalText(of: [], parts, user: []))
        userActions = traits.reduce(into: [:]) { actions, provider in
            actions[provider.key.rawValue] = WireUserAction(provider.value)
        }
        notInScope = Self.notInScope
    }

    /// Every request has one that ended: another configuration says nothing of it.
    init(document: String?) throws {
        guard let document else { throw DaemonError(.state, "a request names no scope") }
        self = try TypedJSON.value(Self.self, from: document.utf8)
    }

    /// The same text for the same content.
    func document() throws -> String { try TypedJSON.text(self) }

    /// Stores that were configured too late for the deletion.
    func lateStores(of request: Request) -> [String] {
        guard request.kind == .deleteAccount else { return [] }
        let known = Set(request.purges.map(\.store.rawValue))
        return stores.map(\.name).filter { !known.contains($0) }
    }

    /// Takes the new searches, by the store's name, and those from under the same rules.
    fileprivate mutating func add(_ new: [String: Search], _ earlier: ErasureScope?) {
        let known = earlier?.rules == rules ? earlier?.stores ?? [] : []
        for index in stores.indices {
            let (name, place) = (stores[index].name, stores[index].location)
            let old = known.first { $0.name == name }
            stores[index].location = place ?? old?.location
            // A credential that cannot be read now says nothing of where the database is.
            let search = stores[index].location == old?.location ?? place ? old?.search : nil
            stores[index].search = new[name] ?? search
            if let search { stores[index].search?.keep(search) }
        }
    }

    func store(_ name: StoreName) -> Store? { stores.first { $0.name == name.rawValue } }

    private static let notInScope = [
        "stores that are not configured in this service",
        "data that was handed to others, also by the providers named here",
        "backups and copies of a store, until its erasure horizon",
        "this receipt, the keyed hash of the user id that keeps the erasure through a restore, and"
            + " the entries of the ledger, none of which names the user",
    ]
}

extension ErasureScope.Store {
    fileprivate init(_ store: StoreConfiguration, in configuration: DaemonConfiguration) {
        // What nobody owns any more goes whole.
        let isShared = store.keyedBy.map(configuration.isShared) ?? false
        name = store.name.rawValue
        hasTimestamps = !isShared && store.settings.cutoff == .everything
        backupsKeptMilliseconds = store.backupsKept?.milliseconds
        isSearchable = store.settings.isSearchable
        let tables = store.settings as? any TableKind
        naming = tables?.naming
        self.tables = (tables?.claims.rules ?? []).map { rule in
            ErasureScope.Table(
                name: rule.table,
                hasTimestamps: !isShared && rule.hasTimestamps,
                kept: rule.kept,
                leading: rule.kept == nil || rule.isMasked(rule.column) ? nil : rule.column
            )
        }
    }

    func hasTimestamps(_ entry: String) -> Bool {
        hasTimestamps || tables(of: entry).contains(where: \.hasTimestamps)
    }

    /// The tables of the configuration that entries of that name are about.
    func tables(of entry: String) -> [ErasureScope.Table] {
        guard let naming else { return tables.filter { $0.name == entry } }
        if naming.ignoresCase {
            return tables.filter { $0.name.lowercased() == entry.lowercased() }
        }
        let first = naming.schemas.first.map { $0 + "." } ?? ""
        let named = tables.filter { $0.name == entry || $0.name == first + entry }
        guard named.isEmpty else { return named }
        // In no other schema was one of that name before.
        return tables.filter { table in
            naming.schemas.contains { "\($0).\(table.name)" == entry }
        }
    }

    var backupsKept: Duration? { backupsKeptMilliseconds.map { .milliseconds($0) } }
}

extension TableRule {
    fileprivate var kept: ErasureScope.Kept? {
        switch action {
        case .delete, .cascade: nil
        case .anonymize: ErasureScope.Kept(action: .anonymize, reason: reason)
        case .keep: ErasureScope.Kept(action: .keep, reason: reason)
        }
    }
}

extension StateDatabase {
    /// Records what receipts say of every request that ends from now on.
    func enforce(_ scope: ErasureScope) async throws {
        try await enforce(scope: scope.document()) { request in
            ReceiptStatement(request: request, scope: scope).digest
        }
    }
}

extension Adapters {
    var erasureScope: ErasureScope {
        let locations = stores.compactMapValues { store in
            (store.unwrapped as? any CoverageSearching)?.location
        }
        return ErasureScope(configuration, providers.mapValues(\.traits), locations: locations)
    }

    /// Records what receipts say from now on; one call at a time: ``AdapterRegistry/turns``.
    func enforceScope(
        in state: StateDatabase,
        searches: [String: ErasureScope.Search] = [:]
    ) async throws {
        var scope = erasureScope
        let earlier = try await state.enforcedScope().map { try ErasureScope(document: $0) }
        scope.add(searches, earlier)
        try await state.enforce(scope)
    }
}
