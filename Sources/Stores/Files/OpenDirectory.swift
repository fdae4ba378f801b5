import CLinux
import Glibc
internal import Lifecycle

struct DirectoryEntry {
    let name: FileName
    /// Where reading goes on behind it.
    let nextPlace: Int64
}

/// An open folder: everything is done relative to it, so nobody can swap the way to it.
///
/// Closed with the last reference. Each call answers an errno as a thrown ``Failure``.
final class OpenDirectory {
    /// A system call's errno.
    struct Failure: Error {
        let errorNumber: Int32
        /// It concerns a folder that all users' files are in, not one user's.
        var isOnTheWay = false
    }

    /// Bytes of entries read at once; some hundred entries.
    private static let readSize = 16_384

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens a root: an absolute path without a symbolic link.
    convenience init(root: String) throws(Failure) {
        let slash = unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard slash >= 0 else { throw Failure(errorNumber: errno) }
        defer { close(slash) }
        // The root may lie on another file system than `/`, so RESOLVE_NO_XDEV cannot be asked for:
        // one component at a time, each of them no link.
        var current = slash
        var isOwned = false
        for name in root.split(separator: "/") {
            let next = unsafe openat(
                current,
                String(name),
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            )
            let error = errno
            if isOwned { close(current) }
            guard next >= 0 else { throw Failure(errorNumber: error) }
            (current, isOwned) = (next, true)
        }
        guard isOwned else { throw Failure(errorNumber: EINVAL) }
        self.init(descriptor: current)
    }

    /// Opens a folder below; `path` may have several names.
    func directory(at path: FileName) throws(Failure) -> OpenDirectory {
        // No O_NOFOLLOW: with O_DIRECTORY a link would be ENOTDIR, as if nothing were there.
        let answer = unsafe clinux_open_beneath(descriptor, path.bytes, O_RDONLY | O_DIRECTORY)
        guard answer >= 0 else { throw Failure(errorNumber: -answer) }
        return OpenDirectory(descriptor: answer)
    }

    /// The first bytes of a small file.
    func text(of name: FileName, sizeMax: Int) throws(Failure) -> [UInt8] {
        let answer = unsafe clinux_open_beneath(
            descriptor,
            name.bytes,
            O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        )
        guard answer >= 0 else { throw Failure(errorNumber: -answer) }
        defer { close(answer) }
        var bytes = [UInt8](repeating: 0, count: sizeMax)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(answer, buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else { throw Failure(errorNumber: errno) }
        return Array(bytes[..<count])
    }

    /// What is known about an entry; `nil` when there is none.
    func facts(of name: FileName) throws(Failure) -> clinux_file_facts? {
        guard !name.isPath else { throw Failure(errorNumber: EINVAL) }
        var facts = clinux_file_facts()
        let answer = unsafe clinux_file_facts_at(descriptor, name.bytes, &facts)
        if answer == -ENOENT { return nil }
        guard answer == 0 else { throw Failure(errorNumber: -answer) }
        return facts
    }

    /// What is known about what a path of several names leads to, all of it resolved in one call;
    /// `nil` when nothing is there.
    ///
    /// - Throws: ``Failure``; `EXDEV` also where the last name is a mount.
    func facts(at path: FileName) throws(Failure) -> clinux_file_facts? {
        var facts = clinux_file_facts()
        let answer = unsafe clinux_file_facts_beneath(descriptor, path.bytes, &facts)
        if answer == -ENOENT || answer == -ENOTDIR { return nil }
        guard answer == 0 else { throw Failure(errorNumber: -answer) }
        return facts
    }

    /// The folder above, wherever it is by now: whoever asks must compare what it is.
    func above() throws(Failure) -> OpenDirectory {
        let answer = unsafe openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard answer >= 0 else { throw Failure(errorNumber: errno) }
        return OpenDirectory(descriptor: answer)
    }

    /// Opens the folder once more, to be read by the C library.
    func reader() throws(Failure) -> FolderReader {
        let answer = unsafe clinux_open_beneath(descriptor, ".", O_RDONLY | O_DIRECTORY)
        guard answer >= 0 else { throw Failure(errorNumber: -answer) }
        guard let stream = unsafe fdopendir(answer) else {
            let error = errno
            close(answer)
            throw Failure(errorNumber: error)
        }
        return unsafe FolderReader(stream: stream)
    }

    /// Whether entries can be removed as far as its permissions go.
    var isWritable: Bool {
        unsafe faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Removes an entry; false when it was gone already.
    func remove(_ name: FileName, isDirectory: Bool) throws(Failure) -> Bool {
        guard !name.isPath else { throw Failure(errorNumber: EINVAL) }
        if unsafe unlinkat(descriptor, name.bytes, isDirectory ? AT_REMOVEDIR : 0) == 0 {
            return true
        }
        guard errno == ENOENT else { throw Failure(errorNumber: errno) }
        return false
    }

    /// Some entries from `place` on, `.` and `..` left out; empty at the end.
    func entries(from place: Int64) throws(Failure) -> [DirectoryEntry] {
        guard lseek(descriptor, off_t(place), SEEK_SET) >= 0 else {
            throw Failure(errorNumber: errno)
        }
        var found: [DirectoryEntry] = []
        // A chunk of nothing but `.` and `..` is not the end.
        while found.isEmpty {
            guard try readChunk(into: &found) else { break }
        }
        return found
    }

    /// Goes through all entries, `.` and `..` left out.
    func forEachEntry(_ body: (DirectoryEntry) throws(Failure) -> Void) throws(Failure) {
        var place: Int64 = 0
        while true {
            let entries = try entries(from: place)
            guard let last = entries.last else { return }
            place = last.nextPlace
            for entry in entries { try body(entry) }
        }
    }

    private func readChunk(into found: inout [DirectoryEntry]) throws(Failure) -> Bool {
        var failure: Int32 = 0
        var isEnd = false
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 8) { buffer in
            let count = unsafe clinux_read_directory(descriptor, buffer.baseAddress, buffer.count)
            if count < 0 { failure = Int32(-count) }
            isEnd = count <= 0
            var offset = 0
            while offset < count, let base = buffer.baseAddress {
                let entry = unsafe clinux_directory_entry_at(base + offset)
                let name = unsafe FileName(copying: entry.name)
                if !name.isSelfOrParent {
                    found.append(unsafe DirectoryEntry(name: name, nextPlace: entry.next_place))
                }
                offset += Int(unsafe entry.length)
            }
        }
        guard failure == 0 else { throw Failure(errorNumber: failure) }
        return !isEnd
    }
}

extension clinux_file_facts {
    /// Itself, not what a link leads to.
    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }

