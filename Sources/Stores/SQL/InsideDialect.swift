import Lifecycle

/// The SQL about values inside values.
///
/// `value` is a text in SQL, which may be NULL or empty and is then found nowhere.
protocol InsideDialect: SendableMetatype {
    /// A value as a text in lower case.
    static func lowered(_ text: String) -> String

    /// The user id of parameter 1 as a text.
    static func userText(_ type: IDType) -> String

    /// Why a column cannot hold ids so; `nil` where it can.
    static func problem(of inside: InsideValue, _ column: ColumnShape, _ type: IDType) -> String?

    static func search(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> JSONSearch

    /// True where there is such a place by any reading of the names on the way, whatever escapes
    /// they are written with and however often an object has them; `nil` where
    /// ``search(_:_:for:)`` has all of them. Never NULL.
    static func walk(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> String?

    /// True for a value that is no JSON and not blank; `nil` where there can be none. Never NULL.
    static func isNoJSON(_ column: SQLColumn) -> String?

    /// The column with something else at a place in its JSON.
    static func json(_ column: SQLColumn, at place: String, _ change: MaskStrategy) -> String

    /// True for a value that is no JSON and has this text in it, maybe with escapes and in another
    /// case; `nil` where there can be none.
    static func isBroken(_ column: SQLColumn, _ value: String, foldsCase: Bool) -> String?

    /// True where the value is one of the elements; never NULL.
    static func listHolds(_ separator: String, _ column: String, _ value: String) -> String

    /// True where it may well be one, for other blanks around the elements.
    static func listHoldsLoosely(_ separator: String, _ column: String, _ value: String) -> String

    /// The list without the element, or with another in its place.
    static func list(
        _ separator: String,
        _ column: String,
        without value: String,
        _ replacement: String?
    ) -> String

    /// True where the needle stands in the text; never NULL.
    static func textHolds(_ needle: Needle, _ column: String, _ value: String) -> String

    /// True where the needle stands in a text that cannot be changed, as it is none in the
    /// database's set of characters; `nil` where there can be none. Never NULL.
    static func isGarbled(_ needle: Needle, _ column: String, _ value: String) -> String?

    /// The text with something else in place of each needle.
    static func text(
        _ needle: Needle,
        _ column: String,
        without value: String,
        _ replacement: String
    ) -> String

    static func arrayHolds(_ column: SQLColumn, _ value: String) -> String

    /// True where an element is a text that differs by its case at most; never NULL.
    static func arrayHoldsInAnyCase(_ column: SQLColumn, _ value: String) -> String

    static func array(_ column: SQLColumn, without value: String, _ replacement: String?) -> String

    /// True for an array of arrays, of which no element can be taken out; `nil` where there can be
    /// none. Never NULL.
    static func isNested(_ column: String) -> String?
}

/// A column, or what stands for it, in SQL.
struct SQLColumn: CustomStringConvertible {
    let description: String
    /// `nil` for one that the schema does not have.
    let shape: ColumnShape?
}

/// A value with its texts around it.
struct Needle {
    let before: String
    let after: String
    /// `@Ann` is `@ann`.
    var foldsCase = false

    /// No letter or digit may stand in front of it: `@ann` is not in `joe@ann.example`.
    var beginsWord: Bool { before.first.map { $0 == "@" || Mentions.isWord($0) } ?? true }
    /// None may follow: `@ann` is not in `@anna` nor in `@ann.smith`.
    var endsWord: Bool { after.last.map(Mentions.isWord) ?? true }
}

extension InsideDialect {
    static func isGarbled(_ needle: Needle, _ column: String, _ value: String) -> String? { nil }

    static func isNested(_ column: String) -> String? { nil }

    static func arrayHoldsInAnyCase(_ column: SQLColumn, _ value: String) -> String { "1 = 0" }

    static func arrayHolds(_ column: SQLColumn, _ value: String) -> String {
        "1 = 0"
    }

    static func array(
        _ column: SQLColumn,
        without value: String,
        _ replacement: String?
    ) -> String { "\(column)" }

    /// True where a value stands inside a column, of JSON and texts maybe in another case; never
    /// NULL.
    static func holds(
        _ inside: InsideValue,
        _ column: SQLColumn,
        _ value: String,
        foldsCase: Bool
    ) -> String {
        let found =
            switch inside {
            case .json(let path):
                search(path, column, for: sought(value, foldsCase)).isFound
            case .array: arrayHolds(column, value)
            case .list(let separator): listHolds(separator, "\(column)", value)
            case .text(let before, let after):
                textHolds(
                    Needle(before: before, after: after, foldsCase: foldsCase),
                    "\(column)",
                    value
                )
            }
        return "(\(found) AND coalesce(\(value) <> '', 1 = 0))"
    }

    private static func sought(_ value: String, _ foldsCase: Bool) -> JSONMatch {
        foldsCase ? .valueInAnyCase(value) : .value(value)
    }

    /// True where a value may well stand there, but is not found; `nil` where it cannot.
    static func holdsOtherwise(
        _ inside: InsideValue,
        _ column: SQLColumn,
        _ value: String,
        foldsCase: Bool
    ) -> String? {
        let name = "\(column)"
        let (texts, text) = foldsCase ? (lowered(name), lowered(value)) : (name, value)
        switch inside {
        case .json(let path):
            let terms = [
                isBroken(column, value, foldsCase: foldsCase),
                isHidden(path, column, for: sought(value, foldsCase)),
            ]
            let found = terms.compactMap(\.self)
            return found.isEmpty ? nil : "(\(found.joined(separator: " OR ")))"
        case .list(let separator):
            let end = foldsCase ? separator.lowercased() : separator
            return "(\(listHoldsLoosely(end, texts, text))"
                + " AND NOT \(listHolds(separator, name, value)))"
        case .text(let before, let after):
            let needle = Needle(before: before, after: after, foldsCase: foldsCase)
            return isGarbled(needle, name, value)
        case .array:
            guard foldsCase else { return nil }
            return "(\(arrayHoldsInAnyCase(column, value))"
                + " AND NOT \(arrayHolds(column, value)))"
        }
    }

    /// True where a place is passed over for the way its names are written; `nil` where none is.
    static func isHidden(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> String? {
        walk(path, column, for: match).map {
            "(\($0) AND NOT \(search(path, column, for: match).isFound))"
        }
    }

    /// The column with what is found there removed or replaced, of JSON the last place.
    static func changed(
        _ inside: InsideValue,
        _ column: SQLColumn,
        _ value: String,
        _ mask: ColumnMask,
        foldsCase: Bool
    ) -> String {
        let replacement: String? =
            switch mask.strategy {
            case .text(let text): text
            case .integer(let number): "\(number)"
            case .null, .remove, .hash, .random, .truncate: nil
            }
        switch inside {
        case .json(let path):
            let found = search(path, column, for: sought(value, foldsCase))
            return json(column, at: found.last(mask.path ?? path), mask.strategy)
        case .array: return array(column, without: value, replacement)
        case .list(let separator):
            return list(separator, "\(column)", without: value, replacement)
        case .text(let before, let after):
            let needle = Needle(before: before, after: after, foldsCase: foldsCase)
            return text(needle, "\(column)", without: value, replacement ?? "")
        }
    }

    /// How what stands at a path in JSON is masked, and how that is recognized; with arrays on the
    /// way one place after the other.
    static func masked(
        _ mask: ColumnMask,
        at path: JSONPath,
        _ column: SQLColumn
    ) -> (value: String, test: String) {
        let found = search(path, column, for: .unlike(mask.strategy))
        return (
            value: json(column, at: found.last(path), mask.strategy),
            test: "NOT \(found.isFound)"
        )
    }
}

/// What SQLite and MySQL share; case means nothing in the names of functions.
extension SQLDialect {
    static func alias(_ index: Int) -> String { "expunged_e\(index)" }

    static func isNoJSON(_ column: SQLColumn) -> String? {
        "(\(column) IS NOT NULL AND NOT json_valid(\(column)) AND trim(\(column)) <> '')"
    }

    /// A path, with the numbers of elements from the tables.
    static func place(_ steps: ArraySlice<JSONPath.Step>, number: String) -> String {
        var (text, count, parts) = ("$", 0, [String]())
        for step in steps {
            switch step {
            case .member(let name): text += ".\"\(name)\""
            case .elements:
                parts += [literal(text + "["), "\(alias(count)).\(number)"]
                (text, count) = ("]", count + 1)
            }
        }
        return "(\(joined(parts + [literal(text)])))"
    }

    static func changed(_ document: String, at place: String, _ change: MaskStrategy) -> String {
        switch change {
        case .null: "json_replace(\(document), \(place), NULL)"
        case .text(let text): "json_replace(\(document), \(place), \(literal(text)))"
        case .integer(let number): "json_replace(\(document), \(place), \(number))"
        case .remove, .hash, .random, .truncate: "json_remove(\(document), \(place))"
        }
    }
}
