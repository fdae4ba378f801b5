/// Which table a column, or a value that names a type, is about, by names alone.
struct TableNames: Sendable {
    /// By canonical name in the singular.
    private let tables: [String: String]
    /// Tables with names of one word, by these.
    private let words: [String: String]
    /// What most tables begin with, such as `wp_`.
    let prefix: String

    init(_ schema: SQLSchema) {
        let own = schema.tables.filter { $0.isOwn && $0.problem == nil }.map(\.name)
        prefix = Self.prefix(of: own)
        var tables: [String: String] = [:]
        // Django names a table after the application and the model.
        let isDjango = own.contains { Self.bare($0, "") == "django_content_type" }
        let texts: [(String) -> String] = [
            { Self.bare($0, "") }, { [prefix] in Self.bare($0, prefix) },
            { isDjango ? Self.model($0) : $0 },
        ]
        for text in texts {
            for name in own {
                for spelling in Self.singulars(PersonalNames.canonical(text(name))) {
                    tables[spelling] = tables[spelling] ?? name
                }
            }
        }
        self.tables = tables
        let plain = own.map { [prefix] in (Self.bare($0, prefix), $0) }
        words = Dictionary(
            plain.filter { !$0.0.contains("_") }.map { (PersonalNames.canonical($0.0), $0.1) }
        ) { first, _ in first }
    }

    /// A table's name without its schema and the common prefix.
    func bare(_ table: String) -> String { Self.bare(table, prefix) }

    /// The table that a column such as `post_id` refers to; `nil` for a name that says nothing.
    ///
    /// The name of the column's own table may stand before it, as in `comment_post_id`.
    func table(of column: String, in table: String) -> String? {
        let name = PersonalNames.canonical(column)
        let own = Self.singulars(PersonalNames.canonical(bare(table))).filter { start in
            name.hasPrefix(start) && name != start + "id"
        }
        let spellings = [name] + own.map { String(name.dropFirst($0.count)) }
        for spelling in spellings {
            for end in ["uuid", "pk", "id"] where spelling.hasSuffix(end) && spelling != end {
                let base = String(spelling.dropLast(end.count))
                if let table = tables[base] ?? abbreviated(base) { return table }
            }
        }
        return nil
    }

    /// The only table with one word for a name that begins so: `repository` for `repo`.
    private func abbreviated(_ base: String) -> String? {
        guard base.utf8.count >= 4 else { return nil }
        let found = words.filter { $0.key.hasPrefix(base) }
        return found.count == 1 ? found.first?.value : nil
    }

    /// The table that a value such as `User` or `App\Models\User` names.
    func table(named value: String) -> String? {
        let whole = PersonalNames.canonical(value)
        if let table = tables[whole] { return table }
        let last = value.split { "\\./:".contains($0) }.last.map(String.init) ?? value
        return Self.singulars(PersonalNames.canonical(last)).lazy.compactMap { tables[$0] }.first
    }

    /// The table of users, where a value such as `App\Models\User` can mean no other: its name ends
    /// so, as `auth_users` does, or the value is the usual word.
    func table(ofUsers table: String, named value: String) -> String? {
        let last = value.split { "\\./:".contains($0) }.last.map(String.init) ?? value
        let words = Self.singulars(PersonalNames.canonical(last)).filter { $0.utf8.count >= 4 }
        let own = Self.singulars(PersonalNames.canonical(bare(table)))
        let isUser = words.contains { word in
            word == "user" || own.contains { $0.hasSuffix(word) }
                || word == "person" && own.contains { $0.hasSuffix("people") }
        }
        return isUser ? table : nil
    }

    private static func bare(_ table: String, _ prefix: String) -> String {
        let name = table.split(separator: ".").last.map(String.init) ?? table
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }

    /// `page` of `wagtailcore_page`; of a longer name nobody can tell.
    private static func model(_ table: String) -> String {
        let parts = bare(table, "").split(separator: "_")
        return parts.count == 2 ? String(parts[1]) : table
    }

    /// Of most of three tables or more.
    private static func prefix(of names: [String]) -> String {
        let starts = names.compactMap { name -> String? in
            let last = name.split(separator: ".").last.map(String.init) ?? name
            return last.firstIndex(of: "_").map { String(last[...$0]) }
        }
        let counts = Dictionary(grouping: starts) { $0 }.mapValues(\.count)
        guard let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
            most.value >= 3, most.value * 2 > names.count
        else { return "" }
        return most.key
    }

