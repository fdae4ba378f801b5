package import Lifecycle
package import Logging

/// One entry on its way to the journal or to standard error; its texts are already safe to show.
package struct LogEntry: Sendable, Equatable {
    /// The level of syslog(3): 2 critical to 7 debug.
    package let priority: Int
    /// The static text.
    package let message: String
    /// The event of the catalog, when there is one.
    package let event: JournalEvent?
    /// The facts, in the order of ``JournalField``.
    package let fields: [Field]

    /// One fact.
    package struct Field: Sendable, Equatable {
        /// Which fact.
        package let name: JournalField
        /// Its value, sanitized.
        package let value: String
    }

    /// Keeps what the journal may have of `metadata` and makes it safe.
    package init(level: Logger.Level, message: String, metadata: Logger.Metadata) {
        priority = level.syslogPriority
        self.message = LogText.sanitized(message)
        event = metadata[JournalField.eventKey].flatMap { JournalEvent(rawValue: "\($0)") }
        guard !metadata.isEmpty else {
            fields = []
            return
        }
        fields = JournalField.allCases.compactMap { name in
            metadata[name.rawValue].map {
                Field(name: name, value: LogText.sanitized("\($0)"))
            }
        }
    }

    /// The `NAME=value` fields of systemd.journal-fields(7), without their end marks.
    package var journalFields: [String] {
        var lines = ["PRIORITY=\(priority)", "MESSAGE=\(message)", "SYSLOG_IDENTIFIER=expunged"]
        if let event { lines.append("MESSAGE_ID=\(event.messageID)") }
        return lines + fields.map { "\($0.name.journalName)=\($0.value)" }
    }

    /// The entry as one line of text; values with a space or a quote are quoted.
    package func line(isTerminal: Bool) -> String {
        var line = isTerminal ? "\(levelName): " : "<\(priority)>"
        line += message
        for field in fields {
            let value = field.value
            let isPlain = !value.isEmpty && !value.contains(where: { $0 == " " || $0 == "\"" })
            let shown =
                isPlain
                ? value
                : "\""
                    + value.split(separator: "\"", omittingEmptySubsequences: false)
                    .joined(separator: "\\\"") + "\""
            line += " \(field.name.rawValue)=\(shown)"
        }
        return line + "\n"
    }

    private var levelName: String {
        switch priority {
        case ...2: "critical"
        case 3: "error"
        case 4: "warning"
        case 5: "notice"
        case 6: "info"
        default: "debug"
        }
    }
}

extension Logger.Level {
    /// The level's number in syslog(3), which the journal's `PRIORITY` uses.
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
}

extension Logger.Level {
    /// The level with which an event of the catalog is logged.
    package init(_ severity: JournalEvent.Severity) {
        switch severity {
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        case .critical: self = .critical
        }
    }
}
