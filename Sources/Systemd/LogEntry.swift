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
