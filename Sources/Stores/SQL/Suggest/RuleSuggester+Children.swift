import Lifecycle

/// What hangs on rows that go.
extension RuleSuggester {
    mutating func addChildren(of table: String) {
        for (child, key) in children(of: table) { addChild(child, key, of: table) }
        if table != user.table {
            for (child, reference) in typed(to: table) { addTyped(child, reference) }
        }
        for (child, column) in namedChildren(of: table) { addNamed(child, column, of: table) }
    }

    private func children(of table: String) -> [(table: TableShape, key: ForeignKey)] {
        guard table != user.table else { return [] }
        return schema.tables.flatMap { child in
            child.problem == nil && child.canSelect
                ? child.foreignKeys.filter { $0.parent == table }.map { (child, $0) } : []
        }
    }

    private mutating func addChild(_ child: TableShape, _ key: ForeignKey, of table: String) {
        guard let column = key.childColumns.last, let parent = key.parentColumns.last else {
            return
        }
        let via = ParentColumn(table: table, column: parent)
        let fact =
            "Foreign key \(Self.list(key.childColumns)) to '\(table)' \(key.actionText)."
        let othersGo = isOfUsers(child, besides: key.childColumns) ? Self.othersGo : nil
        if key.cascades {
            var seen: Set<String> = child.name == table ? [] : [table]
            let isNeeded = needsRule(child, &seen)
            if !isNeeded { note(child.name, cascadesFrom: table) }
            guard isNeeded, child.name == table || !leads(from: table, to: child.name) else {
                // What the database deletes along may be of other users, which no rule shows.
                guard othersGo != nil else { return }
                let rows =
                    child.name == table
                    ? "rows of '\(table)' that refer to the user's go with them"
                    : "rows of '\(child.name)' go with those of '\(table)'"
                ask("\(rows) by ON DELETE CASCADE, also rows of other users", about: table)
                return
            }
            add(rule(child, column, via: via), fact + " Its own rows need order.", othersGo)
            return
        }
        guard key.restricts else { return }
        if child.name == table || child.name == user.table {
            addBack(child, column, via, fact)
            return
        }
        let isOfOthers = (rules[child.name] ?? []).contains { $0.rule.via == nil }
        let isCircle = leads(from: table, to: child.name)
        guard isNullable([column], in: child) && (isOfOthers || key.cannotSetNull) || isCircle
        else {
            add(
                rule(child, column, via: via),
                fact + " Its rows are parts of those there and go first.",
                othersGo,
                key.cannotSetNull ? "the \(Self.keyKeeps), but \(Self.orPlaceholder)" : nil
            )
            return
        }
        addBack(child, column, via, fact)
    }

    private static let othersGo = "rows of other users that refer to the user's go with them"
    private static let othersStay =
        "rows of other users refer to the user's, which go; they stay: shall they go, too?"
    private static let refersToUser = "the row is of others and refers to the user's"

    /// Whether a row may be another user's than the one to which `columns` lead.
    private func isOfUsers(_ child: TableShape, besides columns: [String]) -> Bool {
        (rules[child.name] ?? []).contains { other in
            !columns.contains(other.rule.column)
                && (other.rule.via == nil || other.rule.via?.table == user.table)
        }
    }

    /// A reference back to rows that go, from rows that stay.
    private mutating func addBack(
        _ child: TableShape,
        _ column: String,
        _ via: ParentColumn,
        _ fact: String
    ) {
        if isNullable([column], in: child) {
            add(
                rule(
                    child,
                    column,
                    via: via,
                    keeping: "the row is of others; only the reference goes"
                ),
                fact,
                "rows of others stay and lose the reference; with \"delete\" they go"
            )
        } else if child.name == via.table {
            add(
                rule(child, column, via: via),
                fact + " A row that others refer to takes them along.",
                "rows of other users below the user's go with them"
            )
        } else {
            note(
                gap: "'\(child.name).\(column)' leads back to '\(via.table)' and cannot be NULL:"
                    + " rows there cannot be deleted while it does",
                about: [child.name]
            )
        }
    }

