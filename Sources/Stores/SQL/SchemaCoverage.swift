import Lifecycle

/// Looks through a schema for what looks like user data, and whether a rule deals with it.
///
/// By names, foreign keys and sampled values. It may suspect a column that holds no user's data,
/// for which an operator writes a rule with `keep`.
struct SchemaCoverage {
    private let tables: [TableShape]
    private let rules: [String: [TableRule]]
    /// Columns in which values of users were found, by their table.
    private let holders: [String: [ValueHolder]]
    /// Columns whose ids other stores are purged by, as `table.column` in lower case.
    private let keyColumns: Set<String>
    /// Canonical names of the configured user id columns that say what they are.
    private let userColumns: Set<String>
    /// The same of columns that `via` leads through.
    private let viaColumns: Set<String>
    private let chains: ViaChains
    /// Sampled rows, by their table.
    private let samples: [String: TableSample]
    /// All users were compared with them.
    private let knowsUsers: Bool
    /// Columns that `via` names, as `table.column` in lower case.
    private let followedColumns: Set<String>
    /// Tables whose rows go with rows that are deleted.
    private var cascaded: Set<String> = []
    /// Tables that show nothing of persons.
    private var impersonal: Set<String> = []
    /// Tables with one row for each user.
    private let ofUsers: Set<String>

    /// Claims spell tables as the schema does, but for case.
    init(
        tables: [TableShape],
        claims: SchemaClaims,
        holders: [ValueHolder] = [],
        samples: [String: TableSample] = [:],
        knowsUsers: Bool = false
    ) {
        let rules = claims.rules
        (self.samples, self.knowsUsers) = (samples, knowsUsers)
        self.holders = Dictionary(grouping: holders, by: \.table)
        keyColumns = Set(claims.keys.map { "\($0.table).\($0.value)".lowercased() })
        followedColumns = Set(
            rules.compactMap(\.via).map { "\($0.table).\($0.column)".lowercased() }
        )
        self.tables = tables.sorted { $0.name < $1.name }
        let byTable = Dictionary(grouping: rules) { $0.table.lowercased() }
        self.rules = byTable
        let roots = tables.filter { table in
            (byTable[table.name.lowercased()] ?? []).contains {
                $0.via == nil && $0.conditions.isEmpty && $0.inside == nil
                    && table.isUnique([$0.column])
            }
        }
        ofUsers = Set(roots.map { $0.name.lowercased() })
        chains = ViaChains(self.rules)
        let names = { (rules: [TableRule]) in
            Set(rules.map { PersonalNames.canonical($0.column) }).subtracting(PersonalNames.plain)
        }
        let own = rules.filter { $0.inside == nil }
        userColumns = names(own.filter { $0.via == nil })
        viaColumns = names(own.filter { $0.via != nil })
        var reached = Set(rules.filter { $0.action == .delete }.map { $0.table.lowercased() })
        var count = 0
        while count != reached.count {
            count = reached.count
            for table in tables
            where table.foreignKeys.contains(where: {
                $0.cascades && reached.contains($0.parent.lowercased())
            }) {
                reached.insert(table.name.lowercased())
                cascaded.insert(table.name.lowercased())
            }
        }
        impersonal = Set(tables.filter { isImpersonal($0) }.map { $0.name.lowercased() })
    }

    /// Every column and table that looks like user data, sorted by name.
    func findings() -> [CoverageFinding] { tables.flatMap(findings(of:)) }

    private func findings(of table: TableShape) -> [CoverageFinding] {
        let rules = rules[table.name.lowercased()] ?? []
        var found: [CoverageFinding] = []
        if PersonalNames.isTableOfUsers(table.name) {
            let isCovered = !rules.isEmpty || cascaded.contains(table.name.lowercased())
            let reason = "named like a table of users"
            found.append(CoverageFinding(isCovered ? .covered : .open, table.name, reason))
        }
        let columns = table.columns.map(\.name)
        let ids = columns.map { idFinding(of: $0, in: table, rules) }
        let personal = Set(PersonalNames.personal(of: table))
        // A row of a user whom no rule finds stays while what it refers to is another's.
        let goes =
            cascaded.contains(table.name.lowercased())
            && zip(columns, ids).allSatisfy { column, id in
                id?.isCovered ?? !PersonalNames.isUserID(PersonalNames.canonical(column))
            }
        for (column, id) in zip(columns, ids) {
            let isPersonal = personal.contains(column)
            let named =
                id ?? (isPersonal ? personalFinding(of: column, in: table, rules, goes: goes) : nil)
            let held = heldFinding(of: column, in: table, rules)
            let isLeft = held?.isCovered == false
            let isWeak = held?.question == .fewNumbers && named != nil
            guard let finding = isLeft && !isWeak ? held : named ?? held else { continue }
            found.append(finding)
        }
        guard let problem = table.problem else { return found }
        return found.map { .open($0.name, "\($0.reason); \(problem)") }
    }

