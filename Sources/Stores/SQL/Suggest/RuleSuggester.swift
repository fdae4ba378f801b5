import Lifecycle

/// Writes rules from the facts of a schema and sampled values; asks nobody.
///
/// Every table that holds a user's rows gets a rule, and so does every table whose rows hang on
/// those. What neither key nor value shows is listed.
struct RuleSuggester {
    let schema: SQLSchema
    let user: SuggestionUser
    let sample: SchemaSample
    let names: TableNames
    /// By table.
    private(set) var rules: [String: [SuggestedRule]] = [:]
    /// Tables with rules, as they were found: parents first.
    private var found: [String] = []
    /// Tables whose rows go, as they were found.
    private(set) var deleted: [String] = []
    /// Tables whose rows go with those of another by the database.
    private(set) var cascaded: [String: String] = [:]
    private(set) var gaps: [String] = []
    /// Tables that the gaps are about.
    private var questioned: Set<String> = []
    /// Tables in which a value may be cleared in rows of others.
    private(set) var clearing: Set<String> = []
    /// Polymorphic references, by the table that holds them.
    let typed: [String: [TypedReference]]
    /// Columns such as `post_id` that are no foreign keys, by the table that they name.
    let named: [String: [(child: TableShape, column: String)]]
    /// Columns of foreign keys to the id of users, in lower case.
    private let keyed: Set<String>
    /// How far ``follow()`` has come.
    private var followed = 0

    init(_ schema: SQLSchema, _ user: SuggestionUser, _ sample: SchemaSample) {
        (self.schema, self.user, self.sample) = (schema, user, sample)
        names = TableNames(schema)
        typed = TypedReference.all(schema, sample)
        named = Self.named(schema, names)
        keyed = Set(
            schema.tables.flatMap(\.foreignKeys)
                .filter { $0.parent == user.table && $0.parentColumns == [user.column] }
                .flatMap(\.childColumns).map { $0.lowercased() }
        )
    }

    /// With the rules that say with whom rows go, by references and what hangs on them.
    init(referring schema: SQLSchema, _ user: SuggestionUser, _ sample: SchemaSample) {
        self.init(schema, user, sample)
        addUser()
        for table in tables { addReferences(of: table) }
        clearing = Set(schema.tables.filter { clearsValues(of: $0) }.map(\.name))
        follow()
        for table in deleted { addOwned(by: table) }
    }

    /// The rules, and what they leave open.
    static func suggestion(
        _ schema: SQLSchema,
        _ user: SuggestionUser,
        _ sample: SchemaSample
    ) -> RuleSuggestion {
        var suggester = RuleSuggester(referring: schema, user, sample)
        let tables = suggester.tables + [schema.table(user.table)].compactMap(\.self)
        for table in tables { suggester.addValues(of: table) }
        suggester.follow()
        for table in tables { suggester.noteInside(table) }
        suggester.noteLeft()
        return suggester.suggestion
    }

    /// The application's tables that can be read, without that of the users.
    var tables: [TableShape] {
        schema.tables.filter {
            $0.isOwn && $0.problem == nil && $0.canSelect && $0.name != user.table
        }
    }

    private var suggestion: RuleSuggestion {
        var made = RuleSuggestion(user: user)
        let own = rules[user.table] ?? []
        // What leads from the users to rows that go is cleared first.
        made.rules = own.filter { $0.rule.action != .delete }
        for table in found.reversed() where table != user.table { made.rules += rules[table] ?? [] }
        made.rules += own.filter { $0.rule.action == .delete }
        made.gaps = gaps
        let bare = schema.tables.filter { $0.isOwn && rules[$0.name] == nil }
        made.uncovered = bare.grouped { reason(for: $0) }
            .map { (table: $0.map(\.name).joined(separator: ", "), reason: reason(for: $0[0])) }
        let rows = sample.tables.values.map(\.rows.count).reduce(0, +)
        let count = schema.tables.count { $0.isOwn }
        made.extent =
            "Read: \(Self.count(count, "table")), \(Self.count(rows, "row")) of"
            + " \(Self.count(sample.tables.count, "table")), compared with"
            + " \(Self.count(sample.userCount, "user"))"
            + (sample.hasMoreUsers ? ", not all of them." : ".")
        return made
    }

