import Settings

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
