import Lifecycle

/// Rules about ids inside values.
extension ForeignKeyPlanner {
    /// Finds the rows of a rule without ``TableRule/via``.
    func part(
        _ inside: InsideValue,
        _ rule: TableRule,
        _ table: TableShape,
        _ root: Root
    ) -> String? {
        let value = Dialect.userText(rule.idType)
        switch root {
        case .match, .check: return isFound(rule, inside, table, value)
        case .nonCanonical: return isFoundOtherwise(rule, inside, table, value)
        case .literal, .spelled: return nil
        }
    }

    private func isFound(
        _ rule: TableRule,
        _ inside: InsideValue,
        _ table: TableShape,
        _ value: String
    ) -> String {
        let column = Dialect.column(rule.column, in: table)
        let not = [unlike(rule, inside, value), isUnremovable(rule, column)].compactMap(\.self)
        let holds = Dialect.holds(inside, column, value, foldsCase: foldsCase(rule))
        let condition = not.isEmpty ? holds : "(\(holds) AND NOT \(anyOf(not)))"
        return Dialect.sparing(rule.column, inside, value, condition, in: table)
    }

    /// True for an array that no element can be taken out of; `nil` where there is none.
    private func isUnremovable(_ rule: TableRule, _ column: SQLColumn) -> String? {
        guard rule.inside == .array,
            rule.masks.contains(where: { rule.changesPart($0) && $0.strategy == .remove })
        else { return nil }
        return Dialect.isNested("\(column)")
    }

    /// True where a value stands that is not found, cannot be taken out, or that what replaces it
    /// would hold again.
    private func isFoundOtherwise(
        _ rule: TableRule,
        _ inside: InsideValue,
        _ table: TableShape,
        _ value: String
    ) -> String? {
        let column = Dialect.column(rule.column, in: table)
        let foldsCase = foldsCase(rule)
        let holds = Dialect.holds(inside, column, value, foldsCase: foldsCase)
        let otherwise = Dialect.holdsOtherwise(inside, column, value, foldsCase: foldsCase)
        let stays = [unlike(rule, inside, value), isUnremovable(rule, column)].compactMap(\.self)
        let terms = [otherwise].compactMap(\.self) + stays.map { "(\(holds) AND \($0))" }
        guard !terms.isEmpty else { return nil }
        return Dialect.sparing(rule.column, inside, value, anyOf(terms), in: table)
    }

    /// Finds rows by the value of a parent's row, which stands inside their column.
    func insideChain(
        _ rule: TableRule,
        _ via: ParentColumn,
        _ table: TableShape,
        _ parent: TableShape,
        _ root: Root,
        _ depth: Int
    ) -> String? {
        guard let isInside = isInside(rule, table, parent) else { return nil }
        var terms: [String] = []
        let found = followed(via.table).compactMap { search($0, in: parent, root, depth + 1) }
        if !found.isEmpty { terms.append("\(anyOf(found)) AND \(isInside)") }
        if case .nonCanonical = root {
            let own = followed(via.table).map { match($0, in: parent, depth + 1) }
            let otherwise = isInsideOtherwise(rule, table, parent)
            if let otherwise, !own.isEmpty { terms.append("\(anyOf(own)) AND \(otherwise)") }
        }
        return terms.isEmpty ? nil : exists(parent, where: anyOf(terms))
    }

    /// True where the column of a rule holds the value of a parent's row; `nil` for a rule whose
    /// column is the value.
    func isInside(_ rule: TableRule, _ table: TableShape, _ parent: TableShape) -> String? {
        guard let inside = rule.inside, let via = rule.via else { return nil }
        let value = Dialect.text(Dialect.column(via.column, of: parent.reference))
        return isFound(rule, inside, table, value)
    }

    /// True where it holds that value in a way that ``isInside(_:_:_:)`` does not find.
    func isInsideOtherwise(
        _ rule: TableRule,
        _ table: TableShape,
        _ parent: TableShape
    ) -> String? {
        guard let inside = rule.inside, let via = rule.via else { return nil }
        let value = Dialect.text(Dialect.column(via.column, of: parent.reference))
        return isFoundOtherwise(rule, inside, table, value)
    }

