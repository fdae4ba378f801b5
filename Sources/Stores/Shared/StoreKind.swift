package import Engine
package import Lifecycle
package import Settings

/// A kind of store: its settings, what it can do, and how to open it.
///
/// Everything that is specific to a kind is in its folder; `Kinds` in `Daemon` lists the kinds.
package protocol StoreKind: SectionKind, Hashable {
    associatedtype Store: PurgeStore

    static var traits: StoreTraits { get }
    /// What the store leaves alone because it is newer than a request.
    var cutoff: StoreCutoff { get }

    /// Reads a section; reports what no single key can tell.
    init(_ section: inout SettingsSection, _ problems: inout SectionProblems)

    /// Makes the store.
    ///
    /// - Throws: Why the store cannot be set up, in one line; ``HTTP/SetupError`` for what only
    ///   another configuration mends.
    func open(_ environment: StoreEnvironment) async throws -> Store
}

extension StoreKind {
    /// Whether its stores can be searched for unmapped data.
    package var isSearchable: Bool { Store.self is any CoverageSearching.Type }

    /// Whether `other` is of the same kind and has the same settings.
    package func equals(_ other: any StoreKind) -> Bool { other as? Self == self }
}

/// A kind of store of which a drill can use a copy.
package protocol DrillCopying: StoreKind {
    /// The same store at another place.
    ///
    /// Only the last part of the way differs, so that no credential goes to another host.
    ///
    /// - Parameter place: A path, or the name or number of a database, bucket or tenant.
    /// - Returns: The store at that place.
    /// - Throws: ``NoStoreCopy`` for a place that cannot be one. Whether it exists is not checked.
    func copy(at place: String) throws(NoStoreCopy) -> Self

    /// Whether this store, a copy for a drill, may be the place of another one.
    ///
    /// A server has many names, so the last part of the way decides alone.
    ///
    /// - Throws: Why that cannot be decided, in one line.
    func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) throws -> Bool
}

/// What all stores of a kind have in common, besides what their types say.
package struct StoreTraits: Hashable, Sendable {
    /// Purged after all others: a user without an account cannot sign in to claim the rest.
    package var goesLast = false
    /// Whether the store dates its content itself, and so anew when a backup is restored.
    package var isDatedByRestoration = false
    /// The files that hold deleted data for a while, and until when; `nil` for none.
    package var residualCopies: String?
    /// Every sentence about copies that its stores put into a receipt.
    package var residualPhrases: [ResidualPhrase] = []
    /// A key that no two stores may have alike, unless they find its rows by different ids.
    package var uniqueKey: String?
}

/// What a store leaves alone because it is newer than a request.
package enum StoreCutoff: Hashable, Sendable {
    case everything
    /// Rows of tables with a time; those of the tables named are erased whatever their age.
    case tables(without: [String])
    /// Nothing: why, and what could be done about it.
    case none(String, remedy: String?)

    /// Why something is erased whatever its age; `nil` where everything has a cutoff.
    ///
    /// There, restored rows look like those of a new account under the same id.
    package var gap: String? {
        switch self {
        case .everything, .tables(without: []): nil
        case .tables(let names): "no created_at_column for \(names.joined(separator: ", "))"
        case .none(let reason, _): reason
        }
    }

    /// What could be done about ``gap``.
    package var remedy: String? {
        switch self {
        case .everything: nil
        case .tables: "name the column that dates their rows"
        case .none(_, let remedy): remedy
        }
    }
}

/// A store that keeps data in tables.
package protocol TableKind: StoreKind {
    /// The rules of its tables and the ids that its rows hold for other stores.
    var claims: SchemaClaims { get }
    var naming: TableNaming { get }

    /// Whether both work in one database.
    func sharesDatabase(with other: any StoreKind) -> Bool
}

/// How a database compares names of tables.
package struct TableNaming: Codable, Hashable, Sendable {
    package let ignoresCase: Bool
    /// The schemas that are searched; a table of the first one is counted without it.
    package let schemas: [String]
}

extension TableKind {
    package var cutoff: StoreCutoff {
        let rules = claims.rules.filter(\.hasNoTimestamps).map(\.table)
        let keys = claims.keys.filter { !$0.isShared && $0.creation == nil }.map(\.table)
        var seen: Set<String> = []
        return .tables(without: (rules + keys).filter { seen.insert($0).inserted })
    }
}

/// Why there is no copy of a store at a place.
package enum NoStoreCopy: Error, Hashable, Sendable {
    /// What the place must be, in words that follow "must be".
    case malformed(String)
    /// Why a store of that kind has no copy beside it.
    case impossible(String)
}

extension TextRule {
    /// - Throws: ``NoStoreCopy`` for a place that does not follow the rule.
    func check(_ place: String) throws(NoStoreCopy) -> String {
        guard accepts(place) else { throw .malformed(requirement) }
        return place
    }

    /// A prefix, key or path in which the user id stands.
    static let userObject = TextRule(
        "key with {user_id}",
        "1 to 1024 bytes with {user_id} once and no control characters"
    ) { $0.utf8.count <= 1024 && isPrintable($0) && namesUserOnce($0) }
}

/// A store that keeps files open between calls.
package protocol FileHolding: PurgeStore {
    /// Closes the files that no call is using; the next call opens them again.
    func closeIdleFiles() async
}
