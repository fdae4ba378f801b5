import Lifecycle

/// What a plan is made of.
struct WorkRules: Sendable {
    let tables: [TableRule]
    var keys: [KeyRule] = []
    /// Rows that are left alone.
    var holds: [RowFilter] = []
    /// What other stores do in the same database.
    var neighbours: [TableRule] = []
    /// See ``TableShape/sparesLongValues``.
    var sparesLongValues = false
}

/// All rules of a store in the order of work, for one version of the schema.
struct SQLPlan<Dialect: SQLDialect>: Sendable {
    let schemaVersion: Int64
    let tables: [TablePlan<Dialect>]
    let keys: [KeyPlan]
    /// Tables refer to each other in a circle, so that no order of work is children first: the
    /// database checks foreign keys at the end of each transaction.
    let isCircular: Bool

    /// Goes through the users of every table of which something is erased.
    var userScans: [UserScan] {
        var roots: Set<TableRule> = []
        return tables.filter { table in
            // A value with the ids of several users is no list of users.
            table.rule.action.changesRows && table.root.inside == nil
                && roots.insert(table.root).inserted
        }
        .map(\.users)
    }

    /// The tables, as statements name them.
    var references: [String] { Set(tables.map(\.reference)).sorted() }

    func key(_ name: String) -> KeyPlan? { keys.first { $0.rule.name == name } }
}

/// The conditions of one rule's rows.
struct RowConditions {
    let rule: TableRule
    let table: TableShape
    /// Finds the user's rows.
    let match: String
    /// Finds them in another way.
    let check: String
    /// True for a row that the cutoff protects; `nil` when it protects none.
    let cutoff: String?
    /// True for a row without a time.
    let undated: String
    /// Rows that are not masked yet; begins with AND, or is empty.
    let unmasked: String
    /// Rows that want work and are not held, newer ones included.
    let todo: String
    /// Rows that the cutoff does not protect; begins with AND, or is empty.
    let open: String
    /// `"column" = value`, separated by commas; `nil` when the rule masks nothing.
    let assignments: String?
    /// Masks whose values the service computes, in their order in ``assignments``.
    let computed: [ColumnMask]
    /// Foreign keys that can keep rows from going.
    let referring: [ReferringKey]
    /// The values of ``assignments`` need the user.
    let changesPart: Bool
    /// A row is changed as often as it takes.
    let isRepeated: Bool
    /// No foreign key leads to the table or from it.
    let isUnreferenced: Bool
    /// Later rows, mostly the children, have to go first.
    let isSelfReferencing: Bool
    /// Rows on which nothing hangs; begins with AND, or is empty.
    let guardian: String
    /// What goes with the last of these rows.
    let releases: [ReleasePlan]
    /// What else has to stand for the rows to be found.
    let start: ChainStart?
    /// Rows with a value of the user in another spelling; `nil` where there can be none.
    let spelled: String?

    /// Rows that are worked on.
    var work: String { match + todo + open + guardian }

    init<Dialect: SQLDialect>(_ rule: TableRule, _ planner: ForeignKeyPlanner<Dialect>) {
        let table = planner.shape(rule.table)
        (self.rule, self.table) = (rule, table)
        let others = planner.uncounted(by: rule, in: table)
        match = planner.match(rule, in: table) + others
        check = (planner.search(rule, in: table, .check) ?? "1 = 0") + others
        guardian = planner.guardian(of: rule, in: table)
        releases = planner.released(by: rule).map { ReleasePlan($0, from: table, planner) }
        cutoff = planner.cutoff(of: rule, in: table)
        undated =
            rule.creation.map { Dialect.isUndated($0, in: table) } ?? "1 = 0"
        var masks: [ColumnMask] = []
        var parts: [(value: String, test: String)] = []
        for mask in rule.masks {
            let (value, test) = planner.mask(mask, of: rule, in: table, computed: &masks)
            parts.append((value: "\(Dialect.quoted(mask.column)) = \(value)", test: test))
        }
        computed = masks
        assignments = parts.isEmpty ? nil : parts.map(\.value).joined(separator: ", ")
        let isMasked = parts.map(\.test).joined(separator: " AND ")
        changesPart = rule.changesPart
        isRepeated = rule.isRepeated
        // A part that is changed is not found again.
        unmasked = parts.isEmpty || rule.changesPart ? "" : " AND NOT (\(isMasked))"
        start = ChainStart(rule, in: table, unmasked: unmasked, planner)
        let hold = planner.hold(of: rule, in: table)
        todo = unmasked + (hold.map { " AND NOT \($0)" } ?? "")
        open = cutoff.map { " AND NOT \($0)" } ?? ""
        let left = todo + open
        let spelled = rule.action.changesRows ? planner.search(rule, in: table, .spelled) : nil
        self.spelled = spelled.map { $0 + left }
        referring = planner.referring(to: rule, in: table)
        isUnreferenced =
            table.foreignKeys.isEmpty
            && !planner.children(of: rule.table).contains { $0.key.isDeclared }
        isSelfReferencing = planner.isSelfReferencing(table)
    }
}

