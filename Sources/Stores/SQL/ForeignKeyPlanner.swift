import Engine
import Lifecycle

/// Order, cutoffs and dangers of a set of rules, by the foreign keys of the live schema.
///
/// Every rule's table exists, and rules, holds and foreign keys name tables as the schema does.
struct ForeignKeyPlanner<Dialect: SQLDialect> {
    /// Deeper than any schema that is worked with by hand; beyond it everything stays.
    static var depthMax: Int { 16 }

    private let schema: SQLSchema
    private(set) var rules: [TableRule]
    /// Rows that are left alone.
    let holds: [RowFilter]
    /// One sentence for each thing that forbids to purge, and the table whose rule is in the way.
    private(set) var problems: [(table: String, text: String)] = []
    private(set) var advice: [StoreAdvice] = []
    /// Keys that may keep deletions from ever ending.
    private(set) var blocking: [BlockingKey] = []
    /// Tables that other stores of the database have rules for.
    var neighbours: Set<String> = []
    /// Tables with rules refer to each other in a circle, so that no order is children first.
    private(set) var isCircular = false
    /// Keys that are checked: rows can be reached from several tables whose rows go.
    private var checked: Set<[String]> = []

    init(_ schema: SQLSchema, rules: [TableRule], holds: [RowFilter]) {
        self.schema = schema
        self.rules = rules
        self.holds = holds
    }

    func shape(_ table: String) -> TableShape {
        schema.table(table) ?? TableShape(name: table, reference: Dialect.quoted(table))
    }

    func schema(of table: String) -> TableShape { shape(table) }

    func isSelfReferencing(_ table: TableShape) -> Bool {
        table.foreignKeys.contains { $0.parent == table.name }
    }

    func children(of table: String) -> [(table: TableShape, key: ForeignKey)] {
        schema.tables.flatMap { child in
            let followers = rules(of: child.name).filter { rule in
                rule.via?.table == table && rule.action.changesRows
            }
            var keys = child.foreignKeys.filter { $0.parent == table }
            for rule in followers {
                let names = joined(rule)
                let place = keys.firstIndex { $0.childColumns == names.map(\.child) }
                if let place {
                    keys[place].isFollowed = true
                } else {
                    keys.append(
                        ForeignKey(
                            parent: table,
                            childColumns: names.map(\.child),
                            parentColumns: names.map(\.parent),
                            onDelete: "",
                            isFollowed: true,
                            isReleased: isReleased(rule),
                            inside: rule.inside
                        )
                    )
                }
            }
            return keys.map { (table: child, key: $0) }
        }
    }

    func rules(of table: String) -> [TableRule] { rules.filter { $0.table == table } }

