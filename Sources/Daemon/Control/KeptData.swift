import Encoding
import Lifecycle

/// What a purge left of one table for one reason, as receipts and reports say it.
struct KeptData: Hashable {
    let target: TargetName
    let table: String
    /// Those that lead to the user still.
    var columns: [String] = []
    let rowCount: Int
    let reason: String

    var json: JSONValue {
        [
            "target": .string(target.rawValue), "table": .string(table),
            "columns": columns.isEmpty ? nil : .array(columns.map { .string($0) }),
            "rows": .integer(Int64(rowCount)), "reason": .string(reason),
        ]
    }

    /// What is kept, kept without its personal columns, or newer than the request.
    static func find(in work: PurgeWork, _ scope: ErasureScope) -> [KeptData] {
        let entries = work.counts.entries
        func data(_ table: String, _ rowCount: Int, _ reason: String) -> KeptData {
            KeptData(target: work.target, table: table, rowCount: rowCount, reason: reason)
        }
        let later =
            "newer than the request, or of unreadable time: they may belong to a later life of the"
            + " account"
        let newer = entries.filter { $0.newerCount > 0 }
            .map { data($0.name, $0.newerCount, later) }
        let shared = entries.filter { $0.action == .shared && $0.rowCount > 0 }
            .map { data($0.name, $0.rowCount, "kept: what it names still has other owners") }
        let passedOver = entries.compactMap { entry in
            entry.passedOverReason.map { data(entry.name, entry.rowCount, $0) }
        }
        return kept(in: work, scope) + newer + shared + passedOver
    }

    /// What the configuration keeps; rules of one table for one reason are one.
    private static func kept(in work: PurgeWork, _ scope: ErasureScope) -> [KeptData] {
        guard let target = scope.target(work.target) else { return [] }
        var found: [KeptData] = []
        for table in target.tables {
            guard let reason = table.kept else { continue }
            let entries = work.counts.entries.filter { target.tables(of: $0.name).contains(table) }
            let name = entries.first?.name ?? table.name
            guard !found.contains(where: { $0.table == name && $0.reason == reason }) else {
                continue
            }
            // What a purge deleted before a reload kept the table is not there any more.
            let there = entries.filter {
                if case .rule(let verb, _) = $0.action { verb != .delete } else { false }
            }
            let rules = target.tables(of: name)
            let count = rowCount(there, for: reason, of: rules.compactMap(\.kept))
            let leading = Set(rules.filter { $0.kept == reason }.compactMap(\.leading))
            found.append(
                KeptData(
                    target: work.target,
                    table: name,
                    columns: leading.sorted(),
                    rowCount: count,
                    reason: reason
                )
            )
        }
        return found
    }

    /// How many rows the rules with that reason left, of a table that is kept for these reasons.
    ///
    /// Rows under a reason that a reload changed go to the first reason of the same action.
    private static func rowCount(
        _ entries: [PurgeCounts.Entry],
        for reason: String,
        of reasons: [String]
    ) -> Int {
        func sum(_ entries: [PurgeCounts.Entry]) -> Int { entries.reduce(0) { $0 + $1.rowCount } }
        let told = entries.map { ($0, Self.reason(of: $0.action.description, among: reasons)) }
        let own = told.filter { $0.1 == reason }.map(\.0)
        let verb = action(reason).prefix { $0 != ":" }
        let isFirst = reasons.first { action($0).hasPrefix(verb) } == reason
        let loose = isFirst ? told.filter { $0.1 == nil }.map(\.0) : []
        let same = loose.filter { $0.action.description.hasPrefix(verb) }
        // Kept rows are counted anew by each pass, those that were masked only once.
        if verb == "keep", !own.isEmpty { return sum(own) }
        if !own.isEmpty || !same.isEmpty { return sum(own + same) }
        return reasons.first == reason ? sum(loose) : 0
    }

    /// The reason that an action names; the longest, since one may begin like another.
    private static func reason(of text: String, among reasons: [String]) -> String? {
        reasons.filter { text == action($0) || text.hasPrefix(action($0) + ", ") }
            .max { $0.count < $1.count }
    }

    /// How the actions of rules with that reason begin.
    private static func action(_ reason: String) -> String {
        for (word, verb) in [("anonymized", "anonymize"), ("kept", "keep")]
        where reason.hasPrefix(word) { return verb + reason.dropFirst(word.count) }
        return reason
    }
}