    /// What is found when sampled values are users'.
    private func heldFinding(
        of column: String,
        in table: TableShape,
        _ rules: [TableRule]
    ) -> CoverageFinding? {
        let own = holders[table.name] ?? []
        guard let holder = own.first(where: { $0.column == column }) else { return nil }
        // A mask of a column is only in the rows of its rule, as what conditions of it name.
        let isOfRule = rules.contains {
            $0.column.lowercased() == column.lowercased() && $0.conditions.isEmpty
        }
        let isCovered = isOfRule || isKey(column, of: table) || !holder.isLeft
        let state: CoverageFinding.State = isCovered ? .covered : .open
        return CoverageFinding(state, holder.name, holder.reason, holder.question)
    }

    private func isNamed(_ column: String, in table: TableShape, _ rules: [TableRule]) -> Bool {
        rules.contains { $0.column.lowercased() == column.lowercased() || $0.isMasked(column) }
            || isKey(column, of: table)
    }

    private func isKey(_ column: String, of table: TableShape) -> Bool {
        keyColumns.contains("\(table.name).\(column)".lowercased())
    }

    /// What is found when the column looks like a user id, or refers to one.
    private func idFinding(
        of column: String,
        in table: TableShape,
        _ rules: [TableRule]
    ) -> CoverageFinding? {
        let name = "\(table.name).\(column)"
        let isNamed = isNamed(column, in: table, rules)
        let keys = table.foreignKeys.filter { key in
            key.childColumns.contains { $0.lowercased() == column.lowercased() }
        }
        let canonical = PersonalNames.canonical(column)
        let isOfRule = userColumns.contains(canonical) || viaColumns.contains(canonical)
        let isUserID = userColumns.contains(canonical) || PersonalNames.isUserID(canonical)
        let isRepeated = !isUserID && repeats(column, of: keys, in: table, rules)
        let toUsers = keys.filter { refersToUsers($0, table, rules) }
        let isLeading = { leading($0).lowercased() == column.lowercased() }
        if let key = toUsers.first(where: isLeading) ?? toUsers.first {
            let goes =
                isDeleted(key.parent)
                && (key.cascades || key.setsNull || key.onDelete == "SET DEFAULT")
            let isCovered =
                isNamed || goes || isRepeated || rules.contains { follows(key, $0) }
            // A key of several columns is one finding.
            if isCovered || isLeading(key) {
                let reason = "refers to '\(key.parent)'"
                return CoverageFinding(isCovered ? .covered : .open, name, reason)
            }
        }
        guard isOfRule || isUserID else { return nil }
        let isCovered =
            isNamed || keys.contains { $0.cascades && isDeleted($0.parent) }
            || keys.isEmpty && isOfOwnRow(column, in: table, rules)
            || keys.isEmpty && isUserID && namesNoUser(column, in: table, rules)
            || isRepeated
        // A foreign key to what is no person's says more than the name.
        let isOthers =
            !isOfRule && !isCovered && !keys.isEmpty && !PersonalNames.saysUser(canonical)
            && keys.allSatisfy {
                impersonal.contains($0.parent.lowercased()) || refersToUsers($0, table, rules)
            }
        let reason =
            isOfRule ? "named as the user id of a configured table" : "named like a user id"
        return isOthers ? nil : CoverageFinding(isCovered ? .covered : .open, name, reason)
    }

