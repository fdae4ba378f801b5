import Glibc
import Testing

/// This test program, started again to be killed while it rotates.
final class Victim: Sendable {
    private static let variable = "EXPUNGED_TEST_VICTIM"
    /// The socket's end in the child.
    private static let childDescriptor: Int32 = 9

    private let pid: pid_t
    private let descriptor: Int32

    private init(pid: pid_t, descriptor: Int32) {
        self.pid = pid
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// In the child: the database.
    static var path: String? {
        guard let value = unsafe getenv(variable) else { return nil }
        return unsafe String(cString: value)
    }

    static func start(path: String) throws -> Victim {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], childDescriptor)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let filter = ["--testing-library", "swift-testing", "--filter", "KeyRotationTests/victim"]
        var arguments = unsafe (["tests"] + filter).map { unsafe strdup($0) } + [nil]
        var environment = unsafe [strdup("\(variable)=\(path)"), nil]
        defer {
            for index in 0..<(filter.count + 1) { unsafe free(arguments[index]) }
            unsafe free(environment[0])
        }
        var pid: pid_t = 0
        let result = unsafe posix_spawn(
            &pid,
            "/proc/self/exe",
            &actions,
            nil,
            &arguments,
            &environment
        )
        close(ends[1])
        try #require(result == 0)
        return Victim(pid: pid, descriptor: ends[0])
    }

    /// In the child: one byte for the parent, and no step until it answers; without it, the end.
    static func report() {
        var byte: UInt8 = 1
        _ = unsafe write(childDescriptor, &byte, 1)
        guard unsafe read(childDescriptor, &byte, 1) == 1 else { _exit(1) }
    }

    func kill() {
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) == -1, errno == EINTR {}
    }

    /// Lets the child take the next step.
    func goOn() {
        var byte: UInt8 = 1
        _ = unsafe send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// - Returns: `nil` at the end, or after five minutes of silence.
    func readByte() -> UInt8? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 300_000) == 1 else { return nil }
        var byte: UInt8 = 0
        return unsafe read(descriptor, &byte, 1) == 1 ? byte : nil
    }
}
