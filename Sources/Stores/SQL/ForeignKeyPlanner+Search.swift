import Lifecycle

/// What finds the rows of a rule: the user id at the root, and the chain of `via` that leads there.
extension ForeignKeyPlanner {
    /// What stands at the root of a chain.
    enum Root {
        /// The user's rows.
        case match
        /// The same, in another way.
        case check
        /// Rows in which the id is spelled otherwise.
        case nonCanonical
        /// Rows with the id as it was submitted.
        case literal
        /// Rows with a value of the user's rows that is spelled otherwise.
        case spelled
    }

    /// The rules of a table whose rows `via` leads through: those that delete, or the only one.
    func followed(_ table: String) -> [TableRule] {
        let own = rules(of: table).filter { $0.via?.table != table }
        let deleting = own.filter(\.action.deletes)
        return deleting.isEmpty ? own.count == 1 ? own : [] : deleting
    }

    /// The rules that follow a rule: their rows go before its own.
    func followers(of rule: TableRule) -> [TableRule] {
        rules.filter { follower in
            guard follower.via?.table == rule.table, follower.action.changesRows,
                !isReleased(follower)
            else { return false }
            // A leaf of a tree goes before what it hangs on.
            return followed(rule.table).contains(rule) || follower == rule
        }
    }

    /// The rules at the ends of the chains.
    func roots(of rule: TableRule, _ depth: Int = 0) -> [TableRule] {
        guard let via = rule.via, depth < Self.depthMax else { return [rule] }
        return followed(via.table).flatMap { roots(of: $0, depth + 1) }
    }

    /// The rule that says how the user id is stored.
    func root(of rule: TableRule) -> TableRule { roots(of: rule).first ?? rule }

    /// Finds the rows of a rule; `nil` where there can be none of the kind.
    func search(
        _ rule: TableRule,
        in table: TableShape,
        _ root: Root,
        _ depth: Int = 1
    ) -> String? {
        var terms: [String] = []
        if let via = rule.via {
            guard let found = chain(rule, via, table, root, depth) else { return nil }
            terms = [found]
        } else {
            guard let found = condition(rule, table, root) else { return nil }
            terms = [found]
            terms += rule.otherParts.enumerated().map { index, part in
                Dialect.match(part, table, id: Dialect.part(index))
            }
        }
        terms += rule.conditions.map { $0.sql(in: table, Dialect.self) }
        return terms.joined(separator: " AND ")
    }

    /// The user's rows, which every rule has.
    func match(_ rule: TableRule, in table: TableShape, _ depth: Int = 1) -> String {
        search(rule, in: table, .match, depth) ?? "1 = 0"
    }

    private func condition(_ rule: TableRule, _ table: TableShape, _ root: Root) -> String? {
        if let inside = rule.inside { return part(inside, rule, table, root) }
        return switch root {
        case .match: Dialect.match(rule, table, id: Dialect.user)
        case .check: "(\(Dialect.check(rule, table)))"
        case .nonCanonical: Dialect.nonCanonical(rule, table).map { "(\($0))" }
        case .literal: Dialect.literal(rule, table).map { "(\($0))" }
        case .spelled: nil
        }
    }

    // MARK: One step of a chain

    private func chain(
        _ rule: TableRule,
        _ via: ParentColumn,
        _ table: TableShape,
        _ root: Root,
        _ depth: Int
    ) -> String? {
        let isSpelled = root == .spelled
        guard depth < Self.depthMax, !isSpelled || isByValue(rule) else { return nil }
        let parent = shape(via.table).named("via\(depth)")
        if rule.inside != nil { return insideChain(rule, via, table, parent, root, depth) }
        let above = isSpelled ? Root.match : root
        let found = followed(via.table).compactMap { search($0, in: parent, above, depth + 1) }
        guard !found.isEmpty else { return nil }
        let join = join(rule, table, parent, isSpelled)
        let isTree = via.table == rule.table && rule.action.deletes
        let rows =
            isTree
            ? tree(rule, join, parent, starts: anyOf(found), depth)
            : "SELECT \(join.parents) FROM \(shape(via.table).reference) AS \(parent.reference)"
                + " WHERE \(anyOf(found))"
        // What the work finds is excluded before other owners are looked for.
        let known = isSpelled ? taking(rule).map { match($0, in: table) } : []
        return join.isIn(rows)
            + known.map { " AND NOT coalesce(\($0), 1 = 0)" }.joined()
            + others(rule, via, table, depth, isSpelled)
    }

