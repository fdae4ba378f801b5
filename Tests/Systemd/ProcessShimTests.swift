import CLinux
import FoundationEssentials
import Glibc
import Testing

/// The calls of CLinux, each against the real kernel.
@Suite("Linux shim")
struct ProcessShimTests {
    @Test("the peer of a socket is the process that made it")
    func peer() throws {
        var pair: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        var peer = clinux_peer()
        #expect(unsafe clinux_peer_of_socket(pair[0], &peer) == 0)
        #expect(peer.uid == getuid())
        #expect(peer.gid == getgid())
        #expect(peer.pid == getpid())
        #expect(unsafe clinux_peer_of_socket(-1, &peer) == -EBADF)
    }

    @Test("the login of a process is what /proc says, and nobody's once it is gone")
    func login() throws {
        let text = try String(contentsOfFile: "/proc/self/loginuid", encoding: .utf8)
        let expected = try #require(UInt32(text.prefix(while: \.isNumber)))
        var login: UInt32 = 0
        let answer = unsafe clinux_login_of_process(getpid(), -1, &login)
        #expect(answer == (expected == .max ? 0 : 1))
        #expect(answer == 0 || login == expected)
        // The largest pid that there can be is one more than this (proc_sys_kernel(5), pid_max).
        #expect(unsafe clinux_login_of_process(1 << 22, -1, &login) == -ESRCH)
    }

    @Test("a locked file cannot be locked again, not even by the same process, until it is closed")
    func lock() throws {
        let directory = try TemporaryDirectory()
        try directory.write("lock", [])
        let first = unsafe open("\(directory.path)/lock", O_RDWR)
        let second = unsafe open("\(directory.path)/lock", O_RDWR)
        defer { close(second) }
        #expect(clinux_lock_file(first) == 0)
        #expect(clinux_lock_file(second) == -EAGAIN)
        close(first)
        #expect(clinux_lock_file(second) == 0)
    }

    @Test("an event wakes once and times out afterwards")
    func event() {
        let event = clinux_event_make()
        defer { close(event) }
        #expect(clinux_event_signal(event) == 0)
        #expect(clinux_event_signal(event) == 0)
        #expect(clinux_event_wait(event, -1) == 0)
        #expect(clinux_event_wait(event, 0) == -ETIMEDOUT)
    }

    @Test("core dumps are forbidden")
    func cores() async {
        await #expect(processExitsWith: .exitCode(7)) {
            #expect(clinux_is_dumpable() == 1)
            #expect(clinux_forbid_core_dumps() == 0)
            exit(clinux_is_dumpable() == 0 ? 7 : 1)
        }
    }

    @Test("a crash of our own leaves its signal and still ends the process")
    func crash() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/crash"
        for (index, number) in [SIGSEGV, SIGABRT, SIGILL].enumerated() {
            await #expect(processExitsWith: .signal(number)) {
                [path = path as String, number = number as Int32] in
                let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                clinux_forbid_core_dumps()
                clinux_install_crash_marker(file)
                // libdispatch blocks SIGABRT on its threads; abort(3) unblocks it.
                if number == SIGABRT { abort() }
                raise(number)
            }
            let marks = try Data(contentsOf: URL(filePath: path))
            #expect(marks.count == index + 1)
            #expect(marks.last == UInt8(number))
        }
    }

    @Test("a crash of our own names its signal on standard error")
    func crashText() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/crash"
        let ended = await #expect(
            processExitsWith: .signal(SIGILL),
            observing: [\.standardErrorContent]
        ) { [path = path as String] in
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            clinux_forbid_core_dumps()
            clinux_install_crash_marker(file)
            raise(SIGILL)
        }
        let text = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
        #expect(text.contains("signal 04 ends expunged"))
    }

    @Test("descriptors are raised as far as the hard limit goes, and never lowered")
    func descriptors() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let before = clinux_raise_descriptors(Int.max)
            let lower = clinux_raise_descriptors(3)
            exit(before > 3 && lower == 3 && clinux_raise_descriptors(Int.max) == before ? 7 : 1)
        }
    }

    @Test("a failed precondition is a crash of our own")
    func trap() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/crash"
        await #expect(processExitsWith: .failure) { [path = path as String] in
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            clinux_forbid_core_dumps()
            clinux_install_crash_marker(file)
            preconditionFailure("planted")
        }
        #expect(try Data(contentsOf: URL(filePath: path)).count == 1)
    }

    @Test("the same signal from another process leaves nothing")
    func killed() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/crash"
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = path as String] in
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            clinux_forbid_core_dumps()
            clinux_install_crash_marker(file)
            // A shell of ours plays the watchdog of systemd.
            unsafe system("kill -ABRT \(getpid())")
            // Another thread may take it: wait for the end, which comes at once.
            clinux_event_wait(clinux_event_make(), 300_000)
            exit(1)
        }
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }
}
