import Lifecycle

/// Values inside values, by `jsonb`, arrays and regular expressions (PostgreSQL 15, 9.7, 9.16).
extension PostgreSQLDialect {
    static func userText(_ type: IDType) -> String { "\(user)::text" }

    /// A subquery, so that its collation gives way to others.
    static func lowered(_ text: String) -> String {
        "(SELECT pg_catalog.lower((\(text))::text COLLATE pg_catalog.\"default\"))"
    }

    static func problem(of inside: InsideValue, _ column: ColumnShape, _ type: IDType) -> String? {
        switch inside {
        case .json where column.type != "json" && column.type != "jsonb":
            "\(column.typeText); inside = \"json\" is for json and jsonb"
        case .array where Self.elements[column.type] == nil:
            "\(column.typeText); inside = \"array\" is for arrays of integers, texts and UUIDs"
        case .array where Self.elements[column.type]?.idType != type:
            "\(column.typeText), which id_type \"\(type.rawValue)\" never matches"
        case .list where !column.holdsText, .text where !column.holdsText:
            "\(column.typeText) and holds no text"
        case .json, .array, .list, .text: nil
        }
    }

    // MARK: JSON

    static func search(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> JSONSearch {
        var (value, names, tables) = ("\(column)::jsonb", [String](), [String]())
        if column.shape?.type == "json" {
            value = "(CASE WHEN \(isUnreadable(column)) THEN NULL ELSE \(value) END)"
        }
        let inner = { (value: String, names: [String]) in
            let list = names.map { literal($0) }.joined(separator: ", ")
            return names.isEmpty ? value : "(\(value) #> ARRAY[\(list)])"
        }
        for step in path.steps {
            switch step {
            case .member(let name): names.append(name)
            case .elements:
                let array = inner(value, names)
                tables.append(
                    "jsonb_array_elements(CASE WHEN jsonb_typeof(\(array)) = 'array' THEN \(array)"
                        + " ELSE '[]'::jsonb END) WITH ORDINALITY AS \(alias(tables.count))(v, i)"
                )
                (value, names) = ("\(alias(tables.count - 1)).v", [])
            }
        }
        return JSONSearch(
            tables: tables,
            condition: condition(inner(value, names), match),
            order: tables.indices.map { "\(alias($0)).i DESC" }.joined(separator: ", "),
            place: { self.place($0) }
        )
    }

    /// Member by member, with all that are equal: `jsonb` has only the last of them.
    static func walk(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> String? {
        guard column.shape?.type == "json" else { return nil }
        var (value, tables, conditions) = (repaired(column), [String](), [String]())
        for (index, step) in path.steps.enumerated() {
            let name = "expunged_w\(index)"
            let (function, kind, none, columns) =
                switch step {
                case .member: ("json_each", "object", "{}", "k, v")
                case .elements: ("json_array_elements", "array", "[]", "v")
                }
            tables.append(
                "\(function)(CASE WHEN json_typeof(\(value)) = '\(kind)' THEN \(value)"
                    + " ELSE '\(none)'::json END) AS \(name)(\(columns))"
            )
            if case .member(let member) = step {
                conditions.append("\(name).k = \(literal(member))")
            }
            value = "\(name).v"
        }
        conditions.append("(\(condition("\(value)::jsonb", match)))")
        return "EXISTS (SELECT 1 FROM \(tables.joined(separator: ", "))"
            + " WHERE \(conditions.joined(separator: " AND ")))"
    }

    static func isNoJSON(_ column: SQLColumn) -> String? { nil }

    private static func place(_ path: JSONPath) -> String {
        var count = 0
        let steps = path.steps.map { step -> String in
            guard case .elements = step else {
                if case .member(let name) = step { return literal(name) }
                return "''"
            }
            defer { count += 1 }
            return "(\(alias(count)).i - 1)::text"
        }
        return "ARRAY[\(steps.joined(separator: ", "))]::text[]"
    }

    private static func condition(_ value: String, _ match: JSONMatch) -> String {
        switch match {
        case .valueInAnyCase(let text):
            return "CASE jsonb_typeof(\(value)) WHEN 'string'"
                + " THEN \(lowered("\(value) #>> '{}'")) = \(lowered(text))"
                + " ELSE \(condition(value, .value(text))) END"
        case .value(let text):
            // 42.0 is 42, however many zeros it has.
            let same = { (found: String) in "(\(found)) COLLATE pg_catalog.\"C\" = \(text)" }
            let number = "pg_catalog.trim_scale((\(value) #>> '{}')::numeric)::text"
            return "CASE jsonb_typeof(\(value)) WHEN 'string' THEN \(same("\(value) #>> '{}'"))"
                + " WHEN 'number' THEN \(same(number)) ELSE false END"
        case .unlike(.text(let text)): return "\(value) <> to_jsonb(\(literal(text))::text)"
        case .unlike(.integer(let number)): return "\(value) <> to_jsonb(\(number))"
        case .unlike(.null): return "\(value) <> 'null'::jsonb"
        case .unlike: return "\(value) IS NOT NULL"
        }
    }

    static func json(_ column: SQLColumn, at place: String, _ change: MaskStrategy) -> String {
        let set = { (value: String) in
            "jsonb_set(\(column)::jsonb, \(place), \(value), false)"
        }
        let changed =
            switch change {
            case .null: set("'null'::jsonb")
            case .text(let text): set("to_jsonb(\(literal(text))::text)")
            case .integer(let number): set("to_jsonb(\(number))")
            case .remove, .hash, .random, .truncate: "(\(column)::jsonb #- \(place))"
            }
        let done = "coalesce(\(changed)::\(column.shape?.type ?? "jsonb"), \(column))"
        guard column.shape?.type == "json" else { return done }
        return "CASE WHEN \(isUnreadable(column)) THEN \(column) ELSE \(done) END"
    }

    private static let nul = "\\u0000"
    private static let hugeNumber = "(^|[:,[[:space:]])-?[0-9]+([.][0-9]+)?[eE][+-]?[0-9]{5,}"
    /// Half of a pair.
    private static let surrogate =
        #"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"#
        + #"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"#

    /// `json` holds what `jsonb` refuses with an error: the character NUL, half characters, and
    /// huge exponents (PostgreSQL 15, 8.14.1).
    private static func isUnreadable(_ column: SQLColumn) -> String {
        let text = plain("\(column)::text")
        return "(strpos(\(text), \(literal(nul))) > 0 OR \(text) ~ \(literal(surrogate))"
            + " OR \(text) ~ \(literal(hugeNumber)))"
    }

    /// The same with other characters and numbers there, to search in.
    private static func repaired(_ column: SQLColumn) -> String {
        let other = literal(#"\ufffd"#)
        let text = "replace(\(plain("\(column)::text")), \(literal(nul)), \(other))"
        let whole =
            "regexp_replace(\(text), \(literal(surrogate)), \(literal(#"\\ufffd"#)), 'g')"
        let small =
            "regexp_replace(\(whole), \(literal(hugeNumber)), \(literal(#"\1 0"#)), 'g')"
        return "(CASE WHEN \(isUnreadable(column)) THEN \(small)::json ELSE \(column) END)"
    }

    /// With escapes it is found in what is repaired.
    static func isBroken(_ column: SQLColumn, _ value: String, foldsCase: Bool) -> String? {
        guard column.shape?.type == "json" else { return nil }
        let text = foldsCase ? lowered("\(column)::text") : "\(column)::text"
        let found = foldsCase ? lowered(value) : value
        let holds = "strpos(\(plain(text)), \(found)) > 0 AND \(value) <> ''"
        return "coalesce(\(isUnreadable(column)) AND \(holds), false)"
    }

    // MARK: Lists

    private static func plain(_ text: String) -> String {
        "(\(text)) COLLATE pg_catalog.\"C\""
    }

    /// Only the collation of the database knows the cases of all letters.
    private static func plain(_ text: String, _ needle: Needle) -> String {
        needle.foldsCase ? "(\(text)) COLLATE pg_catalog.\"default\"" : plain(text)
    }

    static func listHolds(_ separator: String, _ column: String, _ value: String) -> String {
        let end = literal(separator)
        return "coalesce(strpos(\(plain("\(end) || \(column)::text || \(end)")),"
            + " \(end) || \(value) || \(end)) > 0 AND strpos(\(plain(value)), \(end)) = 0, false)"
    }

    static func listHoldsLoosely(_ separator: String, _ column: String, _ value: String) -> String {
        let end = literal(separator.replacing(" ", with: ""))
        let (list, element) = (
            "replace(\(plain("\(column)::text")), ' ', '')", "replace(\(plain(value)), ' ', '')"
        )
        return "coalesce(strpos(\(plain("\(end) || \(list) || \(end)")),"
            + " \(end) || \(element) || \(end)) > 0, false)"
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
        let text = plain("\(column)::text")
        let list = "\(end) || replace(\(text), \(end), \(twice)) || \(end)"
        let left = "replace(\(plain(list)), \(end) || \(value) || \(end), \(rest))"
        let kept = "replace(\(left), \(twice), \(end))"
        let size = separator.unicodeScalars.count
        return "substr(\(kept), \(size + 1), greatest(char_length(\(kept)) - \(2 * size), 0))"
    }

    // MARK: Arrays

    /// By the name of an array's type: that of an element, its ids, and how they are compared.
    private static let elements: [String: (type: String, idType: IDType, list: String)] = [
        "_int2": ("int2", .integer, "int8"), "_int4": ("int4", .integer, "int8"),
        "_int8": ("int8", .integer, "int8"), "_text": ("text", .text, "text"),
        "_varchar": ("varchar", .text, "text"), "_uuid": ("uuid", .uuid, "uuid"),
    ]

    static func arrayHolds(_ column: SQLColumn, _ value: String) -> String {
        guard let element = Self.elements[column.shape?.type ?? ""] else { return "false" }
        let list = element.idType == .text ? plain("\(value)::text") : "\(value)::\(element.list)"
        return "coalesce(\(list) = ANY (\(column)::\(element.list)[]), false)"
    }

    static func arrayHoldsInAnyCase(_ column: SQLColumn, _ value: String) -> String {
        guard Self.elements[column.shape?.type ?? ""]?.idType == .text else { return "false" }
        return "EXISTS (SELECT 1 FROM unnest(\(column)::text[]) AS expunged_w0(v)"
            + " WHERE \(lowered("expunged_w0.v")) = \(lowered(value)))"
    }

    static func isNested(_ column: String) -> String? {
        "coalesce(array_ndims(\(column)) > 1, false)"
    }

    static func array(
        _ column: SQLColumn,
        without value: String,
        _ replacement: String?
    ) -> String {
        guard let element = Self.elements[column.shape?.type ?? ""] else { return "\(column)" }
        let list = "\(column)::\(element.list)[]"
        let one = "\(value)::\(element.list)"
        let kept =
            replacement.map {
                "array_replace(\(list), \(one), \(literal($0))::\(element.list))"
            } ?? "array_remove(\(list), \(one))"
        return "\(kept)::\(element.type)[]"
    }

    // MARK: Texts

    private static let word =
        "[" + Mentions.words.map { "\(escape($0.lowerBound))-\(escape($0.upperBound))" }.joined()
        + "]"

    private static func escape(_ scalar: UInt32) -> String {
        let digits = String(scalar, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// A regular expression; in the value every ASCII character but letters and digits is escaped.
    private static func pattern(_ needle: Needle, _ value: String) -> String {
        let text = "\(literal(needle.before)) || \(value) || \(literal(needle.after))"
        let escaped =
            "regexp_replace(\(plain(text, needle)), '([]!-/:-@[\\\\^_`{-~])', '\\\\\\1', 'g')"
        let begin = (needle.foldsCase ? "(?i)" : "") + (needle.beginsWord ? "(?<!\(word))" : "")
        let end = needle.endsWord ? "(?!\(word)|[.-]\(word))" : ""
        return "\(literal(begin)) || \(escaped) || \(literal(end))"
    }

    static func textHolds(_ needle: Needle, _ column: String, _ value: String) -> String {
        "coalesce(\(plain("\(column)::text", needle)) ~ (\(pattern(needle, value))), false)"
    }

    static func text(
        _ needle: Needle,
        _ column: String,
        without value: String,
        _ replacement: String
    ) -> String {
        let kept = literal(replacement.replacing("\\", with: "\\\\"))
        let text = plain("\(column)::text", needle)
        return "regexp_replace(\(text), \(pattern(needle, value)), \(kept), 'g')"
    }
}