    /// The rule, and those that delete rows of its table and are found by the same parameters.
    private func taking(_ rule: TableRule) -> [TableRule] {
        let root = root(of: rule)
        return [rule]
            + rules(of: rule.table).filter { other in
                let found = self.root(of: other)
                return other != rule && other.action == .delete && found.idType == root.idType
                    && found.idTemplate == root.idTemplate
            }
    }

    func anyOf(_ conditions: [String]) -> String {
        conditions.count == 1
            ? conditions[0] : "(" + conditions.map { "(\($0))" }.joined(separator: " OR ") + ")"
    }

    /// The columns by which a row refers to its parent, in SQL.
    struct Join {
        let pairs: [(child: String, parent: String)]
        let table: TableShape
        /// Of the children.
        let names: [String]

        /// A list to select.
        var parents: String { pairs.map(\.parent).joined(separator: ", ") }
        /// A condition.
        var isEqual: String { isEqual(to: pairs.map(\.parent)) }

        func isEqual(to values: [String]) -> String {
            sparing(zip(pairs, values).map { "\($0.child) = \($1)" }.joined(separator: " AND "))
        }

        func isIn(_ rows: String) -> String {
            let columns = pairs.map(\.child).joined(separator: ", ")
            return sparing((pairs.count == 1 ? columns : "(\(columns))") + " IN (\(rows))")
        }

        /// Around the comparison: only a column that stands by itself compares by its collation.
        private func sparing(_ condition: String) -> String {
            names.reduce(condition) { Dialect.sparing($1, $0, in: table) }
        }
    }

    /// The names of the columns: all of the foreign key if there is one, else those of the rule.
    func joined(_ rule: TableRule) -> [(child: String, parent: String)] {
        guard let via = rule.via else { return [] }
        guard let found = key(rule) else { return [(child: rule.column, parent: via.column)] }
        return zip(found.childColumns, found.parentColumns).map { (child: $0, parent: $1) }
    }

    /// The foreign key by which the rows of a rule refer to their parents.
    func key(_ rule: TableRule) -> ForeignKey? {
        guard let via = rule.via else { return nil }
        return schema(of: rule.table).foreignKeys.first { key in
            key.parent == via.table && key.childColumns.count == key.parentColumns.count
                && zip(key.childColumns, key.parentColumns).contains { child, parent in
                    Dialect.isSame(child, rule.column) && Dialect.isSame(parent, via.column)
                }
        }
    }

    /// Its rows are found by what people write, such as an address, which is no id and no key.
    func isByValue(_ rule: TableRule) -> Bool {
        guard let via = rule.via, rule.inside == nil, via.table != rule.table,
            let child = Dialect.shape(rule.column, in: shape(rule.table)), child.holdsText,
            let parent = Dialect.shape(via.column, in: shape(via.table)), parent.holdsText
        else { return false }
        return !parent.isPrimaryKey && !PersonalNames.canonical(via.column).hasSuffix("id")
            && key(rule) == nil
    }

    /// As the columns compare, but that accents count where people write the values; or, for
    /// other spellings, without regard to case and to blanks at the ends.
    func join(
        _ rule: TableRule,
        _ table: TableShape,
        _ parent: TableShape,
        _ isSpelled: Bool = false
    ) -> Join {
        let isByValue = isByValue(rule)
        return Join(
            pairs: joined(rule).flatMap { names -> [(child: String, parent: String)] in
                let child = Dialect.column(names.child, of: table.reference)
                let found = Dialect.column(names.parent, of: parent.reference)
                guard let one = Dialect.shape(names.child, in: table),
                    let other = Dialect.shape(names.parent, in: parent)
                else { return [(child: child, parent: found)] }
                // An id as text here, as a number or UUID there.
                let isText = one.idTypes == [.text] && !other.idTypes.contains(.text)
                let pair = (child: child, parent: isText ? Dialect.text(found) : found)
                guard isByValue, isSpelled || one.foldsAccents || other.foldsAccents
                else { return [pair] }
                let (below, above) = (Dialect.folded(child, one), Dialect.folded(found, other))
                return (isSpelled ? [] : [pair]) + [(child: below, parent: above)]
            },
            table: table,
            names: joined(rule).map(\.child)
        )
    }

