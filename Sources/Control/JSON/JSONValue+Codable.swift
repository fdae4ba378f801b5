/// Lets a field of a wire type be any JSON document.
extension JSONValue: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads any value; the order of members is not kept by the standard decoders.
    ///
    /// - Parameter decoder: Positioned at the value.
    /// - Throws: `DecodingError` when it is none.
    package init(from decoder: any Decoder) throws {
        if let container = Self.attempt({ try decoder.container(keyedBy: Name.self) }) {
            let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map { name in
                    Member(name.stringValue, try container.decode(JSONValue.self, forKey: name))
                }
            )
            return
        }
        if var container = Self.attempt({ try decoder.unkeyedContainer() }) {
            var items: [JSONValue] = []
            while !container.isAtEnd { items.append(try container.decode(JSONValue.self)) }
            self = .array(items)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = Self.attempt({ try container.decode(Bool.self) }) {
            self = .boolean(value)
        } else if let value = Self.attempt({ try container.decode(Int64.self) }) {
            self = .integer(value)
        } else if let value = Self.attempt({ try container.decode(Double.self) }) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Writes the value.
    ///
    /// - Parameter encoder: Positioned at the value.
    /// - Throws: Whatever the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                try container.encode(member.value, forKey: Name(stringValue: member.name))
            }
        case .array(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(item) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .null, .array, .object: try container.encodeNil()
            }
        }
    }

    /// Tries one reading; a mismatch is how Codable says "another type", not a failure.
    private static func attempt<Value>(_ body: () throws -> Value) -> Value? {
        do { return try body() } catch { return nil }
    }
}
