/// What a key accepts.
package enum SettingType: Hashable, Sendable {
    case text(TextRule)
    /// Without repetition; the range counts entries.
    case texts(TextRule, ClosedRange<Int>)
    /// By name.
    case map(TextRule, TextRule, ClosedRange<Int>)
    case choice([String])
    case duration(ClosedRange<Duration>)
    case count(ClosedRange<Int>, unit: String)
    case boolean
    case constant
    /// A list of whole numbers; the second range counts them.
    case numbers(ClosedRange<Int>, ClosedRange<Int>)
    /// A value that is sent as JSON, written in TOML.
    case json

    /// For messages.
    package var range: String {
        switch self {
        case .text(let rule): rule.requirement
        case .texts(let rule, let count):
            "\(Self.entries(count)), each \(rule.requirement)"
        case .map(let name, let value, let count):
            "\(Self.entries(count)), each name \(name.requirement), each value \(value.requirement)"
        case .choice(let names): Self.alternatives(names)
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .count(let range, let unit): "\(range.lowerBound) to \(range.upperBound) \(unit)"
        case .boolean: "true or false"
        case .constant: "a text of at most 1024 characters or a whole number"
        case .numbers(let range, let count):
            "\(Self.entries(count)), each \(range.lowerBound) to \(range.upperBound)"
        case .json: "texts, whole numbers, true or false, in lists and tables"
        }
    }

    package var isURL: Bool {
        switch self {
        case .text(.url), .text(.origin): true
        default: false
        }
    }

    static func entries(_ count: ClosedRange<Int>) -> String {
        "\(count.lowerBound) to \(count.upperBound) entries"
    }

    private static func alternatives(_ names: [String]) -> String {
        let quoted = names.map { "\"\($0)\"" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or \(last)"
    }
}
