import Lifecycle

/// Values inside values, by the JSON functions and regular expressions that MySQL and MariaDB share
/// (MySQL 8.0, 12.8 and 12.17; MariaDB, "JSON Functions" and "PCRE").
extension MySQLDialect {
    static func userText(_ type: IDType) -> String { text(user) }

    static func lowered(_ text: String) -> String { "LOWER(CONVERT(\(text) USING utf8mb4))" }

    static func problem(of inside: InsideValue, _ column: ColumnShape, _ type: IDType) -> String? {
        switch inside {
        case .array: "is no array; use inside = \"json\" with path = \"$[*]\""
        case .json where column.type != "json" && !column.holdsText,
            .list where !column.holdsText || column.type == "json",
            .text where !column.holdsText || column.type == "json":
            "\(column.typeText), which holds no such value"
        case .json, .list, .text: nil
        }
    }

    // MARK: JSON

    /// Only what is JSON: its functions refuse everything else with an error.
    private static func document(_ column: SQLColumn) -> String {
        "IF(JSON_VALID(\(column)), \(column), '{}')"
    }

    private static let number = "i - 1"

    static func search(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> JSONSearch {
        let document = document(column)
        var tables: [String] = []
        for (index, step) in path.steps.enumerated() where step == .elements {
            let place = place(path.steps.prefix(index), number: number)
            let found = "JSON_EXTRACT(\(document), \(place))"
            tables.append(
                "JSON_TABLE(IF(JSON_TYPE(\(found)) = 'ARRAY', \(found), '[]'), '$[*]'"
                    + " COLUMNS (i FOR ORDINALITY)) AS \(alias(tables.count))"
            )
        }
        let found = "JSON_EXTRACT(\(document), \(place(path.steps[...], number: number)))"
        return JSONSearch(
            tables: tables,
            condition: condition(found, match),
            order: tables.indices.map { "\(alias($0)).i DESC" }.joined(separator: ", "),
            place: { self.place($0.steps[...], number: number) }
        )
    }

    /// Member by member: `JSON_TABLE` has each of the names that are equal, a path the first.
    ///
    /// MariaDB compares names as they are written, so one with an escape may be any; MySQL's
    /// own type for JSON keeps neither.
    static func walk(_ path: JSONPath, _ column: SQLColumn, for match: JSONMatch) -> String? {
        guard column.shape?.type != "json" else { return nil }
        let document = document(column)
        let isEscaped = "COALESCE(\(column) REGEXP \(literal(escapedName)), TRUE)"
        return "(\(chain(path, document, match, byName: true)) OR (\(isEscaped)"
            + " AND \(chain(path, document, match, byName: false)))"
            + " OR \(isLost(path, column, match)))"
    }

    /// MySQL reads a text by the last of the names that are equal: a text that has a name more
    /// often than what was read of it may hold anything there.
    private static func isLost(
        _ path: JSONPath,
        _ column: SQLColumn,
        _ match: JSONMatch
    ) -> String {
        let (name, text) = ("\(column)", exact("\(column)"))
        let names = path.steps.compactMap { step -> String? in
            guard case .member(let name) = step else { return nil }
            let pattern = literal("(?-i)\"\\Q\(name)\\E\"(?=\\s*:)")
            let rest = "REGEXP_REPLACE(\(text), \(pattern), \(literal("")))"
            let count = "(OCTET_LENGTH(\(text)) - OCTET_LENGTH(\(rest))) / \(name.utf8.count + 2)"
            let found = "JSON_EXTRACT(\(document(column)), \(literal("$**.\"\(name)\"")))"
            return "\(count) > COALESCE(JSON_LENGTH(\(found)), 0)"
        }
        guard !names.isEmpty else { return "FALSE" }
        let isLost = "JSON_VALID(\(column)) AND (\(names.joined(separator: " OR ")))"
        let holds =
            switch match {
            case .unlike: "TRUE"
            case .value(let value): "LOCATE(\(bytes(value)), \(bytes(name))) > 0"
            case .valueInAnyCase(let value):
                "LOCATE(\(bytes(lowered(value))), \(bytes(lowered(name)))) > 0"
            }
        return "COALESCE(\(isLost) AND \(holds), FALSE)"
    }

    /// A name with a backslash in it: outside of texts there is none.
    private static let escapedName = #""[^"\\]*+(?:\\.[^"\\]*+)++"\s*+:"#

    private static func chain(
        _ path: JSONPath,
        _ document: String,
        _ match: JSONMatch,
        byName: Bool
    ) -> String {
        var (value, tables) = (document, [String]())
        for (index, step) in path.steps.enumerated() {
            let (kind, none, next) =
                switch step {
                case .elements: ("ARRAY", "[]", "$[*]")
                case .member where !byName: ("OBJECT", "{}", "$.*")
                case .member(let name):
                    ("OBJECT", "{}", "$.\"\(name.replacing("'", with: "''"))\"")
                }
            tables.append(
                "JSON_TABLE(IF(JSON_TYPE(\(value)) = '\(kind)', \(value), '\(none)'), '\(next)'"
                    + " COLUMNS (v JSON PATH '$')) AS expunged_w\(index)"
            )
            value = "expunged_w\(index).v"
        }
        return "EXISTS (SELECT 1 FROM \(tables.joined(separator: ", "))"
            + " WHERE \(condition(value, match)))"
    }

    private static func condition(_ found: String, _ match: JSONMatch) -> String {
        let type = "JSON_TYPE(\(found))"
        let unquoted = bytes("JSON_UNQUOTE(\(found))")
        switch match {
        case .valueInAnyCase(let text):
            return "CASE \(type) WHEN 'STRING'"
                + " THEN \(bytes(lowered("JSON_UNQUOTE(\(found))"))) = \(bytes(lowered(text)))"
                + " ELSE \(condition(found, .value(text))) END"
        case .value(let text):
            let id = bytes(text)
            // 42.0 is 42.
            let whole =
                "TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM JSON_UNQUOTE(\(found))))"
            return "CASE WHEN \(type) IN ('STRING', 'INTEGER', 'UNSIGNED INTEGER')"
                + " THEN \(unquoted) = \(id) WHEN \(type) IN ('DOUBLE', 'DECIMAL')"
                + " THEN INSTR(JSON_UNQUOTE(\(found)), '.') > 0 AND \(bytes(whole)) = \(id)"
                + " ELSE FALSE END"
        case .unlike(.text(let text)):
            return "(\(type) <> 'STRING' OR \(unquoted) <> \(bytes(literal(text))))"
        case .unlike(.integer(let number)):
            return "(\(type) NOT IN ('INTEGER', 'UNSIGNED INTEGER')"
                + " OR JSON_UNQUOTE(\(found)) <> '\(number)')"
        case .unlike(.null): return "\(type) <> 'NULL'"
        case .unlike: return "\(found) IS NOT NULL"
        }
    }

    static func json(_ column: SQLColumn, at place: String, _ change: MaskStrategy) -> String {
        let document = document(column)
        let changed = changed(document, at: place, change)
        return "IF(JSON_VALID(\(column)), COALESCE(\(changed), \(column)), \(column))"
    }

    static func isBroken(_ column: SQLColumn, _ value: String, foldsCase: Bool) -> String? {
        let fold = { (text: String) in bytes(foldsCase ? lowered(text) : text) }
        let name = "\(column)"
        let hasEscape = "LOCATE(\(bytes(literal("\\"))), \(bytes(name))) > 0"
        return "(\(column) IS NOT NULL AND NOT JSON_VALID(\(column))"
            + " AND COALESCE(LOCATE(\(fold(value)), \(fold(name))) > 0 OR (\(hasEscape)"
            + " AND COALESCE(LOCATE(\(fold(value)), \(fold(unescaped(name)))) > 0,"
            + " \(value) IS NOT NULL)), FALSE))"
    }

    /// A text without the escapes of JSON, read as one JSON text: what would end that is written
    /// otherwise before, and what is no escape is left out.
    private static func unescaped(_ column: String) -> String {
        let quote = literal("\"")
        var text = "CONVERT(\(column) USING utf8mb4)"
        for (part, escape) in [
            (#"\\"#, #"\u005c"#), (#"\""#, #"\u0022"#), ("\"", #"\u0022"#),
        ] { text = "REPLACE(\(text), \(literal(part)), \(literal(escape)))" }
        for (pattern, other) in [
            (#"[\x00-\x1f]"#, " "), (#"\\(?!u[0-9a-fA-F]{4}|[bfnrt/])"#, ""),
            // Half of a pair.
            (#"(?i)\\ud[89ab]..(?!\\ud[c-f]..)"#, " "),
            (#"(?i)(?<!\\ud[89ab]..)\\ud[c-f].."#, " "),
        ] { text = "REGEXP_REPLACE(\(text), \(literal(pattern)), \(literal(other)))" }
        return "JSON_UNQUOTE(CONCAT(\(quote), \(text), \(quote)))"
    }

    // MARK: Lists

    private static func wrapped(_ text: String, _ end: String) -> String {
        "CONCAT(\(bytes(literal(end))), \(text), \(bytes(literal(end))))"
    }

    static func listHolds(_ separator: String, _ column: String, _ value: String) -> String {
        let (list, element) = (
            wrapped(bytes(column), separator), wrapped(bytes(value), separator)
        )
        return "COALESCE(LOCATE(\(element), \(list)) > 0"
            + " AND LOCATE(\(bytes(literal(separator))), \(bytes(value))) = 0, FALSE)"
    }

    /// Also a list to which the server adds no separator: beyond `max_allowed_packet` that is NULL.
    static func listHoldsLoosely(_ separator: String, _ column: String, _ value: String) -> String {
        let end = separator.replacing(" ", with: "")
        let plain = { (text: String) in
            "REPLACE(\(bytes(text)), \(bytes(literal(" "))), \(bytes(literal(""))))"
        }
        return "COALESCE(LOCATE(\(wrapped(plain(value), end)), \(wrapped(plain(column), end))) > 0,"
            + " LOCATE(\(bytes(value)), \(bytes(column))) > 0, FALSE)"
    }

    /// Each element gets separators of its own, so that two that follow each other are both found.
    static func list(
        _ separator: String,
        _ column: String,
        without value: String,
        _ replacement: String?
    ) -> String {
        let (end, twice) = (bytes(literal(separator)), bytes(literal(separator + separator)))
        let rest = bytes(literal(replacement.map { separator + $0 + separator } ?? ""))
        let list = wrapped("REPLACE(\(bytes(column)), \(end), \(twice))", separator)
        let left = "REPLACE(\(list), \(wrapped(bytes(value), separator)), \(rest))"
        let kept = "REPLACE(\(left), \(twice), \(end))"
        let size = separator.utf8.count
        return "CONVERT(SUBSTR(\(kept), \(size + 1),"
            + " GREATEST(OCTET_LENGTH(\(kept)) - \(2 * size), 0)) USING utf8mb4)"
    }

    // MARK: Texts

    private static let word =
        "["
        + Mentions.words.map {
            "\\x{\(String($0.lowerBound, radix: 16))}-\\x{\(String($0.upperBound, radix: 16))}"
        }.joined() + "]"

    /// A regular expression; the value stands between `\Q` and `\E`.
    private static func pattern(_ needle: Needle, _ value: String) -> String {
        let quoted = { (text: String) in
            "REPLACE(\(text), \(literal("\\E")), \(literal("\\E\\\\E\\Q")))"
        }
        let option = needle.foldsCase ? "(?i)" : "(?-i)"
        let begin = option + (needle.beginsWord ? "(?<!\(word))" : "") + "\\Q"
        let end = "\\E" + (needle.endsWord ? "(?!\(word)|[.-]\(word))" : "")
        let text = joined([literal(needle.before), value, literal(needle.after)])
        return joined([literal(begin), quoted(text), literal(end)])
    }

    private static func exact(_ column: String) -> String {
        "CONVERT(\(column) USING utf8mb4) COLLATE utf8mb4_bin"
    }

    static func textHolds(_ needle: Needle, _ column: String, _ value: String) -> String {
        "COALESCE(\(exact(column)) REGEXP \(pattern(needle, value)), FALSE)"
    }

    static func text(
        _ needle: Needle,
        _ column: String,
        without value: String,
        _ replacement: String
    ) -> String {
        // Both servers read `\1` there, and one of them `$1`.
        let kept = literal(replacement.replacing("\\", with: "\\\\").replacing("$", with: "\\$"))
        return "REGEXP_REPLACE(\(exact(column)), \(pattern(needle, value)), \(kept))"
    }
}
