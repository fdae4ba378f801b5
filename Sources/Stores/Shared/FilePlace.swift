import Glibc

/// A file or folder by what it is, whatever leads there: names, links and mounts.
struct FilePlace: Sendable {
    private struct Identity: Hashable {
        let device: UInt
        let number: UInt

        /// `nil` where nothing is, or nothing may be seen.
        init?(_ path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private let path: String

    init(_ path: String) { self.path = path }

    /// Whether both are one file; a place where nothing is, is like no other.
    func isSame(as other: String) -> Bool {
        guard let one = Identity(path), let two = Identity(other) else { return false }
        return one == two
    }

    /// Whether it is a folder, or lies below it.
    func isWithin(_ folder: String) -> Bool {
        guard let whole = Identity(folder), let resolved = unsafe realpath(path, nil) else {
            return false
        }
        defer { unsafe free(resolved) }
        let names = unsafe String(cString: resolved).split(separator: "/")
        return (0...names.count).contains { count in
            Identity("/" + names.prefix(count).joined(separator: "/")) == whole
        }
    }
}
