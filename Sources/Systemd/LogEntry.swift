import Encoding
package import Lifecycle
package import Logging

/// One entry on its way to the log; its texts are safe to show.
package struct LogEntry: Sendable, Equatable {
    /// Of syslog(3): 2 critical to 7 debug.
    package let priority: Int
    package let message: String
    package let event: JournalEvent?
    /// In the order of ``JournalField``.
    package let fields: [Field]

    /// One fact.
    package struct Field: Sendable, Equatable {
        package let name: JournalField
        /// Sanitized.
        package let value: String
    }

    package init(level: Logger.Level, message: String, metadata: Logger.Metadata) {
        priority = level.syslogPriority
        let fields = JournalField.allCases.compactMap { name in
            metadata[name.rawValue].map {
                Field(name: name, value: LogText.sanitized("\($0)"))
            }
        }
        let event = metadata[JournalField.eventKey].flatMap { JournalEvent(rawValue: "\($0)") }
        self.message =
            event.map { JournalMessage.text(of: $0, fields) } ?? LogText.sanitized(message)
        (self.event, self.fields) = (event, fields)
    }

    /// The fields of systemd.journal-fields(7).
    package var journalFields: [String] {
        var lines = ["PRIORITY=\(priority)", "MESSAGE=\(message)", "SYSLOG_IDENTIFIER=expunged"]
        if let event {
            lines += ["MESSAGE_ID=\(event.messageID)", "EXPUNGED_EVENT=\(event.name)"]
        }
        return lines + fields.map { "\($0.name.journalName)=\($0.value)" }
    }

    /// The same fields as one line of JSON, all texts, with the time that the journal would add.
    func json(atUnixMicroseconds time: Int64) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("__REALTIME_TIMESTAMP", "\(time)")
            for field in journalFields {
                let end = field.firstIndex(of: "=") ?? field.endIndex
                writer.member(String(field[..<end]), String(field[end...].dropFirst()))
            }
        } + [UInt8(ascii: "\n")]
    }

    /// For a program with event and fields, where a value with a space or a quote is quoted.
    ///
    /// A person at a terminal reads the sentence of an event, which has them.
    package func line(isTerminal: Bool) -> String {
        var line = isTerminal ? "\(levelName): " : "<\(priority)>"
        line += message
        if let event {
            if isTerminal { return line + "\n" }
            line += " event=\(event.name)"
        }
        for field in fields {
            let value = field.value
            let isPlain = !value.isEmpty && !value.contains(where: { $0 == " " || $0 == "\"" })
            let shown = isPlain ? value : "\"" + value.replacing("\"", with: "\\\"") + "\""
            line += " \(field.name.rawValue)=\(shown)"
        }
        return line + "\n"
    }

    private var levelName: String {
        let names = ["critical", "error", "warning", "notice", "info", "debug"]
        return names[min(max(priority, 2), 7) - 2]
    }
}

extension Logger.Level {
    var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    package init(_ severity: JournalEvent.Severity) {
        self = Logger.Level(rawValue: severity.rawValue) ?? .critical
    }
}

/// Makes text safe for a log line.
package enum LogText {
    /// Of one value: a provider's error page must not fill the journal.
    static let byteCountMax = 1024

    /// Escapes control and direction-changing characters as `\u{…}`.
    package static func sanitized(_ text: String) -> String {
        // Almost every value is short printable ASCII: nothing to build then.
        let bytes = text.utf8
        if bytes.count <= byteCountMax, bytes.allSatisfy({ (0x20...0x7e).contains($0) }) {
            return text
        }
        var safe = ""
        var byteCount = 0
        for scalar in text.unicodeScalars {
            let piece =
                isHarmful(scalar)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
            byteCount += piece.utf8.count
            // The mark of the cut takes three bytes.
            guard byteCount <= byteCountMax - 3 else { return safe + "…" }
            safe += piece
        }
        return safe
    }

    /// C0, DEL, C1, and the marks that reorder what a terminal shows (UAX #9 §2).
    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f: true
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
