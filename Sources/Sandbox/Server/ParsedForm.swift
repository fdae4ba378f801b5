import Encoding

/// An `application/x-www-form-urlencoded` body, taken apart (WHATWG URL Standard §5.1).
struct ParsedForm: Sendable {
    private var fields: [String: String] = [:]
    /// Whether a name came twice, which OAuth forbids (RFC 6749 §3.2).
    private(set) var hasDuplicates = false

    init(_ bytes: some Collection<UInt8>) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = Self.decoded(pair.dropFirst(name.count + 1))
            if fields.updateValue(value, forKey: Self.decoded(name)) != nil { hasDuplicates = true }
        }
    }

    /// `nil` when the field is missing or empty.
    subscript(_ name: String) -> String? {
        guard let value = fields[name], !value.isEmpty else { return nil }
        return value
    }

    func isEmpty(_ name: String) -> Bool { fields[name]?.isEmpty ?? false }

    func merging(_ other: ParsedForm) -> ParsedForm {
        var merged = self
        merged.fields.merge(other.fields) { $0.isEmpty ? $1 : $0 }
        return merged
    }

    func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }

    var pairs: [(String, String)] { fields.map { ($0.key, $0.value) } }

    /// Form-encoded text in the clear; as it is where an escape is broken.
    static func decoded(_ text: some Collection<UInt8>) -> String {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(spaced, where: { _ in true })
            ?? String(decoding: spaced, as: UTF8.self)
    }

    static func decoded(_ part: String) -> String { decoded(part.utf8) }
}

/// `Authorization: Basic` (RFC 7617).
struct BasicCredentials: Sendable {
    let name: String
    let password: String

    init?(_ header: String?) {
        guard let header, header.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(header.utf8.dropFirst(6))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { return nil }
        name = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}
