import Lifecycle

/// The application's tables at one moment.
struct SQLSchema: Sendable {
    /// By name.
    let tables: [TableShape]
    /// Changes with every change of the schema; 0 where a server has no such number.
    let version: Int64
    private let places: [String: Int]
    private let ignoresCase: Bool

    /// `aliases` are more names that rules may use, each with the table's.
    init(
        _ tables: [TableShape],
        aliases: [(alias: String, table: String)] = [],
        version: Int64 = 0,
        ignoresCase: Bool
    ) {
        self.tables = tables.map(\.withKeptColumns).sorted { $0.name < $1.name }
        self.version = version
        self.ignoresCase = ignoresCase
        let key = { (name: String) in ignoresCase ? name.lowercased() : name }
        let names = self.tables.enumerated().map { (key($1.name), $0) }
        var places = Dictionary(names) { first, _ in first }
        for (alias, table) in aliases {
            places[key(alias)] = places[key(alias)] ?? places[key(table)]
        }
        self.places = places
    }

    func table(_ name: String) -> TableShape? {
        places[ignoresCase ? name.lowercased() : name].map { tables[$0] }
    }

    /// The same claims, with tables named as here.
    func resolved(_ claims: SchemaClaims) -> SchemaClaims {
        let name = { table($0)?.name ?? $0 }
        return SchemaClaims(
            rules: claims.rules.map { $0.named(name) },
            keys: claims.keys.map { $0.named(name) }
        )
        .datedByParents()
    }

    /// What looks like user data in the application's own tables, also by sampled values, and the
    /// tables that were not read.
    func findings(
        _ claims: SchemaClaims,
        _ user: SuggestionUser? = nil,
        _ sample: SchemaSample = SchemaSample()
    ) -> [CoverageFinding] {
        let own = tables.filter { $0.isOwn && $0.holdsRows }
        let unread = own.compactMap { table -> CoverageFinding? in
            let right = table.unreadable.map { "only names were looked at: \($0)" }
            let reason = right ?? sample.unread[table.name]
            return reason.map { CoverageFinding(.unread, table.name, $0) }
        }
        return SchemaCoverage(
            tables: own,
            claims: resolved(claims),
            holders: user.map { RuleSuggester.holders(self, $0, sample) } ?? [],
            samples: sample.tables,
            knowsUsers: sample.userCount > 0 && !sample.hasMoreUsers
        )
        .findings() + unread
    }
}
