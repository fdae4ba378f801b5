/// A value that is stored, and travels, as one string.
package protocol TextCodable: Codable, LosslessStringConvertible {}

extension TextCodable {
    /// Reads the string.
    ///
    /// - Throws: `DecodingError` when it is none, or has another form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "no \(Self.self)"
            )
        }
        self = value
    }

    /// Writes ``description``; throws whatever the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
