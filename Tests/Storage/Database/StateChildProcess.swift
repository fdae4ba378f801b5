import Glibc
import Lifecycle
import Testing

/// This test program, started again to be killed.
final class ChildProcess: Sendable {
    /// What the child does.
    enum Role: String {
        /// Submits and reports each acknowledged id.
        case submit
        /// Opens the database and reports `O`, or `R` when it is refused.
        case open
    }

    private static let roleVariable = "EXPUNGED_TEST_CHILD"
    private static let directoryVariable = "EXPUNGED_TEST_DIRECTORY"
    /// The pipe's end in the child; a write of 16 bytes is atomic (pipe(7), PIPE_BUF).
    private static let reportDescriptor: Int32 = 9

    private let pid: pid_t
    private let descriptor: Int32

    private init(pid: pid_t, descriptor: Int32) {
        self.pid = pid
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    static var role: Role? { variable(roleVariable).flatMap { Role(rawValue: $0) } }
    static var directory: String? { variable(directoryVariable) }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    static func start(_ role: Role, directory: String) throws -> ChildProcess {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], reportDescriptor)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let arguments = Strings(
            ["tests", "--testing-library", "swift-testing", "--filter", "StateCrashTests/victim"])
        let environment = Strings([
            "\(roleVariable)=\(role.rawValue)", "\(directoryVariable)=\(directory)",
        ])
        var pid: pid_t = 0
        let result = unsafe posix_spawn(
            &pid,
            "/proc/self/exe",
            &actions,
            nil,
            arguments.pointers,
            environment.pointers
        )
        close(ends[1])
        try #require(result == 0)
        return ChildProcess(pid: pid, descriptor: ends[0])
    }

    /// In the child: tells the parent.
    static func report(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            _ = unsafe write(reportDescriptor, buffer.baseAddress, buffer.count)
        }
    }

    func kill() {
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) == -1, errno == EINTR {}
    }

    /// Reads whole ids until there are so many or the child is gone.
    func readIDs(atLeast count: Int) -> [RequestID] {
        var ids: [RequestID] = []
        while ids.count < count, let bytes = readBytes(16) {
            let halves = [bytes[..<8], bytes[8...]].map {
                $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            ids.append(RequestID(TimeOrderedID(high: halves[0], low: halves[1])))
        }
        return ids
    }

    func readByte() -> UInt8? { readBytes(1)?.first }

    /// - Returns: `nil` at the end, or after five minutes of silence.
    private func readBytes(_ count: Int) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 300_000) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let received = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(descriptor, $0.baseAddress, count)
        }
        return received == count ? bytes : nil
    }
}

/// A NULL-terminated array of C strings.
@safe final class Strings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() { unsafe pointers[index] = strdup(text) }
        unsafe pointers[count] = nil
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
