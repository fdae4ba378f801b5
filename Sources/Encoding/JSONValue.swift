/// Any JSON value (RFC 8259), with the members of objects in their order; an answer of a provider
/// holds tokens.
package enum JSONValue: Sendable, Hashable, Redacted {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One name and its value.
    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Reads `bytes`; `nil` when ``JSONReader`` refuses them.
    package init?(_ bytes: [UInt8]) {
        do { self = try JSONReader.read(bytes) } catch { return nil }
    }

    /// The member of an object; `nil` when there is none or this is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number, with or without a fraction; `nil` for anything else.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    package var compactText: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The value as indented text with a final newline, for people and for files.
    package var indentedText: String { indented(by: 0) + "\n" }

    private func indented(by depth: Int) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let items) where !items.isEmpty:
            let lines = items.map { inner + $0.indented(by: depth + 1) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + JSONValue.string(member.name).compactText + ": "
                    + member.value.indented(by: depth + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return compactText
        }
    }

    /// The one text of the value that does not depend on who writes it (RFC 8785, the JSON
    /// Canonicalization Scheme), where names are ASCII and numbers are integers.
    package var canonicalBytes: [UInt8] {
        var writer = JSONWriter()
        writer.value(sorted)
        return writer.bytes
    }

    private var sorted: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string: self
        case .array(let items): .array(items.map(\.sorted))
        case .object(let members):
            .object(
                members.map { Member($0.name, $0.value.sorted) }
                    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            )
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .string(text) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(arrayLiteral items: JSONValue...) { self = .array(items) }
    /// A member whose value is `nil` is left out.
    package init(dictionaryLiteral members: (String, JSONValue?)...) {
        self = .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    package init?(_ text: String?) {
        guard let text else { return nil }
        self = .string(text)
    }
}

extension [JSONValue.Member] {
    /// The value of the member with exactly this name, by its bytes (RFC 8259 §8.3); Swift's own
    /// comparison takes two ways to write an `é` for one.
    package subscript(name: String) -> JSONValue? {
        first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
