import Lifecycle

/// Rows that are the user's by another value, or that the user's rows refer to.
extension RuleSuggester {
    // MARK: Owned

    /// Rows such as addresses, which go with the last row that refers to them.
    mutating func addOwned(by table: String) {
        guard let shape = schema.table(table), rules[table] != nil else { return }
        for key in shape.foreignKeys where key.restricts && key.childColumns.count == 1 {
            guard let parent = schema.table(key.parent), parent.name != table, parent.isOwn,
                parent.problem == nil, rules[parent.name] == nil, parent.name != user.table
            else { continue }
            let isProfile = PersonalNames.isTableOfUsers(parent.name)
            let personal = PersonalNames.personal(of: parent)
            guard !personal.isEmpty || isProfile || isAddress(parent.name) else { continue }
            let via = ParentColumn(table: table, column: key.childColumns[0])
            add(
                rule(parent, key.parentColumns[0], via: via),
                "'\(table).\(key.childColumns[0])' refers to it. A row goes with the last one that"
                    + " refers to it.",
                "are these rows data of users, or shared by all?",
                owned: true
            )
        }
    }

    private func isAddress(_ table: String) -> Bool {
        let name = PersonalNames.canonical(names.bare(table))
        return name.hasSuffix("address") || name.hasSuffix("addresses")
    }

    // MARK: Values

    /// Rows with an e-mail address or the like.
    mutating func addValues(of shape: TableShape) {
        guard let sampled = sample.tables[shape.name] else { return }
        let direct = (rules[shape.name] ?? []).filter { $0.rule.via == nil }
        let keyed = Set(shape.foreignKeys.flatMap(\.childColumns).map { $0.lowercased() })
        let isBelow = deleted.contains(shape.name) && isUnowned(shape)
        // In the table of users an id is another user's, such as who invited them.
        let isIDs = shape.name == user.table && user.parts.isEmpty
        let references = isIDs ? references(of: shape) : []
        for column in shape.columns where !keyed.contains(column.name.lowercased()) {
            let count = sampled.count(column.name)
            let reference = references.first { $0.column == column.name }
            let id: (Int, Int)? = reference == nil ? nil : (0, count.whole[0] ?? 0)
            guard let (value, whole) = id ?? value(of: count, column.name),
                left(sampled, column.name).contains(value)
            else { continue }
            let isOfOthers =
                isBelow || shape.name == user.table || sampled.isOfOthers(column.name)
                || direct.contains { $0.rule.action != .delete }
            let clears = isOfOthers && isNullable([column.name], in: shape)
            // Another user's row does not go, and ``noteLeft()`` asks what to do.
            guard clears || !isOfOthers else { continue }
            let question: String? =
                shape.name != user.table
                ? "is a row with such a value the user's?"
                : reference?.isByName == true ? "is it a user id at all?" : nil
            let parent = user.columns[value]
            add(
                rule(
                    shape,
                    column.name,
                    via: ParentColumn(table: user.table, column: parent),
                    keeping: clears ? Self.losesUser : nil
                ),
                "'\(column.name)' holds '\(user.table).\(parent)'"
                    + " \(Self.share(whole, of: count.sampled)).",
                question
            )
        }
    }

