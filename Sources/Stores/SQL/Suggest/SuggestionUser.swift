import Lifecycle
import Settings

/// The table that has one row for each user.
struct SuggestionUser: Sendable {
    /// Which table it is, or why nobody can tell.
    enum Choice {
        case found(SuggestionUser)
        case refused(String)
    }

    let table: String
    /// The column with the user id.
    let column: String
    /// Columns of its key besides ``column``.
    var parts: [String] = []
    /// As a rule has it.
    var template: IDTemplate?
    /// Other columns whose values identify a user, such as an e-mail address.
    var values: [String] = []
    /// Unique columns of numbers besides the id: rows may refer to users by them.
    var keys: [String] = []
    /// E-mail addresses in other tables and full names in this one, each with the user's id there:
    /// they are looked for, and no rule is written by them.
    var beside: [(table: String, id: String, value: String)] = []
    let reason: String

    /// The id and the other values, in the order of ``TableSample/Match``.
    var columns: [String] { [column] + values }

    /// As texts name a value, by its number: behind ``columns`` are those ``beside``.
    func name(of value: Int) -> String {
        guard value >= columns.count else { return "\(table).\(columns[value])" }
        let other = beside[value - columns.count]
        return "\(other.table).\(other.value)"
    }

    /// How an id is made of columns with other names, which `names` has by those of the table of
    /// users in lower case; `nil` for an id of one column.
    func template(renaming names: [String: String]) -> IDTemplate? {
        let own = template ?? IDTemplate(parts: parts, column)
        return own?.renamed(names)
    }

    /// Finds the table of users: as an operator said, as a rule of the store says, or by names.
    static func find(
        in schema: SQLSchema,
        rules: [TableRule],
        named text: String?
    ) -> Choice {
        if let text { return named(text, schema) }
        if let rule = ruled(rules, schema), let shape = schema.table(rule.table) {
            let reason = "a rule of the store is about it"
            return choice(make(shape, rule.column, reason, schema, rule.idTemplate))
        }
        let ranking = Ranking(schema)
        let ranked = schema.tables.filter { table in
            table.isOwn && table.problem == nil && ranking.isNamedOfUsers(table)
                && table.singleKey != nil
        }
        .map { (shape: $0, rank: ranking.rank($0)) }.sorted { $0.rank > $1.rank }
        guard let first = ranked.first?.shape, let column = first.singleKey,
            ranked.count == 1 || ranked[0].rank > ranked[1].rank
        else {
            return .refused(
                "the schema does not say which table has one row for each user; name it with"
                    + " --user-table TABLE.COLUMN"
            )
        }
        return choice(make(first, column, "its name is that of a table of users", schema, nil))
    }

    private static func named(_ text: String, _ schema: SQLSchema) -> Choice {
        let place =
            schema.table(text).map { ($0, nil) }
            ?? ParentColumn(text).flatMap { named in
                schema.table(named.table).map { ($0, named.column) }
            }
        guard let (shape, name) = place else {
            return .refused("no table has the name; --user-table is TABLE.COLUMN")
        }
        if let problem = shape.problem { return .refused(problem) }
        guard let name = name ?? shape.singleKey else {
            return .refused(
                "table '\(shape.name)' has no primary key of one column; --user-table must be"
                    + " TABLE.COLUMN"
            )
        }
        guard let column = shape.column(name, ignoringCase: true) else {
            return .refused("table '\(shape.name)' has no such column")
        }
        return choice(make(shape, column.name, "--user-table names it", schema, nil))
    }

    /// The rule about a table of users: its column has a value of its own in each row.
    private static func ruled(_ rules: [TableRule], _ schema: SQLSchema) -> TableRule? {
        let roots = rules.filter { rule in
            guard rule.via == nil, rule.conditions.isEmpty, let shape = schema.table(rule.table),
                shape.problem == nil
            else { return false }
            return shape.isUnique([rule.column] + (rule.idTemplate?.parts.map(\.column) ?? []))
        }
        let ranking = Ranking(schema)
        let ranked = roots.map { rule in
            (rule: rule, rank: schema.table(rule.table).map(ranking.rank) ?? (0, 0))
        }
        return ranked.max { $0.rank < $1.rank }?.rule
    }

    /// How likely a table is the one of users: by other tables with a foreign key to it, by its
    /// name, and then by others with a column such as `user_id`, which profiles have, too.
    private struct Ranking {
        private let schema: SQLSchema
        private let names: TableNames
        private var referring: [String: Int] = [:]

        init(_ schema: SQLSchema) {
            (self.schema, names) = (schema, TableNames(schema))
            for child in schema.tables {
                let named = child.columns.compactMap { names.table(of: $0.name, in: child.name) }
                for table in Set(named) where table != child.name {
                    referring[table, default: 0] += 1
                }
            }
        }

