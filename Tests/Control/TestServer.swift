import Control
import ControlServer
import Glibc
import Logging
import NIOCore
import NIOPosix

/// A running server on two real sockets in a directory of its own.
struct TestServer: Sendable {
    let server: ControlServer
    let directory: String

    var submitPath: String { path(.submit) }
    var controlPath: String { path(.operator) }

    func path(_ role: ControlRole) -> String { Self.path(role, in: directory) }

    static func path(_ role: ControlRole, in directory: String) -> String {
        switch role {
        case .submit: directory + "/submit.sock"
        case .viewer: directory + "/viewer.sock"
        case .operator: directory + "/control.sock"
        }
    }

    /// Makes an empty directory and removes it, with what is in it, after `body`.
    static func inDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
        var template = Array("/tmp/expunged-control-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw TestFailure("no directory") }
        let directory = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        defer {
            for name in ["submit.sock", "viewer.sock", "control.sock", "other", "secret"] {
                unsafe unlink(directory + "/" + name)
            }
            unsafe rmdir(directory)
        }
        return try await body(directory)
    }

    /// Serves `backend` while `body` runs, then shuts down and waits for the end.
    ///
    /// `early` gets the directory: its sockets listen by then, and nobody is accepted yet.
    static func run<R: Sendable>(
        _ backend: FakeBackend,
        limits: ServerLimits = .forTests,
        in given: String? = nil,
        early: (String) async throws -> Void = { _ in },
        _ body: (TestServer) async throws -> R
    ) async throws -> R {
        guard let given else {
            return try await inDirectory { directory in
                try await run(backend, limits: limits, in: directory, early: early, body)
            }
        }
        let sockets = try sockets(in: given)
        try await early(given)
        let server = try await make(backend, limits, sockets, MultiThreadedEventLoopGroup.singleton)
        async let running: Void = server.run()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(TestServer(server: server, directory: given)))
        } catch {
            result = .failure(error)
        }
        server.shutDown()
        try await running
        return try result.get()
    }

    /// Serves `backend` on one event loop, which accepts connections in their order, and is cut
    /// after `body`: no grace is waited for.
    static func runOnOneLoop<R: Sendable>(
        _ backend: FakeBackend,
        limits: ServerLimits,
        _ body: (TestServer) async throws -> R
    ) async throws -> R {
        try await inDirectory { directory in
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let server = try await make(backend, limits, try sockets(in: directory), loop)
            // Cancelled at the end, which cuts every connection.
            async let _: Void = server.run()
            return try await body(TestServer(server: server, directory: directory))
        }
    }

    /// Serves on two event loops, the first of which has the socket for submissions.
    static func runOnTwoLoops<R: Sendable>(
        _ backend: FakeBackend,
        _ body: (TestServer, [any EventLoop]) async throws -> R
    ) async throws -> R {
        try await inDirectory { directory in
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
            let loops = Array(group.makeIterator())
            let server = try await make(backend, .forTests, try sockets(in: directory), group)
            async let running: Void = server.run()
            let result = try await body(TestServer(server: server, directory: directory), loops)
            try await running
            try await group.shutdownGracefully()
            return result
        }
    }

    private static func sockets(in directory: String) throws -> [ListeningSocket] {
        try [ControlRole.submit, .viewer, .operator].map { role in
            try ListeningSocket(binding: path(role, in: directory), role: role)
        }
    }

    private static func make(
        _ backend: FakeBackend,
        _ limits: ServerLimits,
        _ sockets: [ListeningSocket],
        _ group: any EventLoopGroup
    ) async throws -> ControlServer {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try await ControlServer(
            sockets: sockets,
            backend: backend,
            limits: limits,
            logger: logger,
            now: { Samples.time },
            group: group
        )
    }
}

extension ServerLimits {
    /// As in the service, but no test waits for the end of a server, and a slow machine cuts nobody
    /// off.
    static var forTests: ServerLimits {
        var limits = ServerLimits()
        limits.graceTimeout = .milliseconds(10)
        limits.firstGraceTimeout = .milliseconds(10)
        limits.headTimeout = .seconds(300)
        limits.bodyTimeout = .seconds(300)
        limits.answerTimeout = .seconds(300)
        limits.largeAnswerTimeout = .seconds(300)
        limits.idleTimeout = .seconds(300)
        limits.writeTimeout = .seconds(300)
        limits.lingerTimeout = .seconds(120)
        limits.drainTimeout = .seconds(300)
        return limits
    }
}

/// A test that cannot go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