    private func isImpersonal(_ table: TableShape) -> Bool {
        let (columns, own) = (table.columns.map(\.name), rules[table.name.lowercased()] ?? [])
        return PersonalNames.personal(of: table).isEmpty && !PersonalNames.endsInUsers(table.name)
            && !columns.contains { PersonalNames.isUserID(PersonalNames.canonical($0)) }
            && !table.foreignKeys.contains { refersToUsers($0, table, own) }
    }

    /// None of enough different values is a user's, by any unique column, but for whom the row goes
    /// with by another rule: the name alone, such as `uid` of an account elsewhere, says nothing.
    private func namesNoUser(_ column: String, in table: TableShape, _ rules: [TableRule]) -> Bool {
        guard knowsUsers, isDealtWith(rules), let rows = samples[table.name],
            rows.different[column, default: 0] >= SuggestLimits.sureUsers,
            !viaColumns.contains(PersonalNames.canonical(column))
        else { return false }
        let count = rows.count(column)
        return count.whole[0] == nil && count.inside[0] == nil && rows.goes(column)
    }

    /// The column repeats what the table's rules find rows by, and its name is no user's id.
    private func repeats(
        _ column: String,
        of keys: [ForeignKey],
        in table: TableShape,
        _ rules: [TableRule]
    ) -> Bool {
        let rows = samples[table.name]
        if chains.cover(column, keys, rules, rows) { return true }
        // An address may be another's: only sampled values show whose.
        guard keys.isEmpty, PersonalNames.isPersonal(PersonalNames.canonical(column)),
            let holder = holders[table.name]?.first(where: { $0.column == column })
        else { return false }
        return !holder.isLeft
    }

    /// The column tells of the user whose row it is in, and another rule deals with that row.
    private func isOfOwnRow(_ column: String, in table: TableShape, _ rules: [TableRule]) -> Bool {
        let isFollowed = followedColumns.contains("\(table.name).\(column)".lowercased())
        let name = PersonalNames.canonical(column)
        return isDealtWith(rules)
            && (PersonalNames.isPersonal(name) || SuggestionUser.isLogin(name))
            && (isFollowed || PersonalNames.isTableOfUsers(table.name))
    }

    /// The row goes, or is kept, whatever stands in it.
    private func isDealtWith(_ rules: [TableRule]) -> Bool {
        rules.contains { ($0.action == .delete || $0.action == .keep) && $0.conditions.isEmpty }
    }

    private func personalFinding(
        of column: String,
        in table: TableShape,
        _ rules: [TableRule],
        goes: Bool
    ) -> CoverageFinding {
        let isRowCovered = rules.contains { $0.action == .delete || $0.action == .keep }
        return CoverageFinding(
            isNamed(column, in: table, rules) || isRowCovered || goes ? .covered : .open,
            "\(table.name).\(column)",
            "named like personal data"
        )
    }

    /// To a table of users, to a configured user id, or, from a table without a rule, to rows that
    /// are purged.
    private func refersToUsers(_ key: ForeignKey, _ table: TableShape, _ own: [TableRule]) -> Bool {
        if ofUsers.contains(key.parent.lowercased()) || PersonalNames.isTableOfUsers(key.parent) {
            return true
        }
        let parentRules = rules[key.parent.lowercased()] ?? []
        let referred = Set(key.parentColumns.map { $0.lowercased() })
        if parentRules.contains(where: { referred.contains($0.column.lowercased()) }) {
            return true
        }
        let isSelf = key.parent.lowercased() == table.name.lowercased()
        return own.isEmpty && !isSelf && parentRules.contains { $0.action != .keep }
    }

    /// The column of a key that says which user is meant.
    private func leading(_ key: ForeignKey) -> String {
        key.childColumns.first { column in
            let name = PersonalNames.canonical(column)
            return userColumns.contains(name) || PersonalNames.isUserID(name)
        } ?? key.childColumns.last ?? ""
    }

    /// A rule finds rows by another column of the same key.
    private func follows(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        rule.via?.table.lowercased() == key.parent.lowercased()
            && key.childColumns.contains { $0.lowercased() == rule.column.lowercased() }
    }

    private func isDeleted(_ table: String) -> Bool {
        (rules[table.lowercased()] ?? []).contains { $0.action == .delete }
            || cascaded.contains(table.lowercased())
    }
}
