package import FoundationEssentials

/// Values of our own types as JSON, one form for each: members sorted, slashes as they are.
package enum TypedJSON {
    /// - Throws: `EncodingError` for a number that is not finite.
    package static func bytes(
        _ value: some Encodable,
        _ layout: JSONEncoder.OutputFormatting = []
    ) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
        return Array(try encoder.encode(value))
    }

    /// The same as text.
    ///
    /// - Throws: `EncodingError` for a number that is not finite.
    package static func text(
        _ value: some Encodable,
        _ layout: JSONEncoder.OutputFormatting = []
    ) throws -> String {
        String(decoding: try bytes(value, layout), as: UTF8.self)
    }

    /// - Throws: ``JSONError`` for what ``JSONReader`` refuses; `DecodingError` for what is no such
    ///   value.
    package static func value<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Sequence<UInt8>
    ) throws -> Value {
        let bytes = Array(bytes)
        _ = try JSONReader.read(bytes)
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}
