import Lifecycle
import Logging
import Testing

@testable import Systemd

@Suite("Log entries")
struct LogEntryTests {
    @Test("an event gets its message id and its facts the journal's names")
    func fields() {
        let entry = LogEntry(
            level: .notice,
            message: "",
            metadata: [
                "event": "requestCompleted", "request.id": "0198", "peer.uid": "1000",
                "duration_ms": "12", "user": "alice@example.com",
            ]
        )
        #expect(
            entry.journalFields == [
                "PRIORITY=5", "MESSAGE=request 0198 completed", "SYSLOG_IDENTIFIER=expunged",
                "MESSAGE_ID=\(JournalEvent.requestCompleted.messageID)",
                "EXPUNGED_EVENT=request_completed", "EXPUNGED_REQUEST_ID=0198",
                "EXPUNGED_DURATION_MS=12", "EXPUNGED_PEER_UID=1000",
            ]
        )
    }

    @Test("as JSON it is one line with the journal's fields, whatever the values say")
    func json() {
        let entry = LogEntry(
            level: .warning,
            message: "",
            metadata: ["event": "configurationRefused", "error": "a \"b\" \\ c\nMESSAGE=d=e"]
        )
        let line = String(
            decoding: entry.json(atUnixMicroseconds: 1_700_000_000_123_456),
            as: UTF8.self
        )
        let id = JournalEvent.configurationRefused.messageID
        #expect(line.hasPrefix(#"{"__REALTIME_TIMESTAMP":"1700000000123456","PRIORITY":"4","#))
        #expect(line.contains(#""MESSAGE_ID":"\#(id)","EXPUNGED_EVENT":"configuration_refused""#))
        #expect(line.contains(#""EXPUNGED_ERROR":"a \"b\" \\ c\\u{a}MESSAGE=d=e"}"#))
        #expect(line.hasSuffix("}\n") && line.split(separator: "\n").count == 1)
    }

    @Test(
        "levels have the numbers of syslog",
        arguments: [
            (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4),
            (.error, 3), (.critical, 2),
        ]
    )
    func priority(_ level: Logger.Level, _ number: Int) {
        #expect(LogEntry(level: level, message: "", metadata: [:]).priority == number)
    }

    @Test("severities of the catalog are levels", arguments: JournalEvent.Severity.allCases)
    func severity(_ severity: JournalEvent.Severity) {
        #expect(Logger.Level(severity).rawValue == severity.rawValue)
    }

    @Test(
        "control, escape and direction characters never reach the log",
        arguments: [
            ("a\nMESSAGE=forged", "a\\u{a}MESSAGE=forged"), ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("nul\0", "nul\\u{0}"), ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
            ("\u{202e}txt", "\\u{202e}txt"), ("größe", "größe"), ("", ""),
        ]
    )
    func sanitized(_ raw: String, _ safe: String) {
        #expect(LogText.sanitized(raw) == safe)
        let entry = LogEntry(level: .info, message: raw, metadata: ["detail": "\(raw)"])
        #expect(entry.message == safe)
        #expect(entry.fields.map(\.value) == [safe])
        #expect(entry.line(isTerminal: false).filter { $0 == "\n" }.count == 1)
    }

    @Test("a value is cut at 1 KiB, between characters")
    func cut() {
        #expect(LogText.sanitized(String(repeating: "x", count: 1024)).utf8.count == 1024)
        for text in ["x", "ö", "€", "😀", "\n"] {
            let cut = LogText.sanitized(String(repeating: text, count: 100_000))
            #expect(cut.utf8.count <= 1024 && cut.utf8.count > 1000)
            #expect(cut.hasSuffix("…") && !cut.contains("\u{fffd}"))
        }
    }

    @Test("a line outside the journal is readable and parseable")
    func line() {
        let entry = LogEntry(
            level: .warning,
            message: "request parked",
            metadata: ["provider": "apple", "detail": "a \"b\" c", "step": ""]
        )
        #expect(
            entry.line(isTerminal: false)
                == "<4>request parked provider=apple step=\"\" detail=\"a \\\"b\\\" c\"\n"
        )
        #expect(entry.line(isTerminal: true).hasPrefix("warning: request parked "))
    }

    @Test("the line of an event has its sentence, and for a program its name and fields")
    func eventLine() {
        let entry = LogEntry(
            level: .warning,
            message: "",
            metadata: [
                "event": "requestParked", "request.id": "01a1fc8e-9f65-7bd1-bb0b-9b525af3dac8",
                "detail": "on_hold",
            ]
        )
        let sentence = "request 01a1fc8e-9f65-7bd1 waits: it is on hold"
        #expect(entry.line(isTerminal: true) == "warning: \(sentence)\n")
        #expect(
            entry.line(isTerminal: false)
                == "<4>\(sentence) event=request_parked"
                + " request.id=01a1fc8e-9f65-7bd1-bb0b-9b525af3dac8 detail=on_hold\n"
        )
    }

    @Test("every field has its own name in the journal's alphabet")
    func names() {
        let names = JournalField.allCases.map(\.journalName)
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.hasPrefix("EXPUNGED_"))
            #expect(name.allSatisfy { $0 == "_" || ($0.isASCII && $0.isUppercase) })
        }
    }
}
