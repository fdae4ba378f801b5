import CLinux
import Glibc

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
