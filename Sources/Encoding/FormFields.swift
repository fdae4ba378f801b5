/// The fields of a body of type `application/x-www-form-urlencoded` (WHATWG URL §5.1).
package struct FormFields: Sendable {
    /// Providers send three.
    private static let countMax = 32

    private var fields: [String: String] = [:]

    /// Decodes; `nil` when a name occurs twice, a part is not UTF-8, or there are more than 32.
    package init?(_ body: [UInt8]) {
        let spaced = body.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        let parts = spaced.split(separator: UInt8(ascii: "&"))
        guard parts.count <= Self.countMax else { return nil }
        for part in parts {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part.dropFirst(name.count + 1)
            guard let name = PercentEncoding.decode(name, where: { _ in true }),
                let value = PercentEncoding.decode(value, where: { _ in true }),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// The value of a field; empty when it has none, `nil` without the field.
    package subscript(name: String) -> String? { fields[name] }
}
