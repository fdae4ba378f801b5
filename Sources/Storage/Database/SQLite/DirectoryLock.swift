import CLinux
import Glibc
import Lifecycle
import Synchronization

/// An exclusive lock on a directory's lock file.
///
/// It belongs to the open file description (`F_OFD_SETLK`, fcntl(2)), so the kernel drops it with
/// the process, however that ends. The file itself stays.
final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// A second in all: a process that was killed while it started a program leaves its lock to the
    /// child, until that has become the program.
    private static let triesMax = 100

    /// - Throws: ``StorageError`` of kind `inUse` when another process has it, else `unopenable`.
    init(
        path: String,
        rest: () -> Void = { _ = poll(nil, 0, Int32(RetryPolicy.directoryLock.first.milliseconds)) }
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
            let cause = "another process uses it"
            throw StorageError(.inUse, "lock the directory", at: path, cause: cause)
        }
        descriptor = Mutex(opened)
    }

    deinit { release() }

    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }
}
