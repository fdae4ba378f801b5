package import Encoding

/// The value of a setting, already checked against its type.
package enum SettingValue: Hashable, Sendable {
    case text(String)
    case texts([String])
    case map([String: String])
    case duration(Duration)
    case count(Int)
    case boolean(Bool)
    case numbers([Int])
    case json(JSONValue)

    package var toml: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .texts(let texts): "[" + texts.map(Self.quoted).joined(separator: ", ") + "]"
        case .map(let entries):
            "{ "
                + entries.sorted { $0.key < $1.key }
                .map { "\(Self.quoted($0.key)) = \(Self.quoted($0.value))" }
                .joined(separator: ", ") + " }"
        case .duration(let duration): Self.quoted(DurationText.format(duration))
        case .count(let count): String(count)
        case .boolean(let value): value ? "true" : "false"
        case .numbers(let numbers): "[" + numbers.map(String.init).joined(separator: ", ") + "]"
        case .json(let value): Self.toml(value)
        }
    }

    /// On one line; what TOML cannot write is not in a configuration.
    private static func toml(_ value: JSONValue) -> String {
        switch value {
        case .null, .number: quoted("")
        case .bool(let value): value ? "true" : "false"
        case .integer(let number): String(number)
        case .string(let text): quoted(text)
        case .array(let items): "[" + items.map(toml).joined(separator: ", ") + "]"
        case .object(let members):
            "{ " + members.map { "\(quoted($0.name)) = \(toml($0.value))" }.joined(separator: ", ")
                + " }"
        }
    }

    /// A TOML basic string (TOML 1.0.0, "String").
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7f {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