/// One rule, compiled to the statements that carry it out.
struct TablePlan<Dialect: SQLDialect>: Sendable {
    let rule: TableRule
    /// The rule that says how the user id is stored.
    let root: TableRule
    /// Each chunk takes the rows of a tree that nothing hangs on any more, or one place of each
    /// value, until there is none.
    let isLeafFirst: Bool
    /// Its rows go with the last of those by which they are found.
    let isReleased: Bool
    /// What goes with the last of its rows.
    let releases: [ReleasePlan]
    /// What else has to stand for its rows to be found; `nil` where nothing has.
    let start: ChainStart?
    /// In SQL.
    let reference: String
    /// The receipt's name.
    let table: String
    /// The receipt needs ``countSQL``: of rows without cutoff and times, the work counts all.
    let isCountedFirst: Bool
    /// Rows that want work or are kept, newer ones, undated ones that are not newer, up to
    /// ``SQLDialect/countLimit(_:)``.
    let countSQL: String
    /// The same of all rows.
    let planSQL: String
    /// What is left, in another form than the work; `nil` for kept rows.
    let remainingSQL: String?
    /// Rows in which the id is spelled otherwise; `nil` where there can be none.
    let nonCanonicalSQL: String?
    /// The sum of the two; `nil` without the second one.
    ///
    /// One statement for each user who is gone: at a server, a verification mostly waits.
    let suspectSQL: String?
    /// Rows with the id as it was submitted; `nil` where the work finds all.
    let literalSQL: String?
    /// Counts ``RowConditions/spelled``, before the work.
    let spelledSQL: String?
    /// Rows in which a part of JSON cannot be judged, by its column.
    let unclearParts: [(column: String, sql: String)]
    /// Rows by which its rows are found, or its own, stay while there are such parts.
    let isAwaited: Bool
    /// Rows dated later than the time; `nil` where nothing is dated or all are kept.
    let futureSQL: String?
    /// Rows that want work and stay under a hold; `nil` without one.
    let heldSQL: String?
    /// Goes through the users of the table.
    let users: UserScan
    let work: Dialect.Work

    init(_ rule: TableRule, _ planner: ForeignKeyPlanner<Dialect>) {
        let rows = RowConditions(rule, planner)
        let shape = rows.table
        self.rule = rule
        (table, reference) = (rule.table, shape.reference)
        root = planner.root(of: rule)
        isReleased = planner.isReleased(rule)
        (releases, start) = (rows.releases, rows.start)
        isLeafFirst = planner.isBranch(rule) && rule.action == .delete || rule.isRepeated
        isCountedFirst = rows.cutoff != nil || rule.creation != nil || !rule.action.changesRows
        users = UserScan(root, planner.shape(root.table), Dialect.self)
        let counted = { (limit: String) in
            """
            SELECT count(*), sum(CASE WHEN f THEN 1 ELSE 0 END), \
            sum(CASE WHEN u AND NOT f THEN 1 ELSE 0 END) FROM (SELECT \(rows.cutoff ?? "1 = 0") \
            AS f, \(rows.undated) AS u FROM \(shape.reference) \
            WHERE \(rows.match)\(rows.todo)\(limit)) AS q
            """
        }
        countSQL = counted(Dialect.countLimit(rule).map { " LIMIT \($0)" } ?? "")
        planSQL = counted("")
        let hold = planner.hold(of: rule, in: shape)
        heldSQL = (rule.action.changesRows ? hold : nil).map {
            Dialect.count(in: shape, where: "\(rows.match)\(rows.unmasked)\(rows.open) AND \($0)")
        }
        spelledSQL = rows.spelled.map { Dialect.count(in: shape, where: $0, limit: "1") }
        work = Dialect.work(rows)
        isAwaited = rule.via != nil || planner.masksChain(rule)
        unclearParts = planner.unclearParts(of: rule, in: shape).map { part in
            let held = hold.map { " AND NOT \($0)" } ?? ""
            let condition = "\(rows.match) AND \(part.condition)\(held)\(rows.open)"
            let sql = Dialect.count(in: shape, where: condition, limit: "1")
            return (column: part.column, sql: sql)
        }
        guard rule.action.changesRows else {
            (remainingSQL, nonCanonicalSQL, suspectSQL) = (nil, nil, nil)
            (literalSQL, futureSQL) = (nil, nil)
            return
        }
        let open = rows.todo + rows.open
        let any = { (condition: String) in
            Dialect.count(in: shape, where: "(\(condition))\(open)", limit: "1")
        }
        let remaining = Dialect.count(in: shape, where: "(\(rows.check))\(open)")
        let nonCanonical = planner.search(rule, in: shape, .nonCanonical).map(any)
        (remainingSQL, nonCanonicalSQL) = (remaining, nonCanonical)
        suspectSQL = nonCanonical.map { "SELECT (\(remaining)) + (\($0))" }
        literalSQL = planner.search(rule, in: shape, .literal).map(any)
        futureSQL = rule.creation.map {
            let isLater = Dialect.isLater($0, in: shape, than: Dialect.time)
            let condition = "\(rows.match) AND \(isLater)\(rows.todo)"
            return Dialect.count(in: shape, where: condition, limit: "1")
        }
    }

