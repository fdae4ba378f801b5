/// A text of a known set, or one that a newer daemon sent and this program does not know.
package enum WireValue<Known>: Sendable, Hashable, Codable, CustomStringConvertible
where Known: RawRepresentable & Sendable & Hashable, Known.RawValue == String {
    case known(Known)
    case unknown(String)

    package init(_ rawValue: String) {
        self = Known(rawValue: rawValue).map(Self.known) ?? .unknown(rawValue)
    }

    /// Reads a string.
    ///
    /// - Parameter decoder: Positioned at the string.
    /// - Throws: `DecodingError` when it is no string.
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the string.
    ///
    /// - Parameter encoder: Positioned at the value.
    /// - Throws: Whatever the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// The known value, if it is one.
    package var known: Known? {
        switch self {
        case .known(let value): value
        case .unknown: nil
        }
    }

    package var description: String {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let text): text
        }
    }
}
