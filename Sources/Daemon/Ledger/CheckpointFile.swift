import Encoding
import Glibc
import Ledger

/// The file that outlives state.db: signed notes, only ever appended.
///
/// It is opened for each use, so a file that was taken away is noticed.
struct CheckpointFile: Sendable {
    static let name = "checkpoints"
    private static let chunkByteCount = 1 << 20

    let directory: String
    var fileName = CheckpointFile.name
    var path: String { directory + "/" + fileName }

    /// Appends notes durably and returns the file's length with them.
    ///
    /// After an error it is unknown what is on disk; ``cut(to:)`` takes it back.
    func append(_ notes: [SignedNote]) throws(DaemonError) -> Int {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        let isNew = lseek(descriptor, 0, SEEK_END) == 0
        let bytes = Array(notes.map { $0.description + "\n" }.joined().utf8)
        guard FileBytes.write(bytes, to: descriptor) else { throw failure("write") }
        guard fsync(descriptor) == 0 else { throw failure("sync") }
        if isNew { try syncDirectory() }
        return Int(lseek(descriptor, 0, SEEK_END))
    }

    /// Reads from `offset`, where a note begins; returns what does not make a whole note.
    ///
    /// A file that is not there is empty.
    func read(
        from offset: Int,
        _ body: (_ note: [UInt8], _ end: Int) async throws -> Void
    ) async throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw failure("open")
        }
        defer { close(descriptor) }
        var splitter = NoteSplitter()
        var (position, end) = (offset, offset)
        var buffer = [UInt8](repeating: 0, count: Self.chunkByteCount)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, $0.count, position)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read") }
            guard count > 0 else { return splitter.rest }
            position += count
            for note in splitter.take(Array(buffer[..<count])) {
                end += note.count + 1
                try await body(note, end)
            }
        }
    }

    /// Whether the file has `note` and a newline right before `end`.
    func ends(_ note: String, at end: Int) throws(DaemonError) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            throw failure("open")
        }
        defer { close(descriptor) }
        let expected = Array(note.utf8) + [UInt8(ascii: "\n")]
        var found = [UInt8](repeating: 0, count: expected.count)
        guard end >= expected.count else { return false }
        let count = unsafe found.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, end - expected.count)
        }
        guard count >= 0 else { throw failure("read") }
        return count == expected.count && found == expected
    }

    /// Takes back an end that was torn while it was written.
    func cut(to length: Int) throws(DaemonError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw failure("open")
        }
        defer { close(descriptor) }
        guard ftruncate(descriptor, length) == 0, fsync(descriptor) == 0 else {
            throw failure("cut")
        }
    }

    /// Renames the file, which is kept; a new one begins.
    func setAside(_ suffix: String) throws(DaemonError) {
        guard unsafe rename(path, path + "." + suffix) == 0 || errno == ENOENT else {
            throw failure("rename")
        }
        try syncDirectory()
    }

    private func syncDirectory() throws(DaemonError) {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the directory of") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync the directory of") }
    }

    /// Reads `errno`, so it must come right after the call that failed.
    private func failure(_ verb: String) -> DaemonError {
        DaemonError(.state, "cannot \(verb) the checkpoint file '\(path)' (\(ErrorNumber.current))")
    }
}