    /// Rows below the starts, over any number of steps; none below a row that stays.
    private func tree(
        _ rule: TableRule,
        _ join: Join,
        _ parent: TableShape,
        starts: String,
        _ depth: Int
    ) -> String {
        let (name, rows) = ("tree\(depth)", "\(shape(rule.table).reference) AS \(parent.reference)")
        let places = join.pairs.indices.map { "k\($0)" }
        let isBelow = self.join(rule, parent, parent).isEqual(to: places.map { "\(name).\($0)" })
        let conditions = rule.conditions.map { $0.sql(in: parent, Dialect.self) }
        let stays = followed(rule.table).flatMap { protections($0, in: parent) }
        let open = stays.isEmpty ? "" : " AND NOT \(anyOf(stays))"
        return """
            WITH RECURSIVE \(name)(\(places.joined(separator: ", "))) AS (\
            SELECT \(join.parents) FROM \(rows) WHERE \(starts)\(open) UNION \
            SELECT \(join.parents) FROM \(name) JOIN \(rows) ON \
            \(([isBelow] + conditions).joined(separator: " AND "))) \
            SELECT \(places.joined(separator: ", ")) FROM \(name)
            """
    }

    /// Without rows that other owners share: these go with the last of them.
    ///
    /// Begins with AND, or is empty where a row can have one owner only.
    func others(
        _ rule: TableRule,
        _ via: ParentColumn,
        _ table: TableShape,
        _ depth: Int,
        _ isSpelled: Bool = false
    ) -> String {
        let parent = shape(via.table)
        guard rule.inside == nil, isSpelled || !parent.isUnique(joined(rule).map(\.parent))
        else { return "" }
        let owner = parent.named("own\(depth)")
        let own = followed(via.table).map { match($0, in: owner, depth + 1) }
        let isOwned = join(rule, table, owner, isSpelled).isEqual
        return " AND NOT "
            + exists(owner, where: "\(isOwned) AND NOT coalesce(\(anyOf(own)), 1 = 0)")
    }

    /// Without rows that rules of the table take, for a rule that counts what a cascade takes.
    ///
    /// Begins with AND, or is empty.
    func uncounted(by rule: TableRule, in table: TableShape) -> String {
        if isReleased(rule) {
            return references(to: table, besides: rule.via?.table).map { " AND \($0)" }.joined()
        }
        guard rule.action.parent != nil else { return "" }
        return rules(of: table.name).filter { $0.action == .delete }
            .map { " AND NOT coalesce(\(match($0, in: table)), 1 = 0)" }.joined()
    }

    // MARK: What hangs on a row

    /// Rows on which nothing hangs that is still to be changed; begins with AND, or is empty.
    ///
    /// So the chain leads to every row until the last one is gone.
    func guardian(of rule: TableRule, in table: TableShape) -> String {
        let isMasked = masksChain(rule)
        guard rule.action == .delete || isMasked else { return "" }
        let waits = followers(of: rule).compactMap { follower -> String? in
            guard let via = follower.via, follower != rule || rule.action == .delete else {
                return nil
            }
            let child = shape(follower.table).named("child")
            let names = joined(follower)
            // What is found in another way can be judged by this row only.
            let insides = [
                isInside(follower, child, table), isInsideOtherwise(follower, child, table),
            ].compactMap(\.self)
            var terms = [
                insides.isEmpty ? join(follower, child, table).isEqual : anyOf(insides)
            ]
            terms += follower.conditions.map { $0.sql(in: child, Dialect.self) }
            // A row may be its own parent.
            if follower.table == rule.table, insides.isEmpty, table.isUnique(names.map(\.parent)) {
                let same = names.map { name in
                    "\(Dialect.column(name.parent, of: child.reference)) = "
                        + Dialect.column(name.parent, of: table.reference)
                }
                terms.append("NOT (\(same.joined(separator: " AND ")))")
            }
            if case .anonymize(let masks) = follower.action, !follower.changesPart {
                var computed: [ColumnMask] = []
                let tests = masks.map { self.mask($0, in: child, computed: &computed).test }
                let unclear = unclearParts(of: follower, in: child).map(\.condition)
                terms.append(anyOf(["NOT (\(tests.joined(separator: " AND ")))"] + unclear))
            }
            let isWaiting = terms.joined(separator: " AND ") + others(follower, via, child, 1)
            return " AND NOT \(exists(child, where: isWaiting))"
        }
        // Without the id that it masks, no verification finds a row again.
        let unclear = isMasked ? unclearParts(of: rule, in: table) : []
        return (waits + unclear.map { " AND NOT \($0.condition)" }).joined()
    }

