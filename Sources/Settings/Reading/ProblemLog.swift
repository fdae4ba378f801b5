/// Collects every problem of one file.
package struct ProblemLog: Sendable {
    let file: String
    let locations: KeyLocations
    private(set) var problems: [ConfigurationProblem] = []

    var isFull: Bool { problems.count >= SettingsLimits.problemsMax }

    package mutating func report(
        _ kind: ConfigurationProblem.Kind,
        _ name: String,
        in place: SectionPlace,
        value: String? = nil,
        _ cause: String
    ) {
        add(kind, key: place.key(name), at: place.path(of: name), value: value, cause)
    }

    mutating func add(_ problem: ConfigurationProblem) { problems.append(problem) }

    mutating func add(
        _ kind: ConfigurationProblem.Kind,
        key: String,
        at path: [KeyStep],
        value: String? = nil,
        _ cause: String
    ) {
        problems.append(
            ConfigurationProblem(
                kind: kind,
                file: file,
                line: locations.line(of: path),
                variable: locations.variable(of: path),
                key: Self.printable(key),
                value: value.map { Self.printable($0) },
                cause: cause
            )
        )
    }

    /// One line made of the parser's message, whose numbers might be a pasted secret.
    static func sentence(_ text: String) -> String {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        let shown = parts.enumerated().map { index, part in
            let isQuotedNumber =
                index % 2 == 1 && part.utf8.count > 1
                && part.utf8.contains { (0x30...0x39).contains($0) }
            return isQuotedNumber ? "…" : String(part)
        }
        return printable(shown.joined(separator: "'"), countMax: 200)
    }

    /// Without characters that could forge a line or steer a terminal.
    static func printable(_ text: String, countMax: Int = 64) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(countMax) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
                .unassigned:
                result += "?"
            default:
                result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count > countMax ? result + "…" : result
    }
}

/// The problems of a section while its kind reads it.
package struct SectionProblems: Sendable {
    var log: ProblemLog
    let place: SectionPlace

    package mutating func report(
        _ kind: ConfigurationProblem.Kind,
        _ name: String,
        in place: SectionPlace? = nil,
        value: String? = nil,
        _ cause: String
    ) {
        log.report(kind, name, in: place ?? self.place, value: value, cause)
    }

    /// Whether the file has the key, with a good value or a bad one that is reported already.
    package func isWritten(_ name: String, in place: SectionPlace? = nil) -> Bool {
        log.locations.isWritten((place ?? self.place).path(of: name))
    }

    /// Whether there is a problem with the key, or with what is below it.
    package func isReported(_ name: String) -> Bool {
        log.problems.contains { $0.key?.hasPrefix(place.key(name)) ?? false }
    }

    package func line(_ name: String? = nil, in place: SectionPlace? = nil) -> Int {
        let place = place ?? self.place
        return log.locations.line(of: name.map(place.path(of:)) ?? place.path)
    }

    /// Refuses http, but for a host on this machine where the section allows it.
    package mutating func requireHTTPS(_ text: String, _ name: String, isPlainAllowed: Bool) {
        guard let url = EndpointURL(text), !url.isEncrypted else { return }
        guard url.isLoopback else {
            return report(
                .malformed,
                name,
                value: text,
                "tokens go over https only; plain http is for hosts on this machine"
            )
        }
        guard !isPlainAllowed else { return }
        report(
            .contradiction,
            name,
            value: text,
            "use https, or for a test set allow_plain_http = true"
        )
    }
}

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