        func isNamedOfUsers(_ table: TableShape) -> Bool {
            [table.name, names.bare(table.name)].contains(where: PersonalNames.isTableOfUsers)
        }

        func rank(_ table: TableShape) -> (Int, Int) {
            let keys = schema.tables.count { child in
                child.name != table.name && child.foreignKeys.contains { $0.parent == table.name }
            }
            return (keys * 2 + (isNamedOfUsers(table) ? 1 : 0), referring[table.name] ?? 0)
        }
    }

    /// Without a rule about its users, a store has none.
    private static func choice(_ user: SuggestionUser) -> Choice {
        guard [user.table, user.column].allSatisfy(TextRule.identifier.accepts) else {
            return .refused(
                "the table of users, or its column with the id, has a name that a configuration"
                    + " cannot hold"
            )
        }
        return .found(user)
    }

    private static func make(
        _ shape: TableShape,
        _ column: String,
        _ reason: String,
        _ schema: SQLSchema,
        _ template: IDTemplate?
    ) -> SuggestionUser {
        let name = shape.column(column, ignoringCase: true)?.name ?? column
        var user = SuggestionUser(table: shape.name, column: name, reason: reason)
        user.template = template
        if let template {
            user.parts = template.parts.map(\.column).filter {
                $0.lowercased() != name.lowercased()
            }
        } else if !shape.isUnique([name]) {
            user.parts = shape.columns.filter { $0.isPrimaryKey && $0.name != name }.map(\.name)
        }
        let referred = Set(
            schema.tables.flatMap(\.foreignKeys).filter {
                $0.parent == shape.name && $0.parentColumns.count == 1
            }
            .flatMap(\.parentColumns).map { $0.lowercased() }
        )
        let parts = user.parts.map { $0.lowercased() }
        let others = shape.columns.filter {
            $0.name != name && !parts.contains($0.name.lowercased())
        }
        let isNumber = { (column: ColumnShape) in column.idTypes == [.integer] }
        let keys = others.filter { referred.contains($0.name.lowercased()) && !isNumber($0) }
        let texts = others.filter { column in
            !keys.contains { $0.name == column.name } && isIdentifying(column)
                && (column.holdsText || !column.idTypes.isDisjoint(with: [.uuid, .blob]))
        }
        user.values = Array((keys + texts).map(\.name).prefix(SuggestLimits.values))
        guard user.parts.isEmpty else { return user }
        user.keys = others.filter { isNumber($0) && shape.isUnique([$0.name]) }.map(\.name)
        user.beside = schema.tables.compactMap { besides($0, user) }
        user.beside += others.filter {
            PersonalNames.fullNames.contains(PersonalNames.canonical($0.name))
        }
        .map { (table: shape.name, id: name, value: $0.name) }
        return user
    }

    /// The e-mail address in a table that is named after these, or like one of users.
    private static func besides(
        _ table: TableShape,
        _ user: SuggestionUser
    ) -> (table: String, id: String, value: String)? {
        let canonical = PersonalNames.canonical(table.name)
        let isOfAddresses = (0...2).contains {
            PersonalNames.names(email: String(canonical.dropLast($0)))
        }
        let names = table.columns.map { ($0.name, PersonalNames.canonical($0.name)) }
        let id = names.first { PersonalNames.isUserID($0.1) }?.0
        let value = names.first {
            PersonalNames.names(email: $0.1) || isOfAddresses && $0.1 == "address"
        }?.0
        guard let id, let value, isOfAddresses || PersonalNames.isTableOfUsers(table.name),
            table.isOwn, table.problem == nil, table.canSelect, table.name != user.table
        else { return nil }
        return (table: table.name, id: id, value: value)
    }

    private static func isIdentifying(_ column: ColumnShape) -> Bool {
        let name = PersonalNames.canonical(column.name)
        return column.isUnique || PersonalNames.names(email: name) || isLogin(name)
            || ["phone", "phonenumber", "mobile", "mobilenumber"].contains(name)
    }

    /// Whether a canonical name is one of what a user signs in with.
    static func isLogin(_ name: String) -> Bool {
        ["username", "userlogin", "login", "loginname", "nickname", "handle"].contains(name)
    }
}

extension TableShape {
    /// The only column of the primary key.
    var singleKey: String? {
        let keys = columns.filter(\.isPrimaryKey)
        return keys.count == 1 ? keys[0].name : nil
    }
}

extension PersonalNames {
    /// Whether a ``canonical(_:)`` name is one of an e-mail address.
    static func names(email name: String) -> Bool {
        name.hasSuffix("email") || name.hasSuffix("emailaddress") || name == "mail"
    }
}
