import Lifecycle

/// Values inside values, by the JSON functions of SQLite (sqlite.org/json1.html).
extension SQLiteDialect {
    static func userText(_ type: IDType) -> String {
        type == .integer ? "CAST(\(user) AS TEXT)" : user
    }

    static func lowered(_ text: String) -> String { "lower(CAST(\(text) AS TEXT))" }

    static func problem(of inside: InsideValue, _ column: ColumnShape, _ type: IDType) -> String? {
        switch inside {
        case .array: "is no array; use inside = \"json\" with path = \"$[*]\""
        case .json, .list, .text: nil
        }
    }

    // MARK: JSON

    /// Only what is JSON: its functions refuse everything else with an error.
    private static func document(_ column: SQLColumn) -> String {
        "iif(json_valid(\(column)), \(column), 'null')"
    }

    static func search(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> JSONSearch {
        let document = document(column)
        var tables: [String] = []
        for (index, step) in path.steps.enumerated() where step == .elements {
            let array = place(path.steps.prefix(index), number: "key")
            tables.append(
                "json_each(iif(json_type(\(document), \(array)) = 'array',"
                    + " json_extract(\(document), \(array)), '[]')) AS \(alias(tables.count))"
            )
        }
        let place = place(path.steps[...], number: "key")
        let (type, value) = (
            "json_type(\(document), \(place))", "json_extract(\(document), \(place))"
        )
        // Two places give JSON, with all digits of a number that SQLite has no integer for.
        let twice = "json_extract(\(document), \(place), \(place))"
        return JSONSearch(
            tables: tables,
            condition: condition(type, value, match) {
                "\(twice) = ('[' || \($0) || ',' || \($0) || ']') COLLATE BINARY"
            },
            order: tables.indices.map { "\(alias($0)).key DESC" }.joined(separator: ", "),
            place: { self.place($0.steps[...], number: "key") }
        )
    }

    /// Member by member: `json_each` reads the escapes of names, and has each of those that are
    /// equal, where a path takes the first (sqlite.org/json1.html, 4.4).
    static func walk(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> String? {
        let document = document(column)
        var (value, type) = (document, "json_type(\(document))")
        var (tables, conditions) = ([String](), [String]())
        for (index, step) in path.steps.enumerated() {
            let name = "expunged_w\(index)"
            let (kind, none) =
                switch step {
                case .member: ("object", "{}")
                case .elements: ("array", "[]")
                }
            tables.append("json_each(iif(\(type) = '\(kind)', \(value), '\(none)')) AS \(name)")
            if case .member(let member) = step {
                conditions.append("\(name).key = \(literal(member)) COLLATE BINARY")
            }
            (value, type) = ("\(name).value", "\(name).type")
        }
        let found = condition(type, value, match) {
            "\(value) = CAST(\($0) AS REAL) AND instr(\(document), \($0)) > 0"
        }
        conditions.append("(\(found))")
        return "EXISTS (SELECT 1 FROM \(tables.joined(separator: ", "))"
            + " WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// `digits` is true where a number that SQLite has no integer for is a text.
    private static func condition(
        _ type: String,
        _ value: String,
        _ match: JSONMatch,
        digits: (String) -> String
    ) -> String {
        switch match {
        case .valueInAnyCase(let text):
            return "CASE \(type) WHEN 'text'"
                + " THEN \(lowered(value)) = \(lowered(text)) COLLATE BINARY"
                + " ELSE \(condition(type, value, .value(text), digits: digits)) END"
        case .value(let text):
            return "CASE \(type) WHEN 'text' THEN \(value) = \(text) COLLATE BINARY"
                + " WHEN 'integer' THEN CASE WHEN typeof(\(value)) = 'real'"
                + " THEN \(digits(text))"
                + " ELSE CAST(\(value) AS TEXT) = \(text) COLLATE BINARY END"
                + " WHEN 'real' THEN CAST(CAST(\(value) AS INTEGER) AS TEXT) = \(text)"
                + " COLLATE BINARY AND CAST(\(value) AS INTEGER) = \(value) ELSE 0 END"
        case .unlike(.text(let text)):
            return "(\(type) <> 'text' OR \(value) <> \(literal(text)))"
        case .unlike(.integer(let number)):
            return "(\(type) <> 'integer' OR \(value) <> \(number))"
        case .unlike(.null): return "\(type) <> 'null'"
        case .unlike: return "\(type) IS NOT NULL"
        }
    }

    static func json(_ column: SQLColumn, at place: String, _ change: MaskStrategy) -> String {
        let document = document(column)
        let changed = changed(document, at: place, change)
        // There may be no such place, or no JSON at all.
        let kept = kept(changed, as: "\(column)")
        return "iif(json_valid(\(column)), coalesce(\(kept), \(column)), \(column))"
    }

    /// A text that was stored as bytes stays so.
    private static func kept(_ text: String, as column: String) -> String {
        "iif(typeof(\(column)) = 'blob', CAST(\(text) AS BLOB), \(text))"
    }

    static func isBroken(_ column: SQLColumn, _ value: String, foldsCase: Bool) -> String? {
        let fold = { (text: String) in foldsCase ? lowered(text) : text }
        let text = "CAST(\(column) AS TEXT)"
        return "(\(column) IS NOT NULL AND NOT json_valid(\(column))"
            + " AND coalesce(instr(\(fold(text)), \(fold(value))) > 0 OR (instr(\(text), '\\') > 0"
            + " AND instr(\(fold("\(Function.unescaped)(\(text))")), \(fold(value))) > 0), 0))"
    }

    // MARK: Lists

    private static func wrapped(_ column: String, _ separator: String) -> String {
        let end = literal(separator)
        return "\(end) || CAST(\(column) AS TEXT) || \(end)"
    }

    /// `length` counts to the first NUL only, so a list with one cannot be changed.
    private static func hasNUL(_ column: String) -> String {
        "instr(CAST(\(column) AS TEXT), char(0)) > 0"
    }

    static func listHolds(_ separator: String, _ column: String, _ value: String) -> String {
        let end = literal(separator)
        return "coalesce(instr(\(wrapped(column, separator)), \(end) || \(value) || \(end)) > 0"
            + " AND instr(\(value), \(end)) = 0 AND NOT (\(hasNUL(column))), 0)"
    }

    static func listHoldsLoosely(_ separator: String, _ column: String, _ value: String) -> String {
        let end = literal(separator.replacing(" ", with: ""))
        let (list, element) = (
            "replace(CAST(\(column) AS TEXT), ' ', '')", "replace(\(value), ' ', '')"
        )
        return "coalesce(instr(\(end) || \(list) || \(end), \(end) || \(element) || \(end)) > 0"
            + " OR (\(hasNUL(column)) AND \(value) <> ''"
            + " AND instr(CAST(\(column) AS TEXT), \(value)) > 0), 0)"
    }

    /// Each element gets separators of its own, so that two that follow each other are both found.
    static func list(
        _ separator: String,
        _ column: String,
        without value: String,
        _ replacement: String?
    ) -> String {
        let (end, twice) = (literal(separator), literal(separator + separator))
        let rest = replacement.map { literal(separator + $0 + separator) } ?? "''"
        let list = "\(end) || replace(CAST(\(column) AS TEXT), \(end), \(twice)) || \(end)"
        let left = "replace(\(list), \(end) || \(value) || \(end), \(rest))"
        let elements = "replace(\(left), \(twice), \(end))"
        let size = separator.unicodeScalars.count
        return kept(
            "substr(\(elements), \(size + 1), max(length(\(elements)) - \(2 * size), 0))",
            as: column
        )
    }

    // MARK: Texts

    private static func call(
        _ needle: Needle,
        _ column: String,
        _ value: String,
        _ replacement: String,
        inGarbled: Bool = false
    ) -> String {
        let text = "\(literal(needle.before)) || \(value) || \(literal(needle.after))"
        let flags = [needle.beginsWord, needle.endsWord, inGarbled, needle.foldsCase]
        let bounds = flags.reversed().reduce(0) { $0 * 2 + ($1 ? 1 : 0) }
        return "\(Function.mention)(\(column), \(text), \(literal(replacement)), \(bounds))"
    }

    static func textHolds(_ needle: Needle, _ column: String, _ value: String) -> String {
        "(\(call(needle, column, value, "")) IS NOT NULL)"
    }

    static func isGarbled(_ needle: Needle, _ column: String, _ value: String) -> String? {
        "(\(call(needle, column, value, "", inGarbled: true)) IS NOT NULL)"
    }

    static func text(
        _ needle: Needle,
        _ column: String,
        without value: String,
        _ replacement: String
    ) -> String { "coalesce(\(call(needle, column, value, replacement)), \(column))" }
}
