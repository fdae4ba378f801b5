/// How a column holds the ids of users inside its values, of which each may hold several.
package enum InsideValue: Hashable, Sendable {
    /// JSON, with an id at this path.
    case json(JSONPath)
    /// An array of PostgreSQL, of which an element is the id.
    case array
    /// A text of elements between separators, such as `7,42`.
    case list(separator: String)
    /// A text in which the id stands between two others, such as `@` and nothing.
    case text(before: String, after: String)

    /// The values of `inside`.
    package enum Name: String, Sendable, CaseIterable {
        case json, array, list, text
    }

    /// Where in a value the id stands.
    var place: String {
        switch self {
        case .json(let path): "at \(path.text)"
        case .array: "as an element"
        case .list(let separator): "between '\(separator)'"
        case .text(let before, let after): "as '\(before)…\(after)'"
        }
    }
}

/// A place in JSON, such as `$.editors[*].id`: members by name, and all elements of an array.
package struct JSONPath: Hashable, Sendable {
    /// One step of the way.
    package enum Step: Hashable, Sendable {
        case member(String)
        case elements
    }

    /// Arrays in a path; each is a loop of the search.
    package static let arraysMax = 3

    package let steps: [Step]
    /// As it was written.
    package let text: String

    /// Reads a path; `nil` for one that names no place below the root, or that has anything else.
    ///
    /// A name with other characters than letters, digits, `_` and `-` stands in `"`.
    package init?(_ text: String) {
        guard text.hasPrefix("$"), text.unicodeScalars.allSatisfy({ $0.value >= 32 }) else {
            return nil
        }
        var steps: [Step] = []
        var rest = text.dropFirst()
        while !rest.isEmpty {
            if rest.hasPrefix("[*]") {
                steps.append(.elements)
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix(".\"") {
                rest = rest.dropFirst(2)
                let name = rest.prefix { $0 != "\"" }
                rest = rest.dropFirst(name.count)
                guard !name.isEmpty, !name.contains("\\"), !rest.isEmpty else { return nil }
                steps.append(.member(String(name)))
                rest = rest.dropFirst()
            } else {
                guard rest.hasPrefix(".") else { return nil }
                rest = rest.dropFirst()
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
                guard !name.isEmpty else { return nil }
                steps.append(.member(String(name)))
                rest = rest.dropFirst(name.count)
            }
        }
        let arrayCount = steps.count(where: { $0 == .elements })
        guard !steps.isEmpty, arrayCount <= Self.arraysMax else { return nil }
        (self.steps, self.text) = (steps, text)
    }

    /// Whether this is the other path, or leads to it.
    func leads(to other: JSONPath) -> Bool { other.steps.starts(with: steps) }

    var hasArrays: Bool { steps.contains(.elements) }

    /// The object of which a plainly written path names a member; `nil` for the root.
    var parent: JSONPath? {
        guard case .member(let name)? = steps.last, text.hasSuffix("." + name) else { return nil }
        return JSONPath(String(text.dropLast(name.count + 1)))
    }
}

/// How a text names a user, such as `@{users.name}`.
struct InsidePattern: Hashable {
    let before: String
    let after: String
    /// The column of the value; `nil` for the user id.
    let column: ParentColumn?

    /// Reads a pattern; `nil` unless it has one place for a value.
    init?(_ text: String) {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}")
        else { return nil }
        let name = String(text[text.index(after: open)..<close])
        let rest = text[text.index(after: close)...]
        guard !rest.contains(where: { "{}".contains($0) }) else { return nil }
        (before, after) = (String(text[..<open]), String(rest))
        guard name != "user" else {
            column = nil
            return
        }
        guard let found = ParentColumn(name) else { return nil }
        column = found
    }
}

/// What is looked for in JSON, at a path.
enum JSONMatch {
    /// A text or number that is written like this value, in SQL.
    case value(String)
    /// The same, or a text that differs from it by the case.
    case valueInAnyCase(String)
    /// Anything that a mask has to change.
    case unlike(MaskStrategy)
}

/// How a dialect finds places in JSON.
struct JSONSearch {
    /// The arrays on the way, as tables of their elements; none where there are none.
    let tables: [String]
    /// True where the place is one of those wanted; may be NULL.
    let condition: String
    /// The last places first.
    let order: String
    /// A place on the way, as the functions that change JSON take it.
    let place: (JSONPath) -> String

    /// True where there is such a place, never NULL.
    var isFound: String {
        tables.isEmpty
            ? "coalesce(\(condition), 1 = 0)"
            : "EXISTS (SELECT 1 FROM \(tables.joined(separator: ", ")) WHERE \(condition))"
    }

    /// The last such place.
    func last(_ path: JSONPath) -> String {
        tables.isEmpty
            ? place(path)
            : "(SELECT \(place(path)) FROM \(tables.joined(separator: ", ")) WHERE \(condition)"
                + " ORDER BY \(order) LIMIT 1)"
    }
}
