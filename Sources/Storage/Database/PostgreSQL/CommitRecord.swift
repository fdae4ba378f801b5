import Encoding
import Glibc
import Lifecycle

/// How many commits this host has made to a state, in a file of the host.
///
/// A server that takes the place of another one may have fewer. The process that made them notices;
/// the file lets the next one notice, too. It is not synced: it outlives the process, and after a
/// power cut it may be some seconds old, and shows less.
final class CommitRecord {
    private let descriptor: Int32
    /// The state's id and the host's name.
    private let owner: String

    /// One write of at most this length is not torn by the end of the process.
    private static let byteCount = 256

    /// Opens the file, or makes it.
    ///
    /// - Throws: ``PostgreSQLStateError``.
    init(path: String, state: String, host: String) throws(PostgreSQLStateError) {
        owner = "\(state) \(host)"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw PostgreSQLStateError(
                .unopenable,
                "the record of commits '\(path)' cannot be opened (\(ErrorNumber.current))"
            )
        }
    }

    deinit { close(descriptor) }

    /// The last number; 0 where the file is of another state, of another host, or unreadable.
    func read() -> Int {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count > 0 else { return 0 }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split { $0.isWhitespace }
        guard words.count == 3, words[..<2].joined(separator: " ") == owner else { return 0 }
        return Int(words[2]) ?? 0
    }

    /// Writes over what is there, which needs no space of the disk.
    func write(_ number: Int) {
        let text = "\(owner) \(number)"
        let padding = max(0, Self.byteCount - 1 - text.utf8.count)
        let bytes = Array((text + String(repeating: " ", count: padding) + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}
