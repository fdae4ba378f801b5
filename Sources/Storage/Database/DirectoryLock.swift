import CLinux
import Glibc
import Synchronization

/// An exclusive lock on a directory's lock file; held until released or until the last owner goes
/// away.
///
/// The lock belongs to the open file description (`F_OFD_SETLK`, fcntl(2)), so the kernel drops it
/// with the process, however it ends, and no clean-up is ever needed. The file itself stays.
final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// How often a lock that another process holds is tried again.
    ///
    /// A process that was killed while it started a program leaves its lock to the child, until
    /// that has become the program a moment later. With ``pauseMilliseconds`` a second in all.
    private static let triesMax = 100
    static let pauseMilliseconds: Int32 = 10

    /// Takes the lock, or waits for a second at most; `rest` waits between two tries.
    ///
    /// - Throws: ``StorageError`` of kind `inUse` when another process has it, else `unopenable`.
    init(
        path: String,
        rest: () -> Void = { _ = poll(nil, 0, DirectoryLock.pauseMilliseconds) }
    ) throws(StorageError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let opened = unsafe open(path, flags, 0o600)
        guard opened >= 0 else {
            throw StorageError(.unopenable, "open the lock file", at: path, errno: errno)
        }
        var result = clinux_lock_file(opened)
        for _ in 0..<Self.triesMax where result == -EAGAIN || result == -EACCES {
            rest()
            result = clinux_lock_file(opened)
        }
        guard result == 0 else {
            close(opened)
            guard result == -EAGAIN || result == -EACCES else {
                throw StorageError(.unopenable, "lock the directory", at: path, errno: -result)
            }
            throw StorageError(
                .inUse,
                "lock the directory",
                at: path,
                cause: "another process uses it"
            )
        }
        descriptor = Mutex(opened)
    }

    deinit { release() }

    /// Gives the directory back; later calls do nothing.
    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }
}
