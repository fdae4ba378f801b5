import Glibc

/// A file system of a few pages, for a disk that is full.
enum Tmpfs {
    static func mount(at directory: String, byteCount: Int) -> Bool {
        unsafe Glibc.mount("tmpfs", directory, "tmpfs", 0, "size=\(byteCount)") == 0
    }

    static func resize(_ directory: String, byteCount: Int) -> Bool {
        unsafe Glibc.mount("tmpfs", directory, "tmpfs", UInt(MS_REMOUNT), "size=\(byteCount)")
            == 0
    }

    static func unmount(_ directory: String) {
        unsafe umount2(directory, Int32(MNT_DETACH))
    }
}