    /// The name itself, and what it may be the plural of.
    static func singulars(_ name: String) -> [String] {
        var found = [name]
        if name.hasSuffix("ies") { found.append(name.dropLast(3) + "y") }
        if name.hasSuffix("es") { found.append(String(name.dropLast(2))) }
        if name.hasSuffix("s"), !name.hasSuffix("ss") { found.append(String(name.dropLast())) }
        return found
    }
}

extension PersonalNames {
    private static let workers: Set<String> = [
        "editor", "approver", "reviewer", "moderator", "assignee", "lasteditor", "actionuser",
        "resolver", "creator", "whodunnit", "modifier", "usermodified", "actinguser",
        "modifieduser", "lastpostuser",
    ]

    /// Whether a column of that name says who did something to a row that others may own.
    static func isAudit(_ column: String) -> Bool {
        let name = canonical(column)
        // The same user by another value, such as `creator_login` beside `creator_id`.
        let ends = ["", "id", "login", "username", "name"].filter { name.hasSuffix($0) }
        if ends.contains(where: { workers.contains(String(name.dropLast($0.count))) }) {
            return true
        }
        return !name.hasPrefix("ownedby")
            && ["by", "byid", "byuser", "byuserid", "byaccountid"].contains { end in
                name.hasSuffix(end) && name != end
            }
    }

    /// Whether rows with such a column, or of such a table, are what users write for others.
    static func isContent(_ column: String, of table: String) -> Bool {
        let writers = ["sender", "fromid", "from", "fromuser", "author", "poster"]
        let name = canonical(column)
        if writers.contains(where: { name.hasSuffix($0) || name.hasSuffix($0 + "id") }) {
            return true
        }
        return ["message", "post", "comment", "article", "topic", "thread", "page", "review"]
            .contains { table.hasSuffix($0) || table.hasSuffix($0 + "s") }
    }

    private static let measures = [
        "count", "number", "level", "status", "type", "age", "score", "order", "position", "rank",
        "state", "kind", "category", "group", "role", "parent", "root", "version", "sequence",
        "priority", "quantity", "amount", "size", "index", "code", "year", "external", "legacy",
        "object", "item",
    ]

    /// Whether a ``canonical(_:)`` name is one of a number that means no row, or a row of anything.
    static func isMeasure(_ name: String) -> Bool { measures.contains { name.hasSuffix($0) } }

    /// The words of a name in lower case: `assigned`, `agent` and `id` of `assignedAgentId`, or
    /// `modifier` and `id` of `modifierid`.
    static func words(_ name: String) -> [String] {
        let spaced = name.replacing(#/([a-z])([A-Z])/#) { "\($0.1)_\($0.2)" }
        let words = spaced.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard words.count == 1, let word = words.first, word.utf8.count > 4, word.hasSuffix("id"),
            !["paid", "valid", "grid"].contains(where: { word.hasSuffix($0) })
        else { return words }
        return [String(word.dropLast(2)), "id"]
    }

    /// Whether a column of that name may well hold a user id, by its own words or those of the user
    /// table.
    static func isReference(_ column: String, to user: SuggestionUser, bare: String) -> Bool {
        let name = canonical(column)
        return isNamed(column, after: user, bare)
            || !isMeasure(name) && owners.contains { name.contains($0) }
    }

    private static let owners = [
        "user", "owner", "author", "creator", "sender", "recipient", "member",
    ]

    /// Whether the last of ``words(_:)`` before the `id` is one for a person.
    static func isPerson(_ word: String) -> Bool {
        let others = [
            "admin", "agent", "buyer", "by", "contact", "donor", "driver", "employee", "friend",
            "from", "guest", "host", "invitee", "inviter", "manager", "operator", "participant",
            "patient", "payee", "payer", "person", "player", "referrer", "reporter", "seller",
            "student", "subscriber", "teacher", "to", "winner",
        ]
        return workers.contains(word) || (owners + others).contains(word)
    }

    /// Whether a column of that name holds a user id wherever it has values of that type.
    static func isNamed(_ column: String, after user: SuggestionUser, _ bare: String) -> Bool {
        let (name, table) = (canonical(column), canonical(bare))
        let singular = table.hasSuffix("s") ? String(table.dropLast()) : table
        return isUserID(name) || isAudit(column)
            || ["", "id", canonical(user.column)].contains { name == singular + $0 }
    }
}
