/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Appends `bytes`, with everything but the unreserved characters (§2.3) encoded.
    package static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        append(Array(bytes), to: &text)
    }

    /// As above; most tokens and client secrets are unreserved as a whole, and copied at once.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        guard !bytes.allSatisfy(isUnreserved) else {
            text += bytes
            return
        }
        for byte in bytes {
            if isUnreserved(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// `text` with everything but the unreserved characters encoded.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes; `nil` for a broken escape, bytes that are not UTF-8, and other bytes than `isRaw`
    /// takes outside of escapes.
    package static func decode(
        _ text: some Collection<UInt8>,
        where isRaw: (UInt8) -> Bool
    ) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard isRaw(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                let low = rest.popFirst().flatMap(Hexadecimal.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A letter, a digit, `-`, `.`, `_` or `~`.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

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
