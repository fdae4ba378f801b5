import Lifecycle
import Settings

/// Documents that hold the user id in a field, such as `posts where author_id == {user_id}`.
struct FieldQuery: Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether it means every collection of that name, wherever it is.
    let isGroup: Bool
    /// The document that the collection is below; empty for one at the root.
    let parent: [String]
    let collection: String
    let field: String

    /// Reads a query.
    init(_ text: String, isGroup: Bool) throws(MalformedTemplate) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 5, words[1] == "where", !words[2].isEmpty, words[3] == "==",
            words[4] == "{user_id}"
        else {
            throw MalformedTemplate(
                text: text,
                requirement: "read like 'posts where author_id == {user_id}'"
            )
        }
        let names = words[0].split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        guard names.allSatisfy(PathRules.firestore.accepts),
            !names.count.isMultiple(of: 2), !isGroup || names.count == 1,
            !words[0].contains("{user_id}"), !words[2].contains("{user_id}")
        else {
            throw MalformedTemplate(
                text: text,
                requirement: isGroup
                    ? "begin with the name of a collection" : "begin with the path of a collection"
            )
        }
        description = isGroup ? "any " + text : text
        self.isGroup = isGroup
        parent = Array(names.dropLast())
        collection = names[names.count - 1]
        field = words[2]
    }
}

extension PathRules {
    /// Collections and documents in turn
    /// (firebase.google.com/docs/firestore/quotas, "Collections, documents, and fields").
    static let firestore = PathRules(
        allows: { name in
            let isReserved = name.utf8.count >= 4 && name.hasPrefix("__") && name.hasSuffix("__")
            return name.utf8.count <= 1500 && name != "." && name != ".." && !isReserved
        },
        unmet: { names in
            names.count.isMultiple(of: 2)
                ? nil : "lead to a document: collection, document, and so on"
        }
    )
}

/// The names that lead to a field of a document (google.firestore.v1, `Document.fields`): simple
/// ones of letters, digits and `_`, or ones in backticks, where a backslash escapes, with dots
/// between.
struct FieldPath {
    /// "Maximum depth of fields in a map or array"
    /// (firebase.google.com/docs/firestore/quotas).
    static let namesMax = 20

    let names: [String]

    /// `nil` for a text that is no path, or a longer one.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        var names: [String] = []
        while true {
            guard let name = Self.name(&rest) else { return nil }
            names.append(name)
            guard let dot = rest.popFirst() else { break }
            guard dot == UInt8(ascii: ".") else { return nil }
        }
        guard names.count <= Self.namesMax else { return nil }
        self.names = names
    }

    private static func name(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: "`") else {
            let simple = rest.prefix {
                TextRule.isLower($0) || TextRule.isUpper($0) || TextRule.isDigit($0)
                    || $0 == UInt8(ascii: "_")
            }
            guard let first = simple.first, !TextRule.isDigit(first) else { return nil }
            rest = rest.dropFirst(simple.count)
            return String(decoding: simple, as: UTF8.self)
        }
        rest.removeFirst()
        var quoted: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "`"):
                return quoted.isEmpty ? nil : String(decoding: quoted, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                quoted.append(escaped)
            default: quoted.append(byte)
            }
        }
        return nil
    }
}
