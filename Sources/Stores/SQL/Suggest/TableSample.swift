/// What sampled rows of one table hold of sampled users; no value of any of them.
struct TableSample: Sendable {
    /// A value of a user, or of several who have the same.
    struct UserValue: Hashable, Sendable {
        /// The number of the user's column.
        let column: Int
        var users: Set<Int>
    }

    /// What one value of a row is.
    enum Match: Equatable, Sendable {
        case null
        /// No sampled user's.
        case other
        case whole(UserValue)
        /// All that stand inside a longer value.
        case inside([UserValue])
    }

    /// Where a value of a user stands inside a longer one.
    struct Place: Hashable, Sendable {
        /// The number of the user's column.
        let value: Int
        let inside: InsideValue
    }

    /// A value that names a table, such as `User` in a column of types.
    struct TypeName: Hashable, Sendable {
        let value: ColumnCondition.Value
        let table: String
    }

    /// Small numbers at one place, of which nearly all different ones are users' ids.
    struct Numbers: Sendable {
        /// In JSON, or the name beside the column; empty for the column itself.
        let path: String
        let rows: Int
        let ids: [(row: Int, value: UserValue)]
        /// Fewer than ``SuggestLimits/sureUsers`` different ones: a name must speak for them.
        let isFew: Bool
        /// The share of users' ids among all numbers from the least to the greatest.
        let chance: Double
    }

    let columns: [String]
    /// Row by row, in the order of ``columns``.
    var rows: [[Match]] = []
    /// With whom rows go by each rule, row by row; only some columns where a rule sets these.
    private var owners: [(columns: Set<String>?, users: [Set<Int>])] = []
    /// Of columns that name types, row by row.
    var types: [String: [TypeName?]] = [:]
    /// Where users' values stand inside longer ones, by column, with the users who do.
    var places: [String: [Place: Set<Int>]] = [:]
    /// The same in JSON, also where no rule can name it, as in a text of PostgreSQL.
    var members: [String: [Place: Set<Int>]] = [:]
    /// Numbers of users' columns of which values stand at places that are not printed, by column.
    var unnamed: [String: Set<Int>] = [:]
    /// Who is named behind an `@`, by column, each with the number of the row.
    var mentions: [String: [(row: Int, value: UserValue)]] = [:]
    /// Small numbers that may be users' ids, by column.
    var numbers: [String: [Numbers]] = [:]
    /// Whole numbers that users have, by column, each with the number of the row.
    var keys: [String: [(row: Int, value: UserValue)]] = [:]
    /// How many different values, but for 0 and an empty one, a column has.
    var different: [String: Int] = [:]
    /// What columns of times hold.
    var units: [String: CreationColumn.Unit] = [:]

    init(columns: [String]) { self.columns = columns }

    /// Notes with whom the rows go by one rule, of which each row has a value.
    mutating func add(_ owner: RowOwner, _ values: [Match]) {
        if values.count == rows.count { owners.append((owner.columns, values.map(owner.users))) }
    }

    /// What the rows have in one column; empty for an unknown one.
    func values(of column: String) -> [Match] {
        guard let index = columns.firstIndex(of: column) else { return [] }
        return rows.map { $0[index] }
    }

    /// Counts what a column holds of users.
    func count(_ column: String) -> Count {
        var count = Count()
        for match in values(of: column) { count.note(match) }
        return count
    }

    /// What each row has of users in `column` that neither goes with one of them nor is set then.
    func left(in column: String) -> [[UserValue]] {
        guard let index = columns.firstIndex(of: column) else { return [] }
        return rows.indices.map { left(of: rows[$0][index].values, in: column, at: $0) }
    }

    private func left(of values: [UserValue], in column: String, at row: Int) -> [UserValue] {
        guard !values.isEmpty else { return [] }
        let reaching = owners.filter { $0.columns?.contains(column.lowercased()) ?? true }
        return values.filter { value in
            reaching.allSatisfy { $0.users[row].isDisjoint(with: value.users) }
        }
    }