    // MARK: What others use

    /// Adds a rule, unless there is one about the same.
    ///
    /// Rows that are `owned` go only when nothing refers to them: nothing is below them.
    mutating func add(
        _ rule: TableRule,
        _ fact: String,
        _ decisions: String?...,
        owned: Bool = false
    ) {
        let table = rule.table
        let isKnown = (rules[table] ?? []).map(\.rule).contains { other in
            other.column == rule.column && other.via == rule.via
                && other.conditions == rule.conditions && other.inside == rule.inside
        }
        guard !isKnown else { return }
        if rules[table] == nil { found.append(table) }
        let made = SuggestedRule(rule: rule, fact: fact, decisions: decisions.compactMap(\.self))
        rules[table, default: []].append(made)
        if rule.action == .delete, !owned, !deleted.contains(table) { deleted.append(table) }
    }

    mutating func note(gap: String, about tables: [String]) {
        questioned.formUnion(tables)
        if !gaps.contains(gap) { gaps.append(gap) }
    }

    /// Adds a question to the rule by which rows of a table go: its own, or that of the table with
    /// whose rows they go.
    mutating func ask(_ question: String, about table: String) {
        var table = table
        var seen: Set<String> = []
        while seen.insert(table).inserted {
            if let index = rules[table]?.firstIndex(where: { $0.rule.action == .delete }) {
                if rules[table]?[index].decisions.contains(question) == false {
                    rules[table]?[index].decisions.append(question)
                }
                return
            }
            guard let parent = cascaded[table] else { break }
            table = parent
        }
        note(gap: question, about: [table])
    }

    /// Polymorphic references to a table, with the tables that hold them.
    func typed(to table: String) -> [(child: TableShape, reference: TypedReference)] {
        typed.sorted { $0.key < $1.key }.flatMap { name, references in
            schema.table(name).map { child in
                references.filter { $0.type.table == table }.map { (child, $0) }
            } ?? []
        }
    }

    /// Whether small numbers may be users' ids, by the name of their column or member, or since
    /// chance gives fewer; few different ones, which categories have, only by a name of persons.
    func mayRefer(_ numbers: TableSample.Numbers, _ column: String, in shape: TableShape) -> Bool {
        let member = numbers.path.replacing("[*]", with: "").split(separator: ".").dropFirst().last
        let name = member.map(String.init) ?? (numbers.path.isEmpty ? column : "")
        var words = PersonalNames.words(name)
        let isReference = words.count > 1 && (words.last == "id" || words.last == "ids")
        if isReference { words[words.count - 1] = "id" }
        let isElsewhere = words.indices.contains { start in
            let rest = words[start...].joined(separator: "_")
            return names.table(of: rest, in: shape.name).map { $0 != user.table } ?? false
        }
        let stem = words.dropLast(isReference ? 1 : 0).joined()
        guard !isElsewhere, !PersonalNames.plain.contains(stem), !PersonalNames.isMeasure(stem)
        else { return false }
        guard !keyed.contains(name.lowercased()) else { return true }
        return numbers.isFew
            ? isReference && PersonalNames.isPerson(words.dropLast().last ?? "")
            : isReference || numbers.chance <= SuggestLimits.density
    }

