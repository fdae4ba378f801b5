import Encoding

/// A place in a JSON value (RFC 6901); in a list, `-` is the last element.
struct JSONPointer: Hashable, Sendable {
    static let byteCountMax = 200

    private let steps: [String]

    /// Reads `` or `/a/0/b`, with `~0` for `~` and `~1` for `/`; `nil` for anything else.
    init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/"), text.utf8.count <= Self.byteCountMax else {
            return nil
        }
        var steps: [String] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let escapes = part.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
            guard escapes.allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
            steps.append(String(part).replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        self.steps = steps
    }

    /// The value there; `nil` where there is none.
    func value(in json: JSONValue) -> JSONValue? {
        var value = json
        for step in steps {
            let next: JSONValue? =
                switch value {
                case .object(let members): members[step]
                case .array(let items):
                    if step == "-" {
                        items.last
                    } else {
                        Int(step).flatMap { items.indices.contains($0) ? items[$0] : nil }
                    }
                case .null, .bool, .integer, .number, .string: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}

extension JSONValue {
    /// A text, a whole number or a truth value, as text; `nil` for anything else.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let value): value ? "true" : "false"
        case .null, .number, .array, .object: nil
        }
    }
}
