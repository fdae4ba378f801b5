import Engine
import Lifecycle

/// How a purge finds out that nothing led to the rows of a rule with ``TableRule/via``.
///
/// The rows at which a chain starts go behind those that they lead to. Where the application has
/// deleted them first, no statement finds the user's among the others any more.
struct ChainStart: Sendable {
    /// Count the rows of a user at which the chain starts, one statement for each table.
    let rowSQL: [(table: String, sql: String)]
    /// Count the rows of the user's account; empty without any.
    let accountSQL: [(table: String, sql: String)]
    /// While the account stands, there should be no more orphans than before: each is a fault of
    /// the data, and not what applications write every day.
    let isFault: Bool
    /// True for a row of the rule's table that may be of a user without such rows.
    let isOrphan: String
    /// Counts them, up to a limit.
    let orphanSQL: String
    /// What the receipt says then.
    let entry: PurgeCounts.Entry

    /// What leads to the rows of a rule: one at which the chain starts, or the account alone.
    enum Lead { case row, account }

    /// `nil` for a rule that needs no other row, and where foreign keys let no row be an orphan.
    init?<Dialect: SQLDialect>(
        _ rule: TableRule,
        in table: TableShape,
        unmasked: String,
        _ planner: ForeignKeyPlanner<Dialect>
    ) {
        guard rule.action.changesRows, let via = rule.via,
            let condition = planner.isOrphan(rule, in: table)
        else { return nil }
        // What was masked for others is not the user's.
        isOrphan = condition + planner.uncounted(by: rule, in: table) + unmasked
        orphanSQL = Dialect.count(in: table, where: isOrphan, limit: Dialect.limit)
        let roots = planner.roots(of: rule)
        rowSQL = planner.countSQL(of: roots)
        let accounts = planner.accounts(like: planner.root(of: rule))
        accountSQL = roots.contains(where: accounts.contains) ? [] : planner.countSQL(of: accounts)
        isFault = !accountSQL.isEmpty && planner.isFault(rule)
        entry = PurgeCounts.Entry(
            name: rule.table,
            action: .unreached(rule.column, via: "\(via.table).\(via.column)"),
            rowCount: 0
        )
    }

    /// To be tried at the check.
    var statements: [String] { (rowSQL + accountSQL).map(\.sql) + [orphanSQL] }
}

extension ForeignKeyPlanner {
    /// Counts a user's rows of rules without ``TableRule/via``.
    ///
    /// A newer row is of a later account, and says nothing of the one that is deleted.
    fileprivate func countSQL(of roots: [TableRule]) -> [(table: String, sql: String)] {
        var seen: Set<TableRule> = []
        return roots.filter { seen.insert($0).inserted }.map { root in
            let table = shape(root.table)
            let old = newer(root, in: table).map { " AND NOT \($0)" }.joined()
            let sql = Dialect.count(in: table, where: match(root, in: table) + old, limit: "1")
            return (table: root.table, sql: sql)
        }
    }

    /// The rules that delete the one row of a user, found by the same parameters as a root's: those
    /// of tables of users, or else all.
    fileprivate func accounts(like root: TableRule) -> [TableRule] {
        let found = rules.filter { rule in
            rule.via == nil && rule.inside == nil && rule.action.deletes
                && rule.idType == root.idType && rule.idTemplate == nil && root.idTemplate == nil
                && shape(rule.table).isUnique([rule.column])
        }
        let named = found.filter { PersonalNames.isTableOfUsers($0.table) }
        return named.isEmpty ? found : named
    }

    /// True for a row whose parent is missing or an orphan itself; `nil` where none can be.
    ///
    /// What stands inside a value may be anybody's: such a row is an orphan whatever it refers to.
    fileprivate func isOrphan(
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
        let above = followed(via.table).compactMap { isOrphan($0, in: parent, depth + 1) }
        var kinds = [cleared(key, rule, table)].compactMap(\.self)
        if !above.isEmpty || key?.isEnforced != true {
            let isLed = join(rule, table, parent).isEqual
            let firm = above.map { " AND NOT coalesce(\($0), 1 = 0)" }.joined()
            let columns = joined(rule).map(\.child)
            kinds.append(
                isSet(columns, table) + isNoSentinel(columns, table) + " AND NOT "
                    + exists(parent, where: isLed + firm)
            )
        }
        guard !kinds.isEmpty else { return nil }
        return (conditions + [anyOf(kinds)]).joined(separator: " AND ")
    }

