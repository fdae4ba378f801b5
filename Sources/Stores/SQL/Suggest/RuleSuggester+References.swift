import Lifecycle

/// A column that holds a user's id, or another value of the user.
struct UserReference: Sendable {
    let column: String
    var key: ForeignKey?
    /// The column of the user table; `nil` for that of the user id.
    var parent: String?
    var template: IDTemplate?
    /// Why it is one.
    let fact: String
    /// Nothing but the name says so.
    var isByName = false
}

/// What refers to users directly.
extension RuleSuggester {
    mutating func addReferences(of shape: TableShape) {
        addTyped(shape)
        let references = references(of: shape)
        let owner = owner(of: shape, references)
        let deleting = references.filter { reason(keeping: $0, in: shape, owner) == nil }
        for reference in references {
            let reason = reason(keeping: reference, in: shape, owner)
            let clears = reason == Self.losesUser
            let via = reference.parent.map { ParentColumn(table: user.table, column: $0) }
            let question =
                clears
                ? question(clearing: reference, in: shape, isOwned: !deleting.isEmpty)
                : question(naming: reference, in: shape, among: deleting)
            add(
                rule(
                    shape,
                    reference.column,
                    via: via,
                    template: reference.template,
                    keeping: reason,
                    clears: clears
                ),
                reference.fact,
                reference.isByName ? "is it a user id at all?" : nil,
                question
            )
        }
    }

    func references(of shape: TableShape) -> [UserReference] {
        let keys = shape.foreignKeys.filter { $0.parent == user.table }.compactMap(reference)
        let keyed = Set(shape.foreignKeys.flatMap(\.childColumns).map { $0.lowercased() })
        let others = shape.columns.filter { column in
            !keyed.contains(column.name.lowercased()) && shape.typeColumn(of: column.name) == nil
        }
        .compactMap { reference($0, in: shape) }
        let order = shape.columns.map { $0.name.lowercased() }
        let place = { (reference: UserReference) in
            order.firstIndex(of: reference.column.lowercased()) ?? order.count
        }
        return (keys + others).sorted { place($0) < place($1) }
    }

    private func reference(_ key: ForeignKey) -> UserReference? {
        let action = key.isDeclared ? " \(key.actionText)" : ""
        let pairs = zip(key.parentColumns, key.childColumns)
        let isOfID = { (name: String) in name.lowercased() == user.column.lowercased() }
        guard let own = pairs.first(where: { isOfID($0.0) }) else {
            guard let last = pairs.map(\.self).last else { return nil }
            return UserReference(
                column: last.1,
                key: key,
                parent: last.0,
                fact: "Foreign key '\(last.1)' to '\(user.table).\(last.0)'\(action)."
            )
        }
        let isWhole = key.parentColumns.count == user.parts.count + 1
        let names = Dictionary(pairs.map { ($0.0.lowercased(), $0.1) }) { first, _ in first }
        return UserReference(
            column: own.1,
            key: key,
            template: isWhole ? user.template(renaming: names) : nil,
            fact: "Foreign key \(Self.list(key.childColumns)) to '\(user.table)'\(action)."
        )
    }

    /// With the columns that make the whole id beside it; `nil` where the table lacks one of them.
    private func reference(_ column: ColumnShape, in shape: TableShape) -> UserReference? {
        guard var reference = part(column, in: shape) else { return nil }
        guard !user.parts.isEmpty else { return reference }
        let others = user.parts.compactMap { shape.column($0, ignoringCase: true)?.name }
        guard others.count == user.parts.count, !others.contains(column.name) else { return nil }
        var names = Dictionary(zip(user.parts.map { $0.lowercased() }, others)) { first, _ in first
        }
        names[user.column.lowercased()] = column.name
        reference.template = user.template(renaming: names)
        return reference
    }

    /// By sampled values, or by the name where there are none.
    private func part(_ column: ColumnShape, in shape: TableShape) -> UserReference? {
        let ids = schema.table(user.table)?.column(user.column, ignoringCase: true)?.idTypes ?? []
        guard !ids.isDisjoint(with: column.idTypes) else { return nil }
        let bare = names.bare(user.table)
        let other = names.table(of: column.name, in: shape.name)
        let isElsewhere = other != nil && other != user.table
        let isStrong = !isElsewhere && PersonalNames.isNamed(column.name, after: user, bare)
        let count = sample.tables[shape.name]?.count(column.name) ?? TableSample.Count()
        let whole = count.whole[0] ?? 0
        let fact =
            "'\(column.name)' is no foreign key; \(whole) of \(count.sampled) sampled values"
            + (whole == 1 ? " is the id of a user." : " are ids of users.")
        if whole > 0 {
            if sample.distinct.contains(0) { return UserReference(column: column.name, fact: fact) }
            let isMost = whole * 10 >= count.sampled * 9
            let sounds = PersonalNames.isReference(column.name, to: user, bare: bare)
            if isStrong || (!isElsewhere && isMost && sounds) {
                return UserReference(column: column.name, fact: fact, isByName: !isMost)
            }
            return nil
        }
        guard isStrong, count.sampled == 0 || sample.hasMoreUsers else { return nil }
        return UserReference(
            column: column.name,
            fact: count.sampled == 0
                ? "'\(column.name)' is named like a user id, and there is no value to compare."
                : fact + " Its name says so.",
            isByName: true
        )
    }

