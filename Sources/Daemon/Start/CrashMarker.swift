import CLinux
import Glibc
import Storage

/// Distinguishes a crash of our own from a kill, across the restart.
struct CrashMarker: Sendable {
    /// How the last process ended, if not in peace.
    enum End: String {
        /// By its own fault, which the same work may cause again.
        case crash = "own_crash"
        /// A mapped file lost a page, or its disk failed; no work causes that again.
        case busError = "bus_error"
        /// From outside, or by a power cut.
        case killed
    }

    let lastEnd: End

    /// Reads and clears the marker, and installs the handlers that set it.
    init(directory: String) throws(DaemonError) {
        let path = directory + "/crash-marker"
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw DaemonError(.state, "cannot open the crash marker at '\(path)' (errno \(errno))")
        }
        lastEnd = Self.end(descriptor)
        // The descriptor stays open until the process ends: a handler may write to it at any time.
        guard ftruncate(descriptor, 0) == 0, clinux_install_crash_marker(descriptor) >= 0 else {
            throw DaemonError(.state, "cannot set up the crash marker at '\(path)'")
        }
        // In front of that handler: a file that others cut short ends its own connection only.
        guard StateDatabase.surviveFaults() else {
            throw DaemonError(.state, "cannot set up a handler for SIGBUS (errno \(errno))")
        }
    }

    private static func end(_ descriptor: Int32) -> End {
        var mark = UInt8(0)
        guard unsafe pread(descriptor, &mark, 1, 0) == 1 else { return .killed }
        return Int32(mark) == SIGBUS ? .busError : .crash
    }
}