    /// These tables and those that their rows refer to, directly or through others.
    func withParents(_ names: [String]) -> Set<String> {
        var found: Set<String> = []
        var open = names
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            open += schema.table(next)?.foreignKeys.map(\.parent) ?? []
            open += rules(of: next).compactMap(\.via?.table)
        }
        return found
    }

    /// Whether any of the rows that refer to the row `reference` is one of `kinds`, which are
    /// expressions over the child's alias.
    func refers(
        _ child: TableShape,
        by key: ForeignKey,
        to reference: String,
        whereAny kinds: [String] = ["1 = 1"]
    ) -> String {
        let join = zip(key.childColumns, key.parentColumns).map { column, parent in
            let one = Dialect.column(column, in: child)
            let other = Dialect.column(parent, of: reference)
            return key.inside.map {
                Dialect.holds(
                    $0,
                    one,
                    Dialect.text(other),
                    foldsCase: Dialect.shape(parent, in: shape(key.parent))?.foldsCase ?? false
                )
            } ?? "\(one) = \(other)"
        }
        let isKind = "(\(kinds.joined(separator: " OR ")))"
        return exists(child, where: (join + [isKind]).joined(separator: " AND "))
    }

    /// Children before parents, otherwise as configured; a circle keeps the configured order.
    ///
    /// Fills in ``problems``, ``advice``, ``blocking`` and ``isCircular``.
    mutating func order() -> [TableRule] {
        for rule in rules where rule.action == .delete {
            var visited: Set<String> = [rule.table]
            checkChildren(of: rule.table, deletedFor: rule.table, &visited)
        }
        count(cascadesFrom: rules.filter { $0.action == .delete })
        var rest = rules.filter(isBranch) + rules.filter { !isBranch($0) }
        var result: [TableRule] = []
        while !rest.isEmpty {
            let next =
                firstIndex(in: rest) { _, _ in true }
                ?? firstIndex(in: rest) { child, key in
                    (key.restricts || key.isFollowed)
                        && !isCleared(key, of: child, by: result, before: rest)
                }
            result.append(rest.remove(at: next ?? beginCircle(of: rest)))
        }
        return result
    }

    /// Where a circle begins: at a rule that takes a reference away, or as configured.
    private mutating func beginCircle(of rest: [TableRule]) -> Int {
        isCircular = true
        if let clearing = rest.firstIndex(where: { clearsReference($0, amid: rest) }) {
            return clearing
        }
        if rest[0].action == .delete {
            let inCircle = rest.first { rule in
                rule.action == .delete && !circleKeys(at: rule.table, among: rest).isEmpty
            }
            noteCircle(at: (inCircle ?? rest[0]).table, among: rest)
        }
        return 0
    }

    /// The first rule to whose table none of the others refers by a key that counts.
    private func firstIndex(
        in rest: [TableRule],
        _ counts: (TableShape, ForeignKey) -> Bool
    ) -> Int? {
        rest.firstIndex { rule in
            !children(of: rule.table).contains { child, key in
                child.name != rule.table && counts(child, key) && !key.isReleased
                    && rest.contains { $0.table == child.name }
            }
        }
    }

    /// A rule about the rows below others of its table, which go first.
    func isBranch(_ rule: TableRule) -> Bool { rule.via?.table == rule.table }

    /// Adds rules that count what goes by cascades.
    mutating func count(cascadesFrom parents: [TableRule]) {
        var open = Set(parents.map(\.table)).sorted()
        var visited = Set(open)
        while let table = open.popLast() {
            for (child, key) in children(of: table)
            where key.cascades && key.childColumns.count == key.parentColumns.count {
                let isRuled = rules(of: child.name).contains { rule in
                    key.childColumns.contains { Dialect.isSame($0, rule.column) }
                }
                guard !isRuled else { continue }
                var rule = TableRule(
                    table: child.name,
                    column: key.childColumns[0],
                    action: .cascade(from: table)
                )
                rule.via = ParentColumn(table: table, column: key.parentColumns[0])
                rules.append(rule)
                if visited.insert(child.name).inserted { open.append(child.name) }
            }
        }
    }

    /// No order is children first: the keys are checked when a transaction ends.
    ///
    /// `RESTRICT` acts at once, whatever is deferred (sqlite.org/foreignkeys.html, 4.3).
    private mutating func noteCircle(at table: String, among rest: [TableRule]) {
        let mended = circleKey(at: table, among: rest)
        let remedy = mended.map { "; \(releasing($0.key, of: $0.table))" } ?? ""
        for (child, key) in children(of: table)
        where key.restricts && child.name != table
            && rest.contains(where: { $0.table == child.name })
        {
            if key.onDelete == "RESTRICT" || key.cannotSetNull {
                refuse(
                    child.name,
                    "'\(child.name)' refers to '\(table)' with \(key.actionText), and '\(table)'"
                        + " to it, so that neither can be deleted first\(remedy)"
                )
            } else if !key.isDeferrable, let proof = circleProof(child, key, among: rest) {
                let sentence =
                    "'\(child.name)' refers to '\(table)' and '\(table)' to it, and the keys are"
                    + " checked at once, so that neither can be deleted first\(remedy)"
                note(key, of: child, sentence, proof: proof)
            }
        }
        let sentence =
            "foreign keys lead from '\(table)' in a circle; a user with more rows there than one"
            + " transaction takes may be refused\(remedy)"
        if let mended { return advise(mended.key, of: mended.table, sentence) }
        advice.append(StoreAdvice(sentence))
    }

    private mutating func advise(_ key: ForeignKey, of child: TableShape, _ sentence: String) {
        let column = "\(child.name).\(key.childColumns.last ?? "")"
        advice.append(StoreAdvice(sentence, for: column))
    }

    private mutating func refuse(_ table: String, _ text: String) {
        problems.append((table: table, text: text))
    }

    // MARK: Dangers

    private mutating func checkChildren(
        of table: String,
        deletedFor origin: String,
        _ visited: inout Set<String>
    ) {
        for (child, key) in children(of: table) where key.isDeclared {
            let name = [child.name, key.parent, key.onDelete] + key.childColumns
            if checked.insert(name).inserted { check(key, of: child, deletedFor: origin) }
            if key.cascades && visited.insert(child.name).inserted {
                checkChildren(of: child.name, deletedFor: origin, &visited)
            }
        }
    }

    private mutating func check(
        _ key: ForeignKey,
        of child: TableShape,
        deletedFor origin: String
    ) {
        if key.keepsOwnRows { noteOwnRows(key, of: child) }
        let childRules = rules(of: child.name)
        let isCleared = childRules.contains { rule in
            (clears(key, rule) || deletes(key, rule))
                && key.childColumns.contains { Dialect.isSame($0, rule.column) }
        }
        let preserving =
            !isCleared && childRules.contains { $0.action != .delete && !clears(key, $0) }
        if key.cascades && preserving {
            refuse(
                child.name,
                "deleting from '\(origin)' would cascade into '\(child.name)', whose rows are to be"
                    + " kept"
            )
        } else if key.restricts && preserving {
            refuse(
                child.name,
                "rows kept in '\(child.name)' refer to '\(origin)' and would stop its deletion"
                    + key.refusal
            )
        } else if key.cascades, let keeper = key.keeper, !isRuled(key, childRules) {
            refuse(
                origin,
                "deleting from '\(origin)' cascades into '\(child.name)', whose rows can stay:"
                    + " \(keeper). A rule deletes them first, and then searches for them:"
                    + " \(rule(for: key, of: child.name))"
            )
        } else if childRules.isEmpty && key.cascades {
            advice.append(
                StoreAdvice(
                    "deleting from '\(origin)' cascades into '\(child.name)', which has no rule;"
                        + " plan and receipt count its rows"
                )
            )
        } else if childRules.isEmpty && key.restricts {
            let isShared = child.foreignKeys.count { $0.parent == key.parent } > 1
            let remedy =
                isShared
                ? releasing(key, of: child)
                : "a rule for it deletes them first: \(rule(for: key, of: child.name))"
            let sentence =
                "rows of '\(child.name)' can stop the deletion from '\(key.parent)'\(key.refusal);"
                + " \(remedy)"
            // The database itself may take these rows away with others.
            let isTaken =
                child.foreignKeys.contains(where: \.cascades) || shape(key.parent).hasTriggers
            if isTaken || neighbours.contains(child.name) || staysWhileReferred(key.parent) {
                advise(key, of: child, sentence)
            } else {
                note(key, of: child, sentence, proof: nil)
            }
        } else {
            adviseOthers(child, key, childRules)
        }
    }

    /// The rule that follows a key, as TOML.
    func rule(for key: ForeignKey, of child: String, action: String = "delete") -> String {
        ParentColumn(table: child, column: key.childColumns.last ?? "").toml + ","
            + " via = \"\(key.parent).\(key.parentColumns.last ?? "")\", action = \"\(action)\""
    }

    /// Rules for rows that refer to several users: what takes the reference away comes first.
    func releasing(_ key: ForeignKey, of child: TableShape) -> String {
        clearing(key, of: child) + ". With action = \"delete\" whole rows go instead, also those"
            + " that belong to other users"
    }

    func clearing(_ key: ForeignKey, of child: TableShape) -> String {
        let column = key.childColumns.last ?? ""
        let mask =
            Dialect.shape(column, in: child)?.isNotNull == true
            ? "strategy = \"constant\", value = \"ID OF A PLACEHOLDER\"" : "strategy = \"null\""
        let changing = rule(for: key, of: child.name, action: "anonymize")
        return "a rule for it takes that reference away first: \(changing),"
            + " set = { \(column) = { \(mask) } }, keep_reason = \"WHY\""
    }

    func isRuled(_ key: ForeignKey, _ rules: [TableRule]) -> Bool {
        rules.contains { rule in
            key.childColumns.contains { Dialect.isSame($0, rule.column) }
        }
    }

    /// Advises of rows that may be other users': no rule of the child is about the key's column.
    private mutating func adviseOthers(
        _ child: TableShape,
        _ key: ForeignKey,
        _ rules: [TableRule]
    ) {
        guard !isRuled(key, rules), key.cascades || key.restricts else { return }
        let named = key.childColumns.joined(separator: "', '")
        let remedy = releasing(key, of: child)
        if key.cascades {
            advise(
                key,
                of: child,
                "deleting from '\(key.parent)' cascades into '\(child.name)' by '\(named)': rows"
                    + " there that are of other users go with it and count as the user's, also"
                    + " while such a user is held; if they are to stay, \(remedy)"
            )
            return
        }
        let sentence =
            "rows of other users in '\(child.name)' refer to '\(key.parent)' by '\(named)' and can"
            + " stop the deletion of a user\(key.refusal); \(remedy)"
        if let proof = othersProof(child, key, rules) {
            note(key, of: child, sentence, proof: proof)
        } else {
            advise(key, of: child, sentence)
        }
    }

    mutating func note(
        _ key: ForeignKey,
        of child: TableShape,
        _ sentence: String,
        proof: String?,
        isOfOwnRows: Bool = false
    ) {
        blocking.append(
            BlockingKey(
                table: child.name,
                column: key.childColumns.last ?? "",
                sentence: sentence,
                proof: proof,
                isOfOwnRows: isOfOwnRows
            )
        )
    }

    /// Whether the rule itself deletes the rows that refer to parents, before these go.
    private func deletes(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        guard rule.action == .delete, rule.conditions.isEmpty, rule.inside == nil else {
            return false
        }
        guard let via = rule.via else {
            // Both hold the user id.
            return rules(of: key.parent).contains { parent in
                parent.via == nil && parent.action == .delete
                    && key.parentColumns.contains { Dialect.isSame($0, parent.column) }
            }
        }
        return via.table == key.parent
            && key.parentColumns.contains { Dialect.isSame($0, via.column) }
    }

    /// Whether the rule itself takes the reference away before the parent goes.
    func clears(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        key.childColumns.contains { child in
            rule.masks.contains { Dialect.isSame($0.column, child) && Self.clears($0.strategy) }
        }
    }

    /// The value afterwards is no user's own.
    private static func clears(_ strategy: MaskStrategy) -> Bool {
        switch strategy {
        case .null, .text, .integer, .remove: true
        case .hash, .random, .truncate: false
        }
    }
}
