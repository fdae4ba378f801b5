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

    /// The type's name in the documentation.
    package var name: String {
        switch self {
        case .text(let rule): rule.rawValue
        case .texts(let rule, _): "list of \(rule.rawValue)"
        case .map(let name, let value, _): "\(value.rawValue) by \(name.rawValue)"
        case .choice: "choice"
        case .duration: "duration"
        case .count: "count"
        case .boolean: "boolean"
        case .constant: "constant"
        }
    }

    /// What values are accepted, for messages and the documentation.
    package var range: String {
        switch self {
        case .text(let rule): rule.requirement
        case .texts(let rule, let count):
            "\(count.lowerBound) to \(count.upperBound) entries, each \(rule.requirement)"
        case .map(let name, let value, let count):
            "\(count.lowerBound) to \(count.upperBound) entries, each name "
                + "\(name.requirement), each value \(value.requirement)"
        case .choice(let names): Self.alternatives(names)
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .count(let range, let unit): "\(range.lowerBound) to \(range.upperBound) \(unit)"
        case .boolean: "true or false"
        case .constant: "a text of at most 1024 characters or a whole number"
        }
    }

    /// Whether a value names a host that tokens go to.
    var isURL: Bool {
        switch self {
        case .text(.url), .text(.origin): true
        default: false
        }
    }

    /// Quoted names with commas and a last "or".
    private static func alternatives(_ names: [String]) -> String {
        let quoted = names.map { "\"\($0)\"" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or \(last)"
    }
}
