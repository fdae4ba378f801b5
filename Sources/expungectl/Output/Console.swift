import Encoding
import Glibc

enum Console {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns and rows of the terminal; 80 columns and any number of rows where there is none.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, .max)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static func write(_ text: String) { put(text + "\n", to: STDOUT_FILENO) }

    static func writeError(_ text: String) { put(text + "\n", to: STDERR_FILENO) }

    static func exit(_ code: CommandStatus) { Glibc.exit(code.rawValue) }

    static func fail(_ failure: CommandFailure) {
        if GlobalOptions.leading.isJSON {
            writeError(failure.json)
        } else {
            for text in failure.details + [failure.message] { writeError("error: \(text)") }
            if let hint = failure.hint { writeError("hint: \(hint)") }
        }
        exit(failure.code)
    }

    /// Writes without a newline at the end; `false` when nobody reads any more (a closed pipe).
    @discardableResult
    static func put(_ text: String, to descriptor: Int32) -> Bool {
        FileBytes.write(Array(text.utf8), to: descriptor)
    }
}

/// The last error of the service in the journal of this boot, where this user may read it.
enum LastReason {
    /// `nil` for a socket that is not the installed service's.
    static func find(socket: String) -> String? {
        guard socket.hasPrefix("/run/expunged/") else { return nil }
        let text = FileBytes.output(
            of: "timeout 0.3 journalctl --quiet --no-pager --boot --output=cat --lines=1"
                + " --priority=err _SYSTEMD_UNIT=expunged.service 2>/dev/null",
            atMost: 2048
        )
        return text.split(separator: "\n").first.map(String.init)
    }
}
