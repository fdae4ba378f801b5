package import Lifecycle

/// Times are RFC 3339 in UTC with milliseconds.
extension WallTime: Codable {
    /// Reads an RFC 3339 time.
    ///
    /// - Parameter decoder: Positioned at the string.
    /// - Throws: `DecodingError` when it is no such time.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = WallTime(rfc3339: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "no RFC 3339 time"
            )
        }
        self = time
    }

    /// Writes an RFC 3339 time.
    ///
    /// - Parameter encoder: Positioned at the value.
    /// - Throws: Whatever the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rfc3339)
    }
}
