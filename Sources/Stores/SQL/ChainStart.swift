import Engine
import Lifecycle

/// How a purge finds out that nothing led to the rows of a rule with ``TableRule/via``.
///
/// The rows at which a chain starts go behind those that they lead to. Where the application has
/// deleted them first, no statement finds the user's among the others any more.
struct ChainStart: Sendable {
    /// Count the rows of a user at which the chain starts, one statement for each table.
    let rowSQL: [String]
    /// True for a row of the rule's table that may be of a user without such rows.
    let isLoose: String
    /// Finds one.
    let looseSQL: String
    /// What the receipt says then.
    let entry: PurgeCounts.Entry

    /// `nil` for a rule that needs no other row, and where foreign keys let no row be loose.
    init?<Dialect: SQLDialect>(
        _ rule: TableRule,
        in table: TableShape,
        unmasked: String,
        _ planner: ForeignKeyPlanner<Dialect>
    ) {
        guard rule.action.changesRows, let via = rule.via,
            let condition = planner.isLoose(rule, in: table)
        else { return nil }
        // What was masked for others is not the user's.
        isLoose = condition + planner.uncounted(by: rule, in: table) + unmasked
        looseSQL = Dialect.count(in: table, where: isLoose, limit: "1")
        rowSQL = planner.startSQL(of: rule)
        entry = PurgeCounts.Entry(
            name: rule.table,
            action: PurgeCounts.unreachedAction("\(rule.column) via \(via.table).\(via.column)"),
            rowCount: 0
        )
    }

    /// To be tried at the check.
    var statements: [String] { rowSQL + [looseSQL] }
}

extension ForeignKeyPlanner {
    /// Counts a user's rows at which the chain of a rule starts, then those of the account.
    ///
    /// While the account stands, the application has not begun to erase it: rows that lead to
    /// nobody are older, and of others. A newer row is of a later account, and says nothing of the
    /// one that is deleted.
    fileprivate func startSQL(of rule: TableRule) -> [String] {
        var seen: Set<TableRule> = []
        return (roots(of: rule) + accounts(like: root(of: rule))).filter {
            seen.insert($0).inserted
        }
        .map { root in
            let table = shape(root.table)
            let old = newer(root, in: table).map { " AND NOT \($0)" }.joined()
            return Dialect.count(in: table, where: match(root, in: table) + old, limit: "1")
        }
    }

    /// The rules of which a user has one row at most, found by the same parameters as a root's.
    private func accounts(like root: TableRule) -> [TableRule] {
        rules.filter { rule in
            rule.via == nil && rule.inside == nil && rule.idType == root.idType
                && rule.idTemplate == nil && root.idTemplate == nil
                && shape(rule.table).isUnique([rule.column])
        }
    }

    /// True for a row whose parent is missing or loose itself; `nil` where none can be.
    ///
    /// What stands inside a value may be anybody's: such a row is loose whatever it refers to.
    fileprivate func isLoose(
        _ rule: TableRule,
        in table: TableShape,
        _ depth: Int = 1
    ) -> String? {
        guard let via = rule.via, depth < Self.depthMax else { return nil }
        let (conditions, key) = (rule.conditions.map { $0.sql(in: table, Dialect.self) }, key(rule))
        guard rule.inside == nil else {
            return (conditions + [isSet([rule.column], table)]).joined(separator: " AND ")
        }
        let parent = shape(via.table).named("led\(depth)")
        let above = followed(via.table).compactMap { isLoose($0, in: parent, depth + 1) }
        var kinds = [cleared(key, rule, table)].compactMap(\.self)
        if !above.isEmpty || key?.isEnforced != true {
            let isLed = join(rule, table, parent).isEqual
            let firm = above.map { " AND NOT coalesce(\($0), 1 = 0)" }.joined()
            let columns = joined(rule).map(\.child)
            let refers = [isSet(columns, table)] + columns.map { isNoSentinel($0, table) }
            kinds.append(
                refers.joined(separator: " AND ") + " AND NOT "
                    + exists(parent, where: isLed + firm)
            )
        }
        guard !kinds.isEmpty else { return nil }
        return (conditions + [anyOf(kinds)]).joined(separator: " AND ")
    }

    /// True for a row that may have referred to one that was deleted, and that nobody else owns.
    ///
    /// In a tree such a row cannot be told from one at the top, of which no user is the owner.
    private func cleared(
        _ key: ForeignKey?,
        _ rule: TableRule,
        _ table: TableShape
    ) -> String? {
        guard let key, key.setsNull, !isBranch(rule) else { return nil }
        let owners = rules(of: rule.table).filter { $0.via == nil && $0.inside == nil }
        let isOwned = owners.map { " AND NOT " + isSet([$0.column], table) }.joined()
        return "NOT (\(isSet(key.childColumns, table)))" + isOwned
    }

    private func isSet(_ columns: [String], _ table: TableShape) -> String {
        let terms = columns.map { "\(Dialect.column($0, of: table.reference)) IS NOT NULL" }
        return terms.joined(separator: " AND ")
    }

    /// Applications write these where they mean that there is no parent.
    private func isNoSentinel(_ column: String, _ table: TableShape) -> String {
        let values = ["", "0", "-1", "00000000-0000-0000-0000-000000000000"]
        let list = values.map { Dialect.literal($0) }.joined(separator: ", ")
        return Dialect.text(Dialect.column(column, of: table.reference)) + " NOT IN (\(list))"
    }

    /// The foreign key by which the rows of a rule refer to their parents.
    private func key(_ rule: TableRule) -> ForeignKey? {
        let names = joined(rule)
        return schema(of: rule.table).foreignKeys.first { key in
            key.parent == rule.via?.table && key.childColumns == names.map(\.child)
                && key.parentColumns == names.map(\.parent)
        }
    }
}

extension SQLConnection {
    /// Whether rows of the user stand at which the chain of a rule starts.
    func leads(
        _ start: ChainStart,
        _ parameters: SQLParameters
    ) throws(SQLError) -> Bool {
        for sql in start.rowSQL {
            if try count(sql, parameters) > 0 { return true }
        }
        return false
    }
}

extension PurgeAnswer {
    var counts: PurgeCounts? {
        switch self {
        case .done(let counts), .held(let counts, _), .halted(let counts): counts
        case .stopped, .failure: nil
        }
    }

    /// What it says of rules to which nothing led.
    var unreached: [PurgeCounts.Entry] { counts?.unreached ?? [] }

    /// The same answer without what it says of rules of which no row is loose.
    func without(_ entries: Set<PurgeCounts.Entry>) -> PurgeAnswer {
        guard !entries.isEmpty, var counts else { return self }
        counts.entries.removeAll(where: entries.contains)
        return switch self {
        case .done: .done(counts)
        case .held(_, let names): .held(counts, under: names)
        case .halted: .halted(counts)
        case .stopped, .failure: self
        }
    }
}
