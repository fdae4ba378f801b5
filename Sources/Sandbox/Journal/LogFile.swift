import Encoding
import Glibc

/// A file that gets one JSON line per record, each with one write(2), so that a crash cuts no line.
final class LogFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens `path` for appending and makes it, readable by its owner alone, when it is missing.
    init(path: String) throws(SandboxError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SandboxError(.file, cannot: "open log", at: path, cause: "errno \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }

    func append(_ record: CallRecord) throws {
        var line = try TypedJSON.bytes(record)
        line.append(UInt8(ascii: "\n"))
        let written = unsafe write(descriptor, line, line.count)
        guard written == line.count else {
            throw SandboxError(.file, cannot: "write log", at: path, cause: "errno \(errno)")
        }
    }
}