    private static func named(
        _ schema: SQLSchema,
        _ names: TableNames
    ) -> [String: [(child: TableShape, column: String)]] {
        var found: [String: [(child: TableShape, column: String)]] = [:]
        let own = schema.tables.filter { $0.isOwn && $0.problem == nil }
        // Keys such as `idvisit`, which one table has.
        let all = own.flatMap { table in
            table.columns.filter { table.isUnique([$0.name]) }
                .map { (name: PersonalNames.canonical($0.name), table: table.name) }
        }
        let keys = Dictionary(grouping: all) { $0.name }.filter { name, tables in
            // Numbers such as `external_id` are unique by chance of each table.
            let isKey =
                name.hasSuffix("id") && !PersonalNames.isUserID(name)
                && !PersonalNames.isMeasure(String(name.dropLast(2)))
            return tables.count == 1 && !PersonalNames.plain.contains(name)
                && (name.hasPrefix("id") || isKey)
        }
        for child in own {
            let keyed = Set(child.foreignKeys.flatMap(\.childColumns).map { $0.lowercased() })
            for column in child.columns where !keyed.contains(column.name.lowercased()) {
                let key = keys[PersonalNames.canonical(column.name)]?[0].table
                guard let table = names.table(of: column.name, in: child.name) ?? key,
                    table != child.name,
                    child.typeColumn(of: column.name) == nil
                else { continue }
                found[table, default: []].append((child, column.name))
            }
        }
        return found
    }

    mutating func note(_ table: String, cascadesFrom parent: String) {
        cascaded[table] = cascaded[table] ?? parent
        if !deleted.contains(table) { deleted.append(table) }
    }

    /// Goes down from all tables of which rows go, also those that come in on the way.
    private mutating func follow() {
        while followed < deleted.count {
            followed += 1
            addChildren(of: deleted[followed - 1])
        }
    }

    /// A rule about one column, with what the schema says about ids and times; with a reason the
    /// rows stay.
    func rule(
        _ shape: TableShape,
        _ column: String,
        via: ParentColumn? = nil,
        where conditions: [ColumnCondition] = [],
        template: IDTemplate? = nil,
        keeping reason: String? = nil,
        clears: Bool = true
    ) -> TableRule {
        let masks = [ColumnMask(column: column, strategy: .null)]
        var rule = TableRule(
            table: shape.name,
            column: column,
            idType: via == nil ? idType(of: column, in: shape) : .text,
            action: reason == nil ? .delete : clears ? .anonymize(masks) : .keep,
            reason: reason,
            creation: reason == nil ? creation(of: shape) : nil
        )
        (rule.via, rule.conditions, rule.idTemplate) = (via, conditions, template)
        let isWhole = !conditions.isEmpty || template != nil || via != nil
        rule.identifiesUser =
            !isWhole && !shape.isUnique([column])
            && schema.ambiguity(column, in: shape, given: [column]) != nil
        return rule
    }

    /// Whether every column may be NULL, and none is of the key; what the role may not UPDATE is a
    /// problem that the check names.
    func isNullable(_ columns: [String], in shape: TableShape) -> Bool {
        columns.allSatisfy { name in
            guard let column = shape.column(name, ignoringCase: true) else { return false }
            return !column.isNotNull && !column.isPrimaryKey && !column.isGenerated
        }
    }

    func idType(of name: String, in shape: TableShape) -> IDType {
        let types = shape.column(name, ignoringCase: true)?.idTypes ?? [.text]
        if types.contains(.mixed) { return sample.idType ?? .text }
        let own = schema.table(user.table)?.column(user.column, ignoringCase: true)?.idTypes ?? []
        if types.isSuperset(of: [.blob, .text]) { return sample.idType ?? .blob }
        let order: [IDType] = [.uuid, .integer, .text, .blob]
        let both = order.filter { types.contains($0) && own.contains($0) }
        return both.first ?? order.first { types.contains($0) } ?? .text
    }

    private static let creations = [
        "createdat", "created", "createdon", "creationdate", "datecreated", "createdtime",
        "creationtime", "createdts", "creationts", "createddate", "createdunix", "datejoined",
        "registeredat", "userregistered", "insertedat", "postdate", "commentdate", "rentaldate",
        "paymentdate", "createdate",
    ]

