import CSystemd
import Encoding
import Glibc

/// Where log entries go; both outputs may block.
package enum LogOutput: Sendable, Equatable {
    /// Structured fields (sd_journal_sendv(3)).
    case journal
    /// Lines `<PRIORITY>message key=value` (sd-daemon(3)).
    case standardError
    /// Lines of JSON on standard error, with the journal's fields, as `journalctl -o json` prints.
    case json

    /// The names that an operator may give.
    package static let names: [String: LogOutput] = [
        "journal": .journal, "json": .json, "text": .standardError,
    ]

    /// The journal when standard error is connected to it, else standard error.
    ///
    /// `$JOURNAL_STREAM` has device and inode of the stream (systemd.exec(5)).
    package static func choose(
        environment: [String: String],
        descriptor: Int32 = STDERR_FILENO
    ) -> LogOutput {
        guard let stream = environment["JOURNAL_STREAM"] else { return .standardError }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .standardError }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .standardError
    }

    /// May block; returns whether the entry was taken.
    func write(_ entry: LogEntry) -> Bool {
        switch self {
        case .journal: Self.sendToJournal(entry.journalFields)
        case .standardError:
            FileBytes.write(
                Array(entry.line(isTerminal: isatty(STDERR_FILENO) == 1).utf8),
                to: STDERR_FILENO
            )
        case .json: FileBytes.write(entry.json(atUnixMicroseconds: Self.now()), to: STDERR_FILENO)
        }
    }

    private static func sendToJournal(_ fields: [String]) -> Bool {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for field in fields {
            bytes.append(contentsOf: field.utf8)
            ends.append(bytes.count)
        }
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            var vectors: [iovec] = unsafe []
            var start = 0
            for end in ends {
                let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<end])
                unsafe vectors.append(
                    iovec(iov_base: piece.baseAddress, iov_len: piece.count)
                )
                start = end
            }
            return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) == 0
        }
    }

    private static func now() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }
}