    /// To be tried at the check.
    var statements: [String] {
        [countSQL, planSQL]
            + releases.map(\.deleteSQL)
            + [
                remainingSQL, nonCanonicalSQL, suspectSQL, literalSQL, futureSQL, heldSQL,
                spelledSQL,
            ]
            .compactMap(\.self)
            + unclearParts.map(\.sql) + (start?.statements ?? [])
            + Dialect.statements(of: work)
    }

    /// The line of a plan; `nil` for a table that no rule names when no cascade takes rows of it.
    func item(found: Int, newer: Int, undated: Int) -> PlanItem? {
        guard rule.action.parent == nil || found > 0 else { return nil }
        let isCounted = !rule.action.changesRows
        return PlanItem(
            name: table,
            action: rule.planAction,
            reason: rule.reason,
            count: found - newer,
            newerCount: newer,
            undatedCount: isCounted ? 0 : undated,
            hasNoTimestamps: rule.hasNoTimestamps
        )
    }
}

/// One key, compiled to the statements that find its ids and ask for their owners.
struct KeyPlan: Sendable {
    let rule: KeyRule
    /// The rule that says how the user id is stored.
    let root: TableRule
    /// As the schema names it.
    let table: String
    /// The ids in a user's rows that the cutoff does not protect, NULL left out.
    let findSQL: String
    /// Rows that name an id, up to a limit.
    let namedSQL: String
    /// Those of them that are a user's and not protected by the cutoff, up to a limit.
    let ownSQL: String

    init<Dialect: SQLDialect>(
        _ key: KeyRule,
        _ planner: ForeignKeyPlanner<Dialect>,
        cutoff: String?
    ) {
        let shape = planner.shape(key.table)
        rule = key
        root = planner.root(of: key.userRule)
        table = shape.name
        let value = Dialect.column(key.value, of: shape.reference)
        let open = cutoff.map { " AND NOT \($0)" } ?? ""
        let match = planner.match(key.userRule, in: shape)
        let named = Dialect.match(key.valueRule, shape, id: Dialect.key)
        findSQL = """
            SELECT DISTINCT \(Dialect.idText(value, key.valueType)) FROM \(shape.reference) \
            WHERE \(match) AND \(value) IS NOT NULL\(open) LIMIT \(Limits.keysMax + 1)
            """
        namedSQL = Dialect.count(in: shape, where: named, limit: Dialect.limit)
        let own = "\(named) AND \(match)\(open)"
        ownSQL = Dialect.count(in: shape, where: own, limit: Dialect.limit)
    }

    /// To be tried at the check.
    var statements: [String] { [findSQL, namedSQL, ownSQL] }
}

extension TablePlan {
    /// Rows stay while the value that this names cannot be changed: the rows that lead to it, or
    /// its own.
    func makesRowsWait(_ obstacle: Obstacle) -> Bool {
        rule.inside != nil && rule.via != nil
            || isAwaited && unclearParts.contains { $0.column == obstacle.name }
    }
}