    /// Whether every row should have a parent: a key or the like leads to it, and from there on.
    fileprivate func isFault(_ rule: TableRule, _ depth: Int = 1) -> Bool {
        guard let via = rule.via else { return true }
        let (key, table) = (key(rule), shape(rule.table))
        return depth < Self.depthMax && rule.inside == nil && !isByValue(rule)
            && !isReleased(rule) && cleared(key, rule, table) == nil
            && (key != nil || shape(via.table).isUnique([via.column]))
            && followed(via.table).allSatisfy { isFault($0, depth + 1) }
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

    /// Applications write these where they mean that there is no parent; begins with AND.
    ///
    /// Empty for a key of several columns, of which one may well be zero, and for bytes.
    private func isNoSentinel(_ columns: [String], _ table: TableShape) -> String {
        guard columns.count == 1, let shape = Dialect.shape(columns[0], in: table),
            !shape.idTypes.contains(.blob)
        else { return "" }
        let values = ["", "0", "00000000-0000-0000-0000-000000000000"]
        let list = values.map { Dialect.literal($0) }.joined(separator: ", ")
        let text = Dialect.text(Dialect.column(columns[0], of: table.reference))
        return " AND \(text) NOT IN (\(list))"
    }
}

extension SQLConnection {
    /// What the counts say of a rule if no row of the user stands at which its chain starts.
    ///
    /// Until the orphans are counted, an entry of one row says that the account stood.
    func unreached(
        _ table: TablePlan<Dialect>,
        _ order: PurgeOrder,
        _ reached: inout [TableRule: ChainStart.Lead]
    ) throws(SQLError) -> [PurgeCounts.Entry] {
        guard let start = table.start, reached[table.rule] != .row,
            let user = table.root.key(for: order.user)
        else { return [] }
        for (place, sql) in start.rowSQL where reached[table.rule] != .row {
            let rows = try count(sql, .of(user, time: order.cutoff), in: place)
            if rows > 0 { reached[table.rule] = .row }
        }
        guard reached[table.rule] != .row else { return [] }
        var entry = start.entry
        if reached[table.rule] == .account { entry.rowCount = 1 }
        return [entry]
    }

    /// The rules of users whose account stands before the work begins.
    func ledByAccount(
        _ order: PurgeOrder,
        _ plan: SQLPlan<Dialect>
    ) throws(SQLError) -> [TableRule: ChainStart.Lead] {
        var found: [TableRule: ChainStart.Lead] = [:]
        var known: [String: Bool] = [:]
        for table in plan.tables {
            guard let start = table.start, !start.accountSQL.isEmpty,
                let user = table.root.key(for: order.user)
            else { continue }
            for (place, sql) in start.accountSQL where known[sql] == nil {
                known[sql] = try count(sql, .of(user, time: order.cutoff), in: place) > 0
            }
            guard start.accountSQL.allSatisfy({ known[$0.sql] == true }) else { continue }
            // Where orphans come and go every day, their count says nothing.
            found[table.rule] = start.isFault ? .account : .row
        }
        return found
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

    /// The same answer without what it says of rules of which no row can be the user's.
    func without(_ entries: Set<PurgeCounts.Entry>) -> PurgeAnswer {
        guard !unreached.isEmpty, var counts else { return self }
        counts.entries.removeAll(where: entries.contains)
        for index in counts.entries.indices where counts.entries[index].isUnreached {
            counts.entries[index].rowCount = 0
        }
        return switch self {
        case .done: .done(counts)
        case .held(_, let names): .held(counts, under: names)
        case .halted: .halted(counts)
        case .stopped, .failure: self
        }
    }
}
