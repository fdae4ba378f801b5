import Encoding
import Systemd

/// One thing that `expunged --check` found.
struct Finding: Sendable, Hashable {
    enum Severity: String, Sendable {
        /// Something does not work until it is mended.
        case error
        case warning
        /// The check could not read it.
        case unexamined = "not examined"
    }

    let severity: Severity
    /// File and line, or the object.
    let place: String
    let reason: String
    let remedy: String

    init(_ severity: Severity = .error, at place: String, _ reason: String, remedy: String) {
        self.severity = severity
        self.place = LogText.sanitized(place)
        self.reason = LogText.sanitized(reason)
        self.remedy = LogText.sanitized(remedy)
    }

    var text: String {
        let hint = severity == .unexamined ? "; " : "\nhint: "
        return "\(severity.rawValue): \(place): \(reason)\(hint)\(remedy)"
    }

    var json: JSONValue {
        [
            "severity": .string(severity.rawValue), "place": .string(place),
            "reason": .string(reason), "remedy": .string(remedy),
        ]
    }
}