    /// Whether a child that cascades needs a rule of its own.
    ///
    /// Another rule keeps or changes some of its rows, or rows hang on it that do not cascade.
    private func needsRule(_ child: TableShape, _ seen: inout Set<String>) -> Bool {
        guard seen.insert(child.name).inserted else { return false }
        if (rules[child.name] ?? []).contains(where: { $0.rule.action != .delete }) { return true }
        if clearing.contains(child.name) { return true }
        if !typed(to: child.name).isEmpty || !namedChildren(of: child.name).isEmpty { return true }
        for (next, key) in children(of: child.name) where key.restricts || key.cascades {
            if key.restricts { return true }
            if needsRule(next, &seen) { return true }
        }
        return false
    }

    /// Whether rows of a table are found, over any number of rules, by those of another.
    private func leads(from table: String, to other: String) -> Bool {
        var open = [table]
        var seen: Set<String> = []
        while let next = open.popLast() {
            if next == other { return true }
            guard seen.insert(next).inserted else { continue }
            open += (rules[next] ?? []).filter { $0.rule.action == .delete }
                .compactMap(\.rule.via?.table)
        }
        return false
    }

    private mutating func addTyped(_ child: TableShape, _ typed: TypedReference) {
        guard let parent = schema.table(typed.type.table), let key = parent.singleKey,
            fits(typed.column, of: child, key, of: parent), child.name != parent.name,
            !leads(from: parent.name, to: child.name)
        else {
            note(
                gap: "'\(child.name).\(typed.column)' refers to rows of '\(typed.type.table)' that"
                    + " go, but no rule can follow it: the types differ",
                about: [child.name]
            )
            return
        }
        let isOfOthers = isOfUsers(child, besides: [typed.column])
        add(
            rule(
                child,
                typed.column,
                via: ParentColumn(table: parent.name, column: key),
                where: [typed.condition],
                keeping: isOfOthers ? Self.refersToUser : nil,
                clears: false
            ),
            typed.fact,
            isOfOthers ? Self.othersStay : nil
        )
    }

    // MARK: Without keys

    /// Columns such as `post_id` that can hold the key of a table.
    private func namedChildren(of table: String) -> [(child: TableShape, column: String)] {
        guard table != user.table, let parent = schema.table(table) else { return [] }
        return (named[table] ?? []).filter { child, column in
            let isOfUser = (rules[child.name] ?? []).contains { other in
                other.rule.column == column
                    && (other.rule.via == nil || other.rule.via?.table == user.table)
            }
            return child.name != user.table && !isOfUser
                && key(of: parent, for: column).map { fits(column, of: child, $0, of: parent) }
                    ?? false
        }
    }

    private mutating func addNamed(_ child: TableShape, _ column: String, of table: String) {
        guard let parent = schema.table(table), let key = key(of: parent, for: column),
            !leads(from: table, to: child.name)
        else { return }
        let isOfOthers = isOfUsers(child, besides: [column])
        add(
            rule(
                child,
                column,
                via: ParentColumn(table: table, column: key),
                keeping: isOfOthers ? Self.refersToUser : nil,
                clears: false
            ),
            "'\(column)' is no foreign key, but named like one to '\(table)'.",
            isOfOthers ? Self.othersStay : "do these rows belong to those of '\(table)'?"
        )
    }

    /// The unique column with the name of the one that refers to it, or the primary key.
    private func key(of parent: TableShape, for column: String) -> String? {
        let same = parent.column(column, ignoringCase: true)?.name
        return same.flatMap { parent.isUnique([$0]) ? $0 : nil } ?? parent.singleKey
    }

    private func fits(
        _ name: String,
        of child: TableShape,
        _ key: String,
        of parent: TableShape
    ) -> Bool {
        guard let one = child.column(name, ignoringCase: true),
            let other = parent.column(key, ignoringCase: true)
        else { return false }
        return !one.idTypes.isDisjoint(with: other.idTypes)
    }
}
