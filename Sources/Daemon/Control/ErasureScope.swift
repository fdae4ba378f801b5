import Engine
import FoundationEssentials
import Lifecycle
import Settings
import Storage
import Stores

/// What receipts need of a configuration: what a deletion keeps and why, where it stops, until when
/// backups survive, and where users cut their links by hand.
///
/// It is written down before it comes into force, and each request names the one that was in force
/// when it ended: no later configuration changes what its receipt says. Where a reload meets a
/// running purge, the new configuration counts, because what is left of the request is done and
/// verified as that says. What a store was asked for and told before is on the receipt by its own
/// record (``Lifecycle/PurgeCounts``), so nothing that was kept goes unmentioned.
///
/// Holds no name of a credential and no place of a store, nor anything of a user.
struct ErasureScope: Codable, Hashable, Sendable {
    struct Target: Codable, Hashable, Sendable {
        let name: String
        /// Whether everything in it is left alone that is newer than the request.
        let hasTimestamps: Bool
        /// How long erased data survives in backups; `nil` when nobody said.
        let backupsKeptMilliseconds: Int64?
        let tables: [Table]
        /// How the database compares names of tables; absent where it has none, and from scopes
        /// of earlier versions, whose receipts stay as they are.
        let naming: TableNaming?
    }

    struct Table: Codable, Hashable, Sendable {
        let name: String
        /// Whether its rows are left alone that are newer than the request.
        let hasTimestamps: Bool
        /// What is kept of its rows and why; `nil` where they are deleted.
        let kept: String?
    }

    /// How a user cuts a link by hand.
    struct UserAction: Codable, Hashable, Sendable {
        let url: String
        let text: String
    }

    let targets: [Target]
    /// By the name of the provider.
    let userActions: [String: UserAction]
    /// What no deletion reaches.
    let notInScope: [String]
    /// ``formNow`` when it was written; absent from scopes of earlier versions, whose receipts stay
    /// as they are.
    private(set) var form: Int?

    /// The second: receipts name the targets that came too late.
    private static let formNow = 2

    /// Takes what is needed out of a configuration.
    init(_ configuration: DaemonConfiguration, _ traits: [ProviderName: ProviderTraits]) {
        targets = configuration.targets.map { Target($0, in: configuration) }
        userActions = traits.reduce(into: [:]) { actions, provider in
            actions[provider.key.rawValue] = UserAction(
                url: provider.value.userActionURL,
                text: provider.value.userActionText
            )
        }
        notInScope = Self.notInScope
        form = Self.formNow
    }

    /// Reads what ``document()`` wrote.
    ///
    /// - Throws: `DecodingError` for anything else.
    init(document: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(document.utf8))
    }

    /// The same text for the same content.
    ///
    /// - Throws: `EncodingError`, which no value of this type leads to.
    func document() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The same for requests that ended before scopes were written down: what is configured now
    /// says nothing of what was missing then.
    var forEarlierRequests: ErasureScope {
        var scope = self
        scope.form = nil
        return scope
    }

    /// The targets that are not part of a deletion, since they were configured too late for it.
    func lateTargets(of request: Request) -> [String] {
        guard form != nil, request.kind == .deleteAccount else { return [] }
        let known = Set(request.purges.map(\.target.rawValue))
        return targets.map(\.name).filter { !known.contains($0) }
    }

    /// `nil` for a target that was not configured.
    func target(_ name: TargetName) -> Target? { targets.first { $0.name == name.rawValue } }

    /// True of every deletion, whatever is configured.
    private static let notInScope = [
        "stores that are not configured as a target of this service",
        "data that was handed to others, also by the providers named here",
        "backups and copies of a store, until its erasure horizon",
        "this receipt, the keyed hash of the user id that keeps the erasure through a restore, and"
            + " the entries of the ledger, none of which names the user",
    ]
}

extension ErasureScope.Target {
    fileprivate init(_ target: TargetConfiguration, in configuration: DaemonConfiguration) {
        // What nobody owns any more goes whole.
        let isShared = target.keyedBy.map(configuration.isShared) ?? false
        name = target.name.rawValue
        hasTimestamps = !isShared && target.store.cutoff == .everything
        backupsKeptMilliseconds = target.backupsKept?.milliseconds
        let tables = target.store as? any TableStore
        naming = tables?.naming
        self.tables = (tables?.claims.rules ?? []).map { rule in
            ErasureScope.Table(
                name: rule.table,
                hasTimestamps: !isShared && rule.creation != nil,
                kept: rule.kept
            )
        }
    }

    /// Whether entries of that name are left alone when they are newer than the request.
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

    /// How long erased data survives in backups; `nil` when nobody said.
    var backupsKept: Duration? { backupsKeptMilliseconds.map { .milliseconds($0) } }
}

extension TableRule {
    fileprivate var kept: String? {
        switch action {
        case .delete: nil
        case .anonymize: "anonymized: " + (reason ?? "")
        case .keep: "kept: " + (reason ?? "")
        }
    }
}

extension StateDatabase {
    /// Writes down what receipts will say of every request that ends from now on.
    ///
    /// - Throws: ``Storage/StorageError``: the scope of before counts on.
    func enforce(_ scope: ErasureScope) async throws {
        try await enforce(scope: scope.document()) { request in
            ReceiptStatement(request: request, scope: scope, isScopeRecorded: true).digest
        }
    }
}

extension Adapters {
    /// What receipts need of what is in force.
    var erasureScope: ErasureScope {
        ErasureScope(configuration, providers.mapValues(\.traits))
    }
}
