/// The value of a setting, already checked against its type.
package enum SettingValue: Hashable, Sendable {
    case text(String)
    case texts([String])
    case map([String: String])
    case duration(Duration)
    case count(Int)
    case boolean(Bool)

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
