import FoundationEssentials
import Glibc

/// A directory of one test, removed with its files when the value goes away.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "expunged-systemd-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path(percentEncoded: false)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            // The directory of temporary files is emptied by others in the end.
        }
    }

    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
        let file = "\(path)/\(name)"
        try Data(bytes).write(to: URL(filePath: file))
        guard unsafe chmod(file, mode) == 0 else { throw POSIXFailure() }
    }

    struct POSIXFailure: Error {}
}
