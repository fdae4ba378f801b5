import CLinux
import Glibc

/// Tells a crash of our own from a kill from outside, across the restart.
struct CrashMarker: Sendable {
    /// Whether the last process ended by its own fault.
    let lastProcessCrashed: Bool

    /// Reads and clears the marker, and installs the handlers that set it.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: ``DaemonError`` of kind `state`.
    init(directory: String) throws(DaemonError) {
        let path = directory + "/crash-marker"
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw DaemonError(
                .state,
                ["cannot open the crash marker at '\(path)' (errno \(errno))"]
            )
        }
        lastProcessCrashed = lseek(descriptor, 0, SEEK_END) > 0
        // The descriptor stays open until the process ends: a handler may write to it at any time.
        guard ftruncate(descriptor, 0) == 0, clinux_install_crash_marker(descriptor) >= 0 else {
            throw DaemonError(.state, ["cannot set up the crash marker at '\(path)'"])
        }
    }
}