    /// Made after the cutoff; where no birth time is kept, changed after it.
    func isNewer(than cutoff: WallTime) -> Bool {
        (born_ms >= 0 ? born_ms : modified_ms) > cutoff.unixMilliseconds
    }

    /// - Throws: ``OpenDirectory/Failure`` when something else is mounted on it: what is known is
    ///   about that.
    func refuseMount() throws(OpenDirectory.Failure) {
        guard is_mount == 0 else { throw OpenDirectory.Failure(errorNumber: EXDEV) }
    }
}

extension OpenDirectory.Failure {
    /// A folder could not be removed because something is in it (rmdir(2) allows both).
    var isNotEmpty: Bool { errorNumber == ENOTEMPTY || errorNumber == EEXIST }
    /// There is nothing of that name, or something that is no folder.
    var isAbsent: Bool { errorNumber == ENOENT || errorNumber == ENOTDIR }

    /// The system does not permit it: by permissions, an attribute, or a security module.
    var isRefusal: Bool { errorNumber == EACCES || errorNumber == EPERM }

    /// It may not be entered: by permissions, or because something is mounted there.
    var isClosed: Bool { isRefusal || errorNumber == EXDEV }

    var onTheWay: Self { Self(errorNumber: errorNumber, isOnTheWay: true) }
}

/// The name of an entry as the kernel has it: bytes, not always UTF-8, with a final NUL.
struct FileName: Hashable {
    let bytes: [CChar]

    init(_ name: String) { bytes = Array(name.utf8CString) }

    /// Copies a name that ends with a NUL.
    init(copying name: UnsafePointer<CChar>) {
        var bytes: [CChar] = []
        var index = 0
        while unsafe name[index] != 0 {
            bytes.append(unsafe name[index])
            index += 1
        }
        self.bytes = bytes + [0]
    }

    /// The text, when it is one.
    var text: String? {
        String(validating: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether it is none, but leads through a folder.
    var isPath: Bool { bytes.contains(0x2f) }

    /// `.` or `..`, which every folder has.
    var isSelfOrParent: Bool { bytes == [0x2e, 0] || bytes == [0x2e, 0x2e, 0] }

    /// Several names as one path, for one call.
    static func path(_ names: some Collection<FileName>) -> FileName {
        FileName(bytes: Array(names.map { $0.bytes.dropLast() }.joined(separator: [0x2f])) + [0])
    }

    private init(bytes: [CChar]) { self.bytes = bytes }
}

/// Reads an open folder by the C library (readdir(3)), from its beginning or from a place.
///
/// Closed with the last reference. Who changes the folder meanwhile may be seen or not.
@safe final class FolderReader {
    /// An entry, `.` and `..` left out.
    struct Entry {
        let name: FileName
        /// Itself, not what a link leads to; `nil` on a file system that does not tell.
        let isDirectory: Bool?
        /// Where reading goes on behind it.
        let nextPlace: Int
    }

    private let stream: OpaquePointer

    /// Takes the stream over.
    init(stream: OpaquePointer) { unsafe self.stream = stream }

    deinit { unsafe closedir(stream) }

    /// Goes on behind an entry that was read before, also by another reader of the same folder.
    func go(to place: Int) { unsafe seekdir(stream, place) }

    /// - Returns: `nil` at the end.
    /// - Throws: ``OpenDirectory/Failure``: a failure is no end.
    func next() throws(OpenDirectory.Failure) -> Entry? {
        while true {
            var entry = unsafe clinux_directory_entry()
            let answer = unsafe clinux_next_entry(stream, &entry)
            guard answer >= 0 else { throw OpenDirectory.Failure(errorNumber: -answer) }
            guard answer > 0 else { return nil }
            let name = unsafe FileName(copying: entry.name)
            guard !name.isSelfOrParent else { continue }
            let type = Int(unsafe entry.type)
            return Entry(
                name: name,
                isDirectory: type == DT_UNKNOWN ? nil : type == DT_DIR,
                nextPlace: Int(unsafe entry.next_place)
            )
        }
    }
}
