import Glibc
import Testing

@testable import Systemd

@Suite("Socket activation")
struct SocketActivationTests {
    @Test("no sockets are fine, and so are all, or all but the viewers'")
    func accepted() throws {
        #expect(try SocketActivation(validating: []).descriptors.isEmpty)
        let listeners = try [Listener(), Listener(), Listener()]
        let named = Array(zip(["submit", "control", "viewer"], listeners.map(\.descriptor)))
        for count in [2, 3] {
            let activation = try SocketActivation(validating: Array(named.prefix(count)))
            #expect(activation.descriptors[.submit] == listeners[0].descriptor)
            #expect(activation.descriptors[.control] == listeners[1].descriptor)
            #expect(
                activation.descriptors[.viewer] == (count == 3 ? listeners[2].descriptor : nil)
            )
        }
        for listener in listeners {
            #expect(fcntl(listener.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test(
        "any other set of names is refused",
        arguments: [
            ["control"], ["submit"], ["viewer"], ["control", "viewer"], ["control", "control"],
            ["control", "submit", "submit"],
            ["control", "other"], ["expunged-control.socket", "expunged-submit.socket"], [""],
        ]
    )
    func names(_ names: [String]) throws {
        let listeners = try names.map { _ in try Listener() }
        let error = try #require(throws: SystemdError.self) {
            try SocketActivation(validating: Array(zip(names, listeners.map(\.descriptor))))
        }
        #expect([.unexpected, .missing].contains(error.kind))
    }

    @Test("only listening unix stream sockets are taken")
    func types() throws {
        let good = try Listener()
        let wrong = [
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0),
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0),
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0),
            unsafe open("/dev/null", O_RDONLY),
        ]
        defer { for descriptor in wrong { close(descriptor) } }
        for descriptor in wrong {
            let error = try #require(throws: SystemdError.self) {
                try SocketActivation(
                    validating: [("control", descriptor), ("submit", good.descriptor)])
            }
            #expect(error.kind == .wrongType)
            #expect("\(error)".contains("control"))
        }
    }
}

/// A listening unix stream socket in a directory of its own.
private final class Listener {
    let descriptor: Int32
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(directory.path)/s".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path)
        }
        let answer = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard answer == 0, listen(descriptor, 1) == 0 else {
            throw TemporaryDirectory.POSIXFailure()
        }
    }

    deinit { close(descriptor) }
}