    /// The numbers of which one is a user's with whom its row does not go.
    func leftNumbers(in column: String) -> [Numbers] {
        (numbers[column] ?? []).filter { found in
            found.ids.contains { !left(of: [$0.value], in: column, at: $0.row).isEmpty }
        }
    }

    /// How many rows have ids of users with whom they do not go, where the type beside them names
    /// no other table.
    func leftIDs(in column: String, beside type: String, _ user: SuggestionUser) -> Int {
        zip(rows.indices, left(in: column)).count { row, left in
            let table = types[type]?[row]?.table ?? user.table
            return table == user.table && left.contains { $0.column == 0 }
        }
    }

    /// Whether nothing is left in `column`.
    func goes(_ column: String) -> Bool {
        left(in: column).allSatisfy(\.isEmpty) && leftNumbers(in: column).isEmpty
            && (keys[column] ?? []).allSatisfy {
                left(of: [$0.value], in: column, at: $0.row).isEmpty
            }
    }

    /// Whether a row that goes with one user has a value of another in `column`.
    func isOfOthers(_ column: String) -> Bool {
        zip(rows.indices, left(in: column)).contains { row, left in
            !left.isEmpty && owners.contains { $0.columns == nil && !$0.users[row].isEmpty }
        }
    }

    /// How many rows mention users with whom they do not go, by the number of the user's column.
    func leftMentions(in column: String) -> [Int: Int] {
        var found: [Int: Set<Int>] = [:]
        for mention in mentions[column] ?? [] {
            guard !left(of: [mention.value], in: column, at: mention.row).isEmpty else { continue }
            found[mention.value.column, default: []].insert(mention.row)
        }
        return found.mapValues(\.count)
    }

    /// What a column holds of users.
    struct Count: Equatable {
        /// Values that are not NULL.
        var sampled = 0
        /// By the number of the user's column.
        var whole: [Int: Int] = [:]
        var inside: [Int: Int] = [:]
        /// One user for each different whole value.
        private var users: [Int: Set<Int>] = [:]

        /// How many different values of a user's column stand in a column.
        func different(_ value: Int) -> Int { users[value]?.count ?? 0 }

        fileprivate mutating func note(_ match: Match) {
            switch match {
            case .null: return
            case .other: break
            case .whole(let value):
                whole[value.column, default: 0] += 1
                if let user = value.users.first { users[value.column, default: []].insert(user) }
            case .inside(let values):
                for column in Set(values.map(\.column)) { inside[column, default: 0] += 1 }
            }
            sampled += 1
        }
    }
}

extension TableShape {
    /// The column that names what a value is: `prop_key` beside `value`, and no person.
    func nameColumn(of name: String) -> String? {
        guard PersonalNames.canonical(name).hasSuffix("value") else { return nil }
        for end in ["key", "name", "propname", "fieldname", "field", "attribute", "property"] {
            let found = columns.first { column in
                let name = PersonalNames.canonical(column.name)
                let words = PersonalNames.words(column.name)
                // Of `player_key` and `playerkey`.
                let before = [words.dropLast().last ?? "", String(name.dropLast(end.count))]
                return column.holdsText && (end == "name" ? name == end : name.hasSuffix(end))
                    && !before.contains {
                        PersonalNames.isPerson($0) || PersonalNames.isTableOfUsers($0)
                    }
            }
            if let found { return found.name }
        }
        return nil
    }
}

extension TableSample.Match {
    var values: [TableSample.UserValue] {
        switch self {
        case .null, .other: []
        case .whole(let value): [value]
        case .inside(let values): values
        }
    }

    var users: Set<Int> {
        let all = values
        // Thousands may have one value, and all rows with it share the set.
        if all.count == 1 { return all[0].users }
        return all.reduce(into: []) { $0.formUnion($1.users) }
    }
}
