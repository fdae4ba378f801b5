import ArgumentParser
import Control
import Encoding
import Glibc
import Lifecycle

/// Reads secrets from files or standard input: an argument would be seen by everybody (proc(5)).
enum InputFile {
    /// A user id has at most 255 bytes; a carriage return may follow.
    private static let lineByteCountMax = 256

    /// Reads one secret of 1 to 8192 bytes, without a newline at its end.
    static func secret(_ path: String) throws(CommandFailure) -> Secret {
        var bytes = try bytes(path, countMax: ControlLimits.secretByteCountMax + 2)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw failure("empty", path, "put the secret into it") }
        return Secret(bytes)
    }

    static func requireOneFromInput(_ paths: [String?]) throws {
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("only one secret can come from standard input")
        }
    }

    /// Reads a whole file of at most `countMax` bytes, or standard input for `-`.
    static func bytes(_ path: String, countMax: Int) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        guard FileBytes.read(descriptor, into: &bytes, atMost: countMax + 1) else {
            throw unreadable(path)
        }
        guard bytes.count <= countMax else {
            let why = "it has more than \(countMax) bytes; name the right file"
            throw failure("too large", path, why)
        }
        return bytes
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        failure("unreadable", path, "\(ErrorNumber(errno))")
    }

    private static func failure(_ kind: String, _ path: String, _ why: String) -> CommandFailure {
        CommandFailure(message: "cannot read input at '\(path)' (\(kind)): \(why)", code: .failure)
    }

    /// Reads the first line of standard input and leaves what follows to ``secret(_:)``.
    ///
    /// Returns `nil` when the line is not UTF-8 or longer than any user id.
    static func firstLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count > 0, byte != UInt8(ascii: "\n") else { break }
            bytes.append(byte)
            guard bytes.count <= lineByteCountMax else { return nil }
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(validating: bytes, as: UTF8.self)
    }
}
