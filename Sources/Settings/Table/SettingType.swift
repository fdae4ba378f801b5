/// What a key accepts.
package enum SettingType: Hashable, Sendable {
    case text(TextRule)
    /// A list of texts without repetition, with the least and greatest number of entries.
    case texts(TextRule, ClosedRange<Int>)
    /// Texts by name, with the rules of both and the least and greatest number of entries.
    case map(TextRule, TextRule, ClosedRange<Int>)
    case choice([String])
    case duration(ClosedRange<Duration>)
    case count(ClosedRange<Int>, unit: String)
    case boolean
    /// A text or a whole number, for a column of the application.
    case constant

    /// Type and limits in a few words, for the documentation.
    var summary: String {
        switch self {
        case .text(let rule): rule.title
        case .texts(let rule, let count): "list of \(rule.title), \(Self.entries(count))"
        case .map(let name, let value, let count):
            "map of \(name.title) to \(value.title), \(Self.entries(count))"
        case .choice, .boolean: range
        case .duration: "duration, \(range)"
        case .count: "count, \(range)"
        case .constant: "constant"
        }
    }

    /// The rules of its texts.
    var rules: [TextRule] {
        switch self {
        case .text(let rule), .texts(let rule, _): [rule]
        case .map(let name, let value, _): [name, value]
        case .choice, .duration, .count, .boolean, .constant: []
        }
    }

    /// What values are accepted, for messages.
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
        }
    }

    /// Whether a value names a host that tokens go to.
    package var isURL: Bool {
        switch self {
        case .text(.url), .text(.origin): true
        default: false
        }
    }

    private static func entries(_ count: ClosedRange<Int>) -> String {
        "\(count.lowerBound) to \(count.upperBound) entries"
    }

    /// Quoted names with commas and a last "or".
    private static func alternatives(_ names: [String]) -> String {
        let quoted = names.map { "\"\($0)\"" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or \(last)"
    }
}
