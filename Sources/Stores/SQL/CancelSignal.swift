internal import Glibc

/// Wakes a thread that waits in poll(2) for a server, when its task is cancelled: a pipe.
final class CancelSignal: Sendable {
    /// Readable once the signal was fired; -1, and no wait ends early, without free descriptors.
    let descriptor: Int32
    private let writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        close(writeEnd)
    }

    /// Wakes whoever waits, now and later.
    func fire() {
        let byte: [UInt8] = [1]
        _ = unsafe write(writeEnd, byte, 1)
    }
}