    /// The column with the time at which a row was made, if it is sure what it holds.
    private func creation(of shape: TableShape) -> CreationColumn? {
        for name in Self.creations {
            let column = shape.columns.first { PersonalNames.canonical($0.name) == name }
            guard let column else { continue }
            let unit =
                column.units.contains(.timestamp)
                ? .timestamp : sample.tables[shape.name]?.units[column.name]
            if let unit, column.units.contains(unit) {
                return CreationColumn(column: column.name, unit: unit)
            }
        }
        return nil
    }

    // MARK: Users

    private mutating func addUser() {
        guard let shape = schema.table(user.table) else { return }
        var facts = "'\(user.table)' has one row for each user."
        if !user.values.isEmpty {
            facts += " Compared besides the id: \(Self.list(user.values))."
        }
        let template = user.template ?? IDTemplate(parts: user.parts, user.column)
        var decision: String?
        if user.template == nil, let template {
            decision =
                "the id is made of several columns; submit it as '\(template.text)', or change the"
                + " template"
        }
        add(rule(shape, user.column, template: template), facts, decision)
        for key in shape.foreignKeys where key.parent == user.table {
            if key.restricts { addSelf(shape, key) }
            guard key.cascades else { continue }
            ask(
                "users whose \(Self.list(key.childColumns)) refers to the user go, too, by ON"
                    + " DELETE CASCADE",
                about: user.table
            )
        }
    }

    /// A user that refers to another one, such as who invited them.
    private mutating func addSelf(_ shape: TableShape, _ key: ForeignKey) {
        guard let column = key.childColumns.last, let parent = key.parentColumns.last else {
            return
        }
        guard isNullable([column], in: shape) else {
            note(
                gap: "'\(shape.name).\(column)' refers to another user and cannot be NULL: a user"
                    + " to whom others refer cannot be deleted",
                about: [shape.name]
            )
            return
        }
        let via = ParentColumn(table: shape.name, column: parent)
        add(
            rule(shape, column, via: via, keeping: Self.losesUser),
            "'\(column)' refers to another user: it becomes NULL there."
        )
    }

    // MARK: Tables without a rule

    private func reason(for table: TableShape) -> String {
        if let problem = table.problem { return problem }
        if let reason = table.unreadable { return reason }
        if let parent = cascaded[table.name] {
            return "its rows go with those of '\(parent)' by ON DELETE CASCADE"
        }
        let personal = PersonalNames.personal(of: table)
        let sound = personal.count == 1 ? "sounds" : "sound"
        let named = personal.isEmpty ? "" : "; DECIDE: \(Self.list(personal)) \(sound) personal"
        guard !questioned.contains(table.name) else {
            return "see the questions above" + named
        }
        guard let sampled = sample.tables[table.name] else {
            return "no key leads to a user, and its values were not read in time" + named
        }
        guard !sampled.rows.isEmpty, sample.userCount > 0 else {
            let cause = sampled.rows.isEmpty ? "it is empty" : "no user was read to compare it with"
            return "no key or name leads to a user, and " + cause + named
        }
        let count = sampled.rows.count
        let rows = count == 1 ? "only sampled row" : "\(count) sampled rows"
        guard sample.distinct.contains(0) else {
            return "no key or name leads to a user; the ids of users are too short to differ from"
                + " other values, so that its \(rows) cannot show whether it refers to users"
                + named
        }
        return "no key leads to a user, and its \(rows) \(count == 1 ? "holds" : "hold") no value"
            + " that can only be a user's" + named
    }

    static func list(_ names: [String]) -> String {
        names.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// Such as `1 table` and `2 tables`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Such as `in 2 of 3 sampled rows`.
    static func share(_ found: Int, of sampled: Int) -> String {
        sampled == 1 ? "in the only sampled row" : "in \(found) of \(sampled) sampled rows"
    }
}

extension IDTemplate {
    /// `{tenant}:{id}`; `nil` for a key of one column.
    init?(parts: [String], _ column: String) {
        guard !parts.isEmpty else { return nil }
        self.init((parts + [column]).map { "{\($0)}" }.joined(separator: ":"))
    }
}
