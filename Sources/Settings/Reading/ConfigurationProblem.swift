/// One problem of a configuration.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// What can be wrong.
    package enum Kind: String, Sendable, CaseIterable {
        case unreadable
        case notRegularFile = "not_a_regular_file"
        case unsafePermissions = "unsafe_permissions"
        case tooLarge = "too_large"
        case notText = "not_utf8"
        case syntax
        case tooDeep = "too_deep"
        case unknownKey = "unknown_key"
        case missingKey = "missing_key"
        case wrongType = "wrong_type"
        case unknownValue = "unknown_value"
        case malformed
        case outOfRange = "out_of_range"
        case duplicate
        case contradiction
        case tooMany = "too_many"
    }

    package let kind: Kind
    package let file: String
    /// Counted from 1; `nil` when the file as a whole is meant.
    package var line: Int?
    /// The environment variable that is meant instead of the file.
    package var variable: String?
    /// The key with the section's name in it, such as `provider.apple.team_id`; `nil` for the file.
    package var key: String?
    /// What the file says, fit to be shown; `nil` for secret and unknown keys.
    package var value: String?
    package let cause: String

    /// File and line, or the variable.
    package var place: String {
        variable.map { "$\($0)" } ?? line.map { "\(file):\($0)" } ?? file
    }

    /// What cannot be used and why, without the place.
    package var reason: String {
        let object = key ?? (variable == nil ? "this file" : "this variable")
        let shown = value.map { " '\($0)'" } ?? ""
        return "cannot use \(object)\(shown) (\(kind.rawValue)): \(cause)"
    }

    package var description: String { "\(place): \(reason)" }
}

/// Why a configuration was refused: every problem at once.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Sorted by line, never empty.
    package let problems: [ConfigurationProblem]
    package let omittedCount: Int

    /// One problem of the whole file, or of a line.
    init(_ kind: ConfigurationProblem.Kind, file: String, line: Int? = nil, _ cause: String) {
        self.init([ConfigurationProblem(kind: kind, file: file, line: line, cause: cause)])
    }

    init(_ problems: [ConfigurationProblem]) {
        let sorted = problems.enumerated().sorted {
            ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
        }
        self.problems = sorted.prefix(SettingsLimits.problemsMax).map(\.element)
        omittedCount = max(0, problems.count - SettingsLimits.problemsMax)
    }

    package var description: String {
        var lines = problems.map(\.description)
        if omittedCount > 0 { lines.append("… and \(omittedCount) more problems") }
        return lines.joined(separator: "\n")
    }
}