    /// The rule changes a column by which it, or what follows it, is found.
    func masksChain(_ rule: TableRule) -> Bool {
        var columns = [rule.column] + rule.conditions.map(\.column) + rule.otherParts.map(\.column)
        columns += rules.filter { $0.via?.table == rule.table }.flatMap(joined).map(\.parent)
        return rule.masks.contains { mask in
            columns.contains { Dialect.isSame($0, mask.column) }
        }
    }
}

/// What says with whom a row goes by one rule.
struct RowOwner: Sendable {
    /// The columns that the rule sets, in lower case; `nil` where the row goes, or is kept.
    let columns: Set<String>?
    /// The column of the row that says it; `nil` where other tables or conditions do.
    let column: String?
    /// The rule finds users inside values.
    let isInside: Bool
    /// A value of the user.
    let sql: String

    /// Whom a value of it names.
    func users(_ match: TableSample.Match) -> Set<Int> {
        if case .inside = match, !isInside { return [] }
        return match.users
    }
}

extension ForeignKeyPlanner {
    /// With whom the rows of a rule go.
    ///
    /// Nothing where no index leads from a row to its parent: the statement would take too long.
    func owners(
        _ rule: TableRule,
        in table: TableShape,
        _ user: SuggestionUser,
        path: [String] = []
    ) -> [RowOwner] {
        guard let column = Dialect.shape(rule.column, in: table) else { return [] }
        var columns: Set<String>?
        if path.isEmpty, case .anonymize(let masks) = rule.action {
            columns = Set(masks.map { $0.column.lowercased() })
        }
        let conditions = rule.conditions.map { $0.sql(in: table, Dialect.self) }
        let test = conditions.isEmpty ? "1 = 1" : conditions.joined(separator: " AND ")
        let over = { [columns] (owner: RowOwner, sql: String) -> RowOwner in
            let value = "CASE WHEN \(test) THEN \(sql) END"
            return RowOwner(columns: columns, column: nil, isInside: owner.isInside, sql: value)
        }
        let isKnown = { (name: String) in user.columns.contains { Dialect.isSame($0, name) } }
        guard let via = rule.via, via.table != user.table || !isKnown(via.column) else {
            let own = RowOwner(
                columns: columns,
                column: column.name,
                isInside: rule.inside != nil,
                sql: SampleRun<Dialect>.value(column, in: table)
            )
            return conditions.isEmpty ? [own] : [over(own, own.sql)]
        }
        let (above, names) = (shape(via.table), joined(rule).map(\.parent))
        // A number as text is found by no index.
        let isCompared = joined(rule).allSatisfy { pair in
            Dialect.shape(pair.child, in: table)?.idTypes != [.text]
                || Dialect.shape(pair.parent, in: above)?.idTypes.contains(.text) == true
        }
        guard path.count < Self.depthMax, !path.contains(via.table), rule.inside == nil, isCompared,
            above.isUnique(names) || names.contains(where: { above.isIndexed($0) })
        else { return [] }
        let parent = above.named("own\(path.count)")
        let rows = "FROM \(above.reference) AS \(parent.reference)"
        let isEqual = join(rule, table, parent).isEqual
        var found: [RowOwner] = []
        for next in followed(via.table) where found.count < SuggestLimits.owners {
            found += owners(next, in: parent, user, path: path + [via.table])
                .map { over($0, "(SELECT \($0.sql) \(rows) WHERE \(isEqual) LIMIT 1)") }
        }
        return found
    }
}
