/// What sampled rows of one table hold of sampled users; no value of any of them.
struct TableSample: Sendable {
    /// What one value of a row is.
    enum Match: Hashable, Sendable {
        case null
        /// No sampled user's.
        case other
        /// A value of a user: the number of its column, and that of the user.
        case whole(Int, user: Int)
        /// The same inside a longer value.
        case inside(Int, user: Int)
    }

    /// Where a value of a user stands inside a longer one.
    struct Place: Hashable, Sendable {
        /// The number of the user's column.
        let value: Int
        let inside: InsideValue
    }

    /// A user whom a row names behind an `@`.
    struct Mention: Sendable {
        /// The number of the row.
        let row: Int
        /// The number of the user's column.
        let value: Int
        let user: Int
    }

    /// A value that names a table, such as `User` in a column of types.
    struct TypeName: Hashable, Sendable {
        let value: ColumnCondition.Value
        let table: String
    }

    let columns: [String]
    /// Row by row, in the order of ``columns``.
    var rows: [[Match]] = []
    /// Of columns that name types, row by row.
    var types: [String: [TypeName?]] = [:]
    /// Where users' values stand inside longer ones, by column, with the users who do.
    var places: [String: [Place: Set<Int>]] = [:]
    /// Numbers of users' columns of which values stand at places that are not printed, by column.
    var unnamed: [String: Set<Int>] = [:]
    /// Who is named behind an `@`, by column.
    var mentions: [String: [Mention]] = [:]
    /// What columns of times hold.
    var units: [String: CreationColumn.Unit] = [:]

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

    /// Whether each row in which `column` has a value of a user has that user in one of `owners`.
    func goes(_ column: String, with owners: [String]) -> Bool {
        guard let index = columns.firstIndex(of: column) else { return false }
        let places = owners.compactMap { columns.firstIndex(of: $0) }
        return rows.allSatisfy { row in
            guard let user = row[index].user else { return true }
            return places.contains { row[$0].user == user }
        }
    }

    /// Whether a row has a value of a user in `column` and another user in `owner`.
    func isOfOthers(_ column: String, by owner: String) -> Bool {
        guard let index = columns.firstIndex(of: column),
            let place = columns.firstIndex(of: owner)
        else { return false }
        return rows.contains { row in
            guard let user = row[index].user, let other = row[place].user else { return false }
            return user != other
        }
    }

    /// How many rows mention users who are in none of `owners`, by the number of the user's column.
    func mentions(in column: String, besides owners: [String]) -> [Int: Int] {
        let places = owners.compactMap { columns.firstIndex(of: $0) }
        var found: [Int: Set<Int>] = [:]
        for mention in mentions[column] ?? [] {
            let row = rows[mention.row]
            guard !places.contains(where: { row[$0].user == mention.user }) else { continue }
            found[mention.value, default: []].insert(mention.row)
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
        /// Different users whose id is a whole value.
        var users: Set<Int> = []

        fileprivate mutating func note(_ match: Match) {
            switch match {
            case .null: return
            case .other: break
            case .whole(let value, let user):
                whole[value, default: 0] += 1
                if value == 0 { users.insert(user) }
            case .inside(let value, _): inside[value, default: 0] += 1
            }
            sampled += 1
        }
    }
}

extension TableSample.Match {
    var isInside: Bool {
        if case .inside = self { true } else { false }
    }

    var user: Int? {
        switch self {
        case .null, .other: nil
        case .whole(_, let user), .inside(_, let user): user
        }
    }
}
