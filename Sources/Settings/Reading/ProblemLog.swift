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
