package import FoundationEssentials

/// Values of our own types as JSON, one form for each: members sorted, slashes as they are.
package enum TypedJSON {
    /// How members are named.
    package enum Names: Sendable {
        /// As the type says.
        case declared
        /// `request_id` for `requestID`; the keys of dictionaries stay as they are.
        case snakeCase
    }

    /// - Throws: `EncodingError` for a number that is not finite.
    package static func bytes(
        _ value: some Encodable,
        _ names: Names = .declared,
        layout: JSONEncoder.OutputFormatting = []
    ) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
        if names == .snakeCase {
            encoder.keyEncodingStrategy = .custom { path in
                Name(stringValue: Name.snakeCase(path.last?.stringValue ?? ""))
            }
        }
        return Array(try encoder.encode(value))
    }

    /// The same as text.
    package static func text(
        _ value: some Encodable,
        _ names: Names = .declared,
        layout: JSONEncoder.OutputFormatting = []
    ) throws -> String {
        String(decoding: try bytes(value, names, layout: layout), as: UTF8.self)
    }

    /// - Throws: ``JSONError`` for what ``JSONReader`` refuses; `DecodingError` for what is no such
    ///   value.
    package static func value<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Sequence<UInt8>,
        _ names: Names = .declared
    ) throws -> Value {
        let bytes = Array(bytes)
        _ = try JSONReader.read(bytes)
        let decoder = JSONDecoder()
        if names == .snakeCase {
            decoder.keyDecodingStrategy = .custom { path in
                Name(stringValue: Name.camelCase(path.last?.stringValue ?? ""))
            }
        }
        return try decoder.decode(type, from: Data(bytes))
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        /// Not Foundation's own strategy: that makes `request_i_ds` of `requestIDs`.
        static func snakeCase(_ name: String) -> String {
            name.replacing("ID", with: "Id").reduce(into: "") { text, letter in
                text.append(letter.isUppercase ? "_\(letter.lowercased())" : "\(letter)")
            }
        }

        static func camelCase(_ name: String) -> String {
            let words = name.split(separator: "_")
            var text = String(words.first ?? "")
            for word in words.dropFirst() {
                let isID = word == "id" || word == "ids"
                text.append(isID ? "ID" : word.prefix(1).uppercased())
                text.append(contentsOf: word.dropFirst(isID ? 2 : 1))
            }
            return text
        }
    }
}