    // MARK: What happens to a row

    /// The reference by which a row is the user's: rows go by it, and the others are cleared.
    private func owner(of shape: TableShape, _ references: [UserReference]) -> String? {
        let rank = { (reference: UserReference) -> Int in
            if reference.key?.cascades == true { return 6 }
            if reference.key?.onDelete == "SET NULL" { return 0 }
            if PersonalNames.isAudit(reference.column) { return 1 }
            let isOwner = PersonalNames.isOwner(PersonalNames.canonical(reference.column))
            return (isOwner ? 4 : 2) + (isNullable([reference.column], in: shape) ? 0 : 1)
        }
        // Of equals the first.
        let best = references.map(rank).max() ?? 0
        return references.first { rank($0) == best }?.column
    }

    /// Why the row stays; `nil` where it goes, as only the reference of its owner or a key demands.
    private func reason(
        keeping reference: UserReference,
        in shape: TableShape,
        _ owner: String?
    ) -> String? {
        let isOfOwner = reference.column == owner && !PersonalNames.isAudit(reference.column)
        guard reference.key?.cascades != true,
            !isOfOwner || reference.key?.onDelete == "SET NULL"
        else { return nil }
        if isNullable([reference.column], in: shape) { return Self.losesUser }
        return reference.key == nil ? Self.namesUser : nil
    }

    private func question(
        clearing reference: UserReference,
        in shape: TableShape,
        isOwned: Bool
    ) -> String? {
        let personal = PersonalNames.personal(of: shape).filter {
            $0 != reference.column
        }
        guard personal.isEmpty else {
            return "the row stays; \(Self.list(personal)) may be the user's and need be set, too"
        }
        // Who worked on a row may be all that says whose it is.
        return isOwned || reference.key?.onDelete == "SET NULL"
            ? nil : "no other column says whose the row is: does it go, or stay without the user?"
    }

    /// What to ask about a row that names the user and is of others, too.
    private func question(
        naming reference: UserReference,
        in shape: TableShape,
        among references: [UserReference]
    ) -> String? {
        let isAudit = PersonalNames.isAudit(reference.column)
        if isAudit || reference.key?.cannotSetNull == true {
            let word = isAudit ? "name says that the user only worked on the row" : Self.keyKeeps
            return "the \(word), but \(Self.orPlaceholder)"
        }
        guard references.contains(where: { $0.column == reference.column }) else {
            return "the row is of others, but \(Self.orPlaceholder)"
        }
        let cascades = reference.key?.cascades == true
        // Where the schema says CASCADE, who worked on the row has no say.
        let count =
            cascades
            ? references.count { !PersonalNames.isAudit($0.column) } : references.count
        if count > 1 {
            let cause = cascades ? ", as ON DELETE CASCADE says" : ""
            return "the row names \(count) users: does it go with this one\(cause)?"
        }
        let table = PersonalNames.canonical(names.bare(shape.name))
        guard PersonalNames.isContent(reference.column, of: table) else { return nil }
        return "others may read these rows: do they go with this user, or stay anonymized?"
    }

    static let losesUser = "the row is of others; only the reference to the user goes"
    private static let namesUser = "the row is of others and names the user"
    static let keyKeeps = "foreign key says that the row stays"
    static let orPlaceholder =
        "it cannot be NULL: delete the row, or set the id of a placeholder account?"

    // MARK: Types

    /// Rows of a polymorphic reference of which the type is that of users.
    private mutating func addTyped(_ shape: TableShape) {
        for found in typed[shape.name] ?? [] where found.type.table == user.table {
            add(rule(shape, found.column, where: [found.condition]), found.fact)
        }
    }
}

/// A polymorphic reference, for one value of its type.
struct TypedReference: Sendable {
    let column: String
    let typeColumn: String
    let type: TableSample.TypeName

    var fact: String {
        "'\(column)' refers to the table that '\(typeColumn)' names: this value means"
            + " '\(type.table)'."
    }

    var condition: ColumnCondition {
        ColumnCondition(column: typeColumn, test: .equals(type.value))
    }

    /// What the sampled types of all tables lead to, by the table that holds them.
    static func all(_ schema: SQLSchema, _ sample: SchemaSample) -> [String: [TypedReference]] {
        var found: [String: [TypedReference]] = [:]
        for (name, sampled) in sample.tables where !sampled.types.isEmpty {
            guard let shape = schema.table(name) else { continue }
            for column in shape.columns {
                guard let typeColumn = shape.typeColumn(of: column.name) else { continue }
                let seen = Set((sampled.types[typeColumn] ?? []).compactMap(\.self))
                found[name, default: []] += seen.sorted { $0.table < $1.table }.map { type in
                    TypedReference(column: column.name, typeColumn: typeColumn, type: type)
                }
            }
        }
        return found
    }
}