    /// The column of the user table that a column repeats, and how often.
    private func value(of count: TableSample.Count, _ column: String) -> (Int, Int)? {
        let found = count.whole.filter { value, _ in
            values.contains(value) && isEvident(value, in: column, of: count)
        }
        return found.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, $0.value) }
    }

    /// The numbers of the user's columns without that of the id.
    private var values: Range<Int> { 1..<user.columns.count }

    /// Whether equal values cannot be by chance: a URI or an e-mail address is a user's, and a word
    /// may be anything unless most rows have one of many users' words.
    private func isEvident(_ value: Int, in column: String, of count: TableSample.Count) -> Bool {
        let own = PersonalNames.canonical(user.columns[value])
        let name = PersonalNames.canonical(column)
        if PersonalNames.names(email: own) || own == name { return true }
        guard sample.distinct.contains(value) else { return false }
        return sample.sure.contains(value)
            || count.different(value) >= SuggestLimits.sureUsers
                && (count.whole[value] ?? 0) * 2 >= count.sampled
            || name.contains(own) || SuggestionUser.isLogin(name)
            || PersonalNames.isReference(column, to: user, bare: names.bare(user.table))
    }

    /// Whether a value may be cleared in rows of others, which a cascade does not spare.
    func clearsValues(of shape: TableShape) -> Bool {
        guard let sampled = sample.tables[shape.name] else { return false }
        return shape.columns.map(\.name).contains { column in
            let isKeyed = shape.foreignKeys.contains { $0.childColumns.contains(column) }
            guard !isKeyed, isNullable([column], in: shape),
                sampled.isOfOthers(column) || isUnowned(shape) && !sampled.goes(column)
            else { return false }
            let found = holds(sampled, column, isID: false)
            return found.contains { $0.value < user.columns.count }
        }
    }

    /// Whether nothing in a row says whose it is: it goes with rows of another table, or not.
    private func isUnowned(_ shape: TableShape) -> Bool {
        !(rules[shape.name] ?? []).contains { other in
            other.rule.via == nil || other.rule.via?.table == user.table
        }
    }

    // MARK: Coverage

    /// The columns of the user table of which values are left in a column when their users go.
    private func left(_ sampled: TableSample, _ column: String) -> Set<Int> {
        Set(sampled.left(in: column).joined().map(\.column))
    }

    /// Columns of the application's tables in which values of users were found.
    static func holders(
        _ schema: SQLSchema,
        _ user: SuggestionUser,
        _ sample: SchemaSample
    ) -> [ValueHolder] {
        let suggester = RuleSuggester(schema, user, sample)
        let tables = schema.tables.filter { $0.isOwn && $0.holdsRows && $0.canSelect }
        return tables.flatMap { shape -> [ValueHolder] in
            guard let rows = sample.tables[shape.name] else { return [] }
            let references = suggester.references(of: shape)
            let ids = references.filter { $0.key == nil && !$0.isByName }.map(\.column)
            return shape.columns.compactMap { column -> ValueHolder? in
                let found = suggester.holds(rows, column.name, isID: ids.contains(column.name))
                let left = suggester.left(rows, column.name).intersection(found.map { $0.value })
                // One by its name alone is as unsure as what it holds.
                let isReference = references.contains {
                    $0.column == column.name && !$0.isByName
                }
                let numbers =
                    isReference ? [] : suggester.mayHold(rows, column.name, in: shape)
                let unsure = suggester.mentions(rows, column.name) + numbers.map { $0.text }
                let isLeft = !left.isEmpty || !unsure.isEmpty
                guard isLeft || shape.name != user.table && !found.isEmpty else { return nil }
                let reasons = found.filter { !isLeft || left.contains($0.value) }.map { $0.text }
                return ValueHolder(
                    table: shape.name,
                    column: column.name,
                    reason: (reasons + unsure).joined(separator: "; "),
                    isLeft: isLeft,
                    question: reasons.count + unsure.count == 1 ? numbers.first?.question : nil
                )
            }
        }
    }

    /// Each column of the user table of which a column holds values, with the words for it.
    private func holds(
        _ sampled: TableSample,
        _ column: String,
        isID: Bool
    ) -> [(value: Int, text: String)] {
        let count = sampled.count(column)
        let text = { (value: Int, place: String, rows: Int) in
            "holds '\(user.name(of: value))'\(place) \(Self.share(rows, of: count.sampled))"
        }
        var found: [(value: Int, text: String)] = []
        if isID {
            found.append((0, text(0, "", count.whole[0] ?? 0)))
        } else if let (value, rows) = value(of: count, column) {
            found.append((value, text(value, "", rows)))
        } else {
            // What may be chance is a question: no rule follows from it.
            for (value, rows) in count.whole.sorted(by: { $0.key < $1.key })
            where values.contains(value) && sample.distinct.contains(value)
                && count.different(value) >= SuggestLimits.placeRows
                && rows * SuggestLimits.chance >= count.sampled
            {
                found.append((value, text(value, ", maybe by chance,", rows)))
            }
        }
        for (value, rows) in count.whole.sorted(by: { $0.key < $1.key })
        where value >= user.columns.count {
            found.append((value, text(value, "", rows)))
        }
        for (value, rows) in count.inside.sorted(by: { $0.key < $1.key })
        where isSearched(inside: value) || isMember(value, of: sampled, column) {
            found.append((value, text(value, " inside longer values,", rows)))
        }
        return found
    }

    /// At one place in JSON documents are values of several users, such as sign-in names.
    private func isMember(_ value: Int, of sampled: TableSample, _ column: String) -> Bool {
        sample.distinct.contains(value)
            && (sampled.members[column] ?? [:]).contains { place, users in
                place.value == value && users.count >= SuggestLimits.sureUsers
            }
    }

    /// Words for users whom texts of others name as `@anna`.
    private func mentions(_ sampled: TableSample, _ column: String) -> [String] {
        sampled.leftMentions(in: column).sorted { $0.key < $1.key }.map { value, rows in
            let name = value == 0 ? "user" : user.name(of: value)
            let share = Self.share(rows, of: sampled.count(column).sampled)
            return "mentions users as @{\(name)} \(share)"
        }
    }

    /// Words for ids beside a type, and for small numbers that may be ids of users: no rule follows
    /// from them.
    private func mayHold(
        _ sampled: TableSample,
        _ column: String,
        in shape: TableShape
    ) -> [(text: String, question: CoverageQuestion?)] {
        let isKeyed = shape.foreignKeys.contains { $0.childColumns.contains(column) }
        guard !isKeyed else { return [] }
        let type = shape.typeColumn(of: column)
        let found = sampled.leftNumbers(in: column).filter {
            type != nil || mayRefer($0, column, in: shape)
        }
        guard found.isEmpty || !found.allSatisfy(\.isFew) else {
            return [(CoverageQuestion.fewNumbers.reason, .fewNumbers)]
        }
        if let type {
            let isSure = sample.distinct.contains(0)
            let rows = sampled.leftIDs(in: column, beside: type, user)
            guard rows > 0, isSure || !found.isEmpty else { return [] }
            let share = Self.share(rows, of: sampled.count(column).sampled)
            let verb = isSure ? "holds" : "may hold"
            return [("\(verb) ids of users \(share) whose '\(type)' names no other table", nil)]
        }
        return found.map { numbers in
            let place = numbers.path.isEmpty ? "" : " at \(numbers.path)"
            let rows = Set(numbers.ids.map { $0.row }).count
            let text = "may hold ids of users\(place) \(Self.share(rows, of: numbers.rows))"
            return (text, numbers.path.isEmpty ? .sameColumn(column) : nil)
        }
    }

    /// Notes what no rule is about, as the check will report it.
    mutating func noteLeft() {
        let left = Self.holders(schema, user, sample).filter { holder in
            let own = rules[holder.table] ?? []
            return holder.isLeft
                && !own.contains { $0.rule.column == holder.column && $0.rule.conditions.isEmpty }
        }
        for same in left.questions(by: \.question) {
            let (tables, names) = (same.map(\.table), Self.list(same.map(\.name)))
            if same.count > 1, case .sameColumn(let column)? = same[0].question {
                let reason = CoverageQuestion.sameColumn(column).reason
                note(
                    gap: "'\(column)' of \(same.count) tables \(reason): \(Self.list(tables)).",
                    about: tables
                )
            } else {
                note(
                    gap: "\(names) \(same[0].reason). Mask the column, delete the rows by another"
                        + " rule, or keep them with a reason.",
                    about: tables
                )
            }
        }
    }

    // MARK: Inside values

    /// Notes ids and addresses in documents and texts of rows that stay.
    mutating func noteInside(_ shape: TableShape) {
        guard let sampled = sample.tables[shape.name] else { return }
        for column in shape.columns {
            let left = left(sampled, column.name).filter(isSearched)
            let inside = sampled.count(column.name).inside.keys
            guard inside.contains(where: { left.contains($0) }), shape.name != user.table,
                addPlaces(sampled, column, shape), hasOtherPlaces(sampled, column.name)
            else { continue }
            note(
                gap: "'\(shape.name).\(column.name)' holds values of users at further places, too."
                    + " They are not printed, since their names may be personal. Look at the"
                    + " values, and write a rule for each such place.",
                about: [shape.name]
            )
        }
    }

    /// Whether values of users stand at places for which no rule is written.
    private func hasOtherPlaces(_ sampled: TableSample, _ column: String) -> Bool {
        let isRare = (sampled.places[column] ?? [:]).contains { place, users in
            users.count < SuggestLimits.placeRows && isSearched(inside: place.value)
        }
        return isRare || (sampled.unnamed[column] ?? []).contains(where: isSearched)
    }

    /// Adds a rule for each place at which different users' values were found; false without one.
    private mutating func addPlaces(
        _ sampled: TableSample,
        _ column: ColumnShape,
        _ shape: TableShape
    ) -> Bool {
        let places = (sampled.places[column.name] ?? [:]).filter { place, users in
            users.count >= SuggestLimits.placeRows && isSearched(inside: place.value)
                && place.value < user.columns.count
        }
        let sorted = places.sorted { $0.key.inside.place < $1.key.inside.place }
        for (place, users) in sorted {
            var isWhole = false
            if case .text = place.inside { isWhole = true }
            let masks = [ColumnMask(column: column.name, strategy: .remove)]
            var rule = TableRule(
                table: shape.name,
                column: column.name,
                idType: idType(inside: place),
                action: isWhole ? .delete : .anonymize(masks),
                reason: isWhole ? nil : "the row is of others; only the user's value goes"
            )
            rule.inside = place.inside
            if place.value > 0 {
                rule.via = ParentColumn(table: user.table, column: user.columns[place.value])
            }
            add(
                rule,
                "'\(column.name)' holds '\(user.table).\(user.columns[place.value])'"
                    + " \(place.inside.place), of \(users.count) sampled users.",
                isWhole
                    ? "is a row with such a text the user's?"
                    : question(removing: place.inside, from: column.name)
            )
        }
        return !sorted.isEmpty
    }

    /// What may go besides the value: in JSON, the object that has it.
    private func question(removing inside: InsideValue, from column: String) -> String {
        let question = "is it enough to remove the value there?"
        guard case .json(let path) = inside, let parent = path.parent else { return question }
        let mask = "strategy = \"remove\", path = \"\(parent.text)\""
        return "\(question) To remove all of \(parent.text), write"
            + " set = { \(TableRule.key(column)) = { \(mask) } }"
    }

    /// How an id is compared inside a value: an array of UUIDs has these, a text their digits.
    private func idType(inside place: TableSample.Place) -> IDType {
        guard place.value == 0, let shape = schema.table(user.table) else { return .text }
        let type = idType(of: user.column, in: shape)
        return type == .integer || type == .uuid && place.inside == .array ? type : .text
    }

    /// Whether a user's value inside a text means the user: ids, e-mail addresses and the like do.
    private func isSearched(inside value: Int) -> Bool {
        guard sample.distinct.contains(value) else { return false }
        guard value < user.columns.count else { return true }
        let name = PersonalNames.canonical(user.columns[value])
        return value == 0 || PersonalNames.names(email: name) || sample.sure.contains(value)
    }
}

/// A column in which values of users were found.
struct ValueHolder: Sendable {
    let table: String
    let column: String
    /// Such as `holds 'users.id' in 12 of 300 sampled rows`.
    let reason: String
    /// Values of users stay there when these go.
    let isLeft: Bool
    let question: CoverageQuestion?

    var name: String { "\(table).\(column)" }
}