    /// The column of the value takes texts for equal that differ by their case.
    ///
    /// It is unique, so they name one user.
    private func foldsCase(_ rule: TableRule) -> Bool {
        rule.via.flatMap { Dialect.shape($0.column, in: shape($0.table)) }?.foldsCase ?? false
    }

    /// Where a mask of a part of JSON passes over places, by the columns.
    func unclearParts(
        of rule: TableRule,
        in table: TableShape
    ) -> [(column: String, condition: String)] {
        rule.masks.compactMap { mask in
            guard let path = mask.path, !rule.changesPart(mask) else { return nil }
            let column = Dialect.column(mask.column, in: table)
            let terms = [
                Dialect.isNoJSON(column),
                Dialect.isHidden(path, column, for: .unlike(mask.strategy)),
            ].compactMap(\.self)
            guard !terms.isEmpty else { return nil }
            return (column: mask.column, condition: anyOf(terms))
        }
    }

    func exists(_ alias: TableShape, where condition: String) -> String {
        "EXISTS (SELECT 1 FROM \(shape(alias.name).reference) AS \(alias.reference)"
            + " WHERE \(condition))"
    }

    /// True where the constant that replaces a value is the value, or has it in it; `nil` without a
    /// constant.
    private func unlike(_ rule: TableRule, _ inside: InsideValue, _ value: String) -> String? {
        let texts = rule.masks.filter(rule.changesPart).compactMap { mask -> String? in
            switch mask.strategy {
            case .text(let text): text
            case .integer(let number): "\(number)"
            case .null, .remove, .hash, .random, .truncate: nil
            }
        }
        let terms = texts.map { text in
            let literal = Dialect.literal(text)
            let foldsCase = foldsCase(rule)
            guard case .text(let before, let after) = inside else {
                return foldsCase
                    ? "coalesce(\(Dialect.lowered(value)) = \(Dialect.lowered(literal)), 1 = 0)"
                    : "coalesce(\(value) = \(literal), 1 = 0)"
            }
            let needle = Needle(before: before, after: after, foldsCase: foldsCase)
            return Dialect.textHolds(needle, literal, value)
        }
        return terms.isEmpty ? nil : anyOf(terms)
    }

    /// How a column is masked, and how that is recognized.
    func mask(
        _ mask: ColumnMask,
        of rule: TableRule? = nil,
        in table: TableShape,
        computed: inout [ColumnMask]
    ) -> (value: String, test: String) {
        let column = Dialect.column(mask.column, in: table)
        if let rule, let inside = rule.inside, rule.changesPart(mask) {
            let value = value(of: rule, in: table)
            let foldsCase = foldsCase(rule)
            let changed = Dialect.changed(inside, column, value, mask, foldsCase: foldsCase)
            return (value: changed, test: "1 = 0")
        }
        if let path = mask.path { return Dialect.masked(mask, at: path, column) }
        return Dialect.mask(mask, in: table, computed: &computed)
    }

    /// What a row of the rule holds of the user.
    private func value(of rule: TableRule, in table: TableShape) -> String {
        guard let via = rule.via else { return Dialect.userText(rule.idType) }
        let parent = shape(via.table).named("value1")
        let found = followed(via.table).map { match($0, in: parent, 2) }
        let isInside = isInside(rule, table, parent) ?? "1 = 0"
        return "(SELECT \(Dialect.text(Dialect.column(via.column, of: parent.reference))) FROM"
            + " \(shape(via.table).reference) AS \(parent.reference)"
            + " WHERE \(anyOf(found)) AND \(isInside) LIMIT 1)"
    }
}

extension TableRule {
    /// The rule changes what it finds inside its column.
    var changesPart: Bool { masks.contains(where: changesPart) }

    func changesPart(_ mask: ColumnMask) -> Bool {
        inside != nil && mask.column.lowercased() == column.lowercased()
    }

    /// One statement changes one place of each value.
    var isRepeated: Bool {
        masks.contains { mask in
            let path = mask.path
            guard changesPart(mask) else { return path?.hasArrays ?? false }
            // A user's rows may have several values.
            if via != nil { return true }
            if case .json(let found)? = inside { return found.hasArrays }
            return false
        }
    }
}
