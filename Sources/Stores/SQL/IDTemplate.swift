internal import Lifecycle

/// How a user id is made of the values of several columns, such as `{tenant_id}:{user_id}`.
package struct IDTemplate: Hashable, Sendable {
    /// One column and the type of its part.
    package struct Part: Hashable, Sendable {
        package let column: String
        /// `nil` for the type that the rule has for its column, or text.
        package let idType: IDType?
    }

    /// Columns besides the first; statements have a parameter for each.
    package static let partsMax = 4

    package let parts: [Part]
    /// What stands before the first part, between two, and behind the last.
    let texts: [String]

    /// Reads a template; `nil` when columns do not alternate with texts, or one comes twice.
    package init?(_ text: String) {
        var (parts, texts): ([Part], [String]) = ([], [])
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            texts.append(String(rest[..<open]))
            let words = rest[rest.index(after: open)..<close].split(
                separator: ":",
                omittingEmptySubsequences: false
            )
            guard let column = words.first, !column.isEmpty, words.count <= 2 else { return nil }
            let type = words.count == 2 ? IDType(rawValue: String(words[1])) : nil
            guard words.count == 1 || type != nil else { return nil }
            parts.append(Part(column: String(column), idType: type))
            rest = rest[rest.index(after: close)...]
        }
        texts.append(String(rest))
        guard (2...Self.partsMax).contains(parts.count), !text.contains("}{"),
            Set(parts.map { $0.column.lowercased() }).count == parts.count
        else { return nil }
        (self.parts, self.texts) = (parts, texts)
    }

    /// The same of columns with other names, by these in lower case; `nil` where one is missing or
    /// comes twice.
    func renamed(_ names: [String: String]) -> IDTemplate? {
        var text = texts[0]
        for (part, next) in zip(parts, texts.dropFirst()) {
            guard let name = names[part.column.lowercased()] else { return nil }
            text += "{\(name)\(part.idType.map { ":\($0.rawValue)" } ?? "")}" + next
        }
        return IDTemplate(text)
    }

    /// What all of its ids have, whatever the columns hold.
    var marks: String { texts.joined() }

    /// The parts of an id; `nil` for one that is made otherwise, or could be parted in two ways.
    func split(_ user: UserID) -> [UserID]? {
        var rest = user.exposeText()[...]
        guard let start = texts.first, let end = texts.last, rest.hasPrefix(start),
            rest.dropFirst(start.count).hasSuffix(end)
        else { return nil }
        rest = rest.dropFirst(start.count).dropLast(end.count)
        var values: [String] = []
        let separators = texts.dropFirst().dropLast()
        for separator in separators {
            guard let place = rest.firstRange(of: separator) else { return nil }
            values.append(String(rest[..<place.lowerBound]))
            rest = rest[place.upperBound...]
        }
        values.append(String(rest))
        let isClear = values.allSatisfy { value in !separators.contains { value.contains($0) } }
        let ids = values.compactMap { UserID($0) }
        return isClear && ids.count == parts.count ? ids : nil
    }
}
