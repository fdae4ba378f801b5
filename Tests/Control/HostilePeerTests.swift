import Control
import ControlServer
import Glibc
import Lifecycle
import NIOCore
import Testing

extension ControlSuite {
    @Suite struct HostilePeerTests {
        private static let post = "POST /v1/requests HTTP/1.1\r\nHost: x\r\n"
        private static let get = "GET /v1/status HTTP/1.1\r\nHost: x\r\n"

        @Test(arguments: [
            post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
            post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
            post + "Content-Length: 2, 2\r\n\r\n{}", post + "Content-Length: +2\r\n\r\n{}",
            post + "Content-Length: -2\r\n\r\n{}", post + "Content-Length: 0x2\r\n\r\n{}",
            post + "Content-Length: 99999999999999999999\r\n\r\n{}",
            post + "Content-Length : 2\r\n\r\n{}",
            post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
            post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n",
            post + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
            get + "X: a\r\n b\r\n\r\n", get + "X: a\u{0}b\r\n\r\n", get + "X y\r\n\r\n",
            get + ": y\r\n\r\n", get + "Host: y\r\n\r\n",
            get + "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
            "GET /v1/status HTTP/1.1\n\n", "GET /v1/status HTTP/1.1\nHost: x\n\n",
            "GET /v1/status HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
            "GET /v1/status HTTP/1.1\r\n\r\n", "GET /v1/status HTTP/1.0\r\nHost: x\r\n\r\n",
            "GET /v1/status HTTP/2.0\r\nHost: x\r\n\r\n", "GET /v1/status\r\n\r\n",
            "GET http://x/v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET //x/v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
            "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /v1/status#x HTTP/1.1\r\nHost: x\r\n\r\n",
            "\u{16}\u{3}\u{1}hello\r\n\r\n",
            "GET /v1/status HTTP/1.1 \r\nHost: x\r\n\r\n", " GET /v1/status HTTP/1.1\r\n\r\n",
        ])
        func `HTTP that two readers could read differently is refused and the line is cut`(
            _ text: String
        ) async throws {
            let backend = FakeBackend(expecting: [])
            try await TestServer.run(backend) { server in
                let follow = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
                let answer = try await RawConnection.with(server.controlPath) { connection in
                    try await connection.send(text + follow)
                    return try await connection.readToEnd()
                }
                #expect(answer?.hasPrefix("HTTP/1.1 400 ") == true, "\(answer ?? "nothing")")
                #expect(answer?.contains("connection: close") == true)
                #expect(answer?.split(separator: "HTTP/1.1 400 ").count == 1)
                #expect(backend.calls.isEmpty)
            }
        }

        @Test func `too large and too many fields are refused`() async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let many = (0..<65).map { "X\($0): y\r\n" }.joined()
                let large = "X: " + String(repeating: "y", count: 9000) + "\r\n"
                let long = "GET /v1/" + String(repeating: "y", count: 9000)
                for text in [
                    Self.get + many + "\r\n", Self.get + large + "\r\n",
                    long + " HTTP/1.1\r\n\r\n",
                ] {
                    let answer = try await RawConnection.with(server.controlPath) { connection in
                        try await connection.send(text)
                        return try await connection.readToEnd()
                    }
                    #expect(answer?.hasPrefix("HTTP/1.1 431 ") == true, "\(answer ?? "nothing")")
                }
            }
        }

        /// A short wait, so that a test sees it end; nothing else runs into the one it is set for.
        private static let moment = Duration.milliseconds(150)

        @Test(arguments: [
            ("GET /v1/st", "HTTP/1.1 408 "), (post + "Content-Length: 9\r\n\r\n{", "HTTP/1.1 408 "),
            ("", ""),
        ])
        func `a peer that stops sending is let go`(text: String, start: String) async throws {
            let backend = FakeBackend(expecting: [])
            var limits = ServerLimits.forTests
            switch text.last {
            case nil: limits.idleTimeout = Self.moment
            case "{"?: limits.bodyTimeout = Self.moment
            case _?: limits.headTimeout = Self.moment
            }
            try await TestServer.run(backend, limits: limits) { server in
                let answer = try await RawConnection.with(server.submitPath) { connection in
                    try await connection.send(text)
                    return try await connection.readToEnd()
                }
                #expect(answer != nil, "the connection stayed open")
                #expect(answer?.hasPrefix(start) == true)
                #expect(answer?.isEmpty == start.isEmpty)
            }
        }

        @Test func `a peer that never reads is let go`() async throws {
            let backend = FakeBackend(expecting: [.status])
            var limits = ServerLimits.forTests
            limits.writeTimeout = Self.moment
            try await TestServer.run(backend, limits: limits) { server in
                try await RawConnection.with(server.controlPath) { connection in
                    let flood = String(repeating: Self.get + "\r\n", count: 20_000)
                    // The server cuts the line in the middle of this, which ends the sending.
                    try await connection.send(flood)
                    let answer = try await connection.readToEnd()
                    #expect(answer != nil)
                }
                #expect(backend.calls.count < 20_000)
            }
        }

        @Test func `a backend that does not answer is not waited for without end`() async throws {
            let (leave, signalLeave) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.submitRequest],
                onSubmit: { for await _ in leave {} }
            )
            var limits = ServerLimits.forTests
            limits.answerTimeout = Self.moment
            try await TestServer.run(backend, limits: limits) { server in
                defer { signalLeave.finish() }
                let answer = try await RawConnection.ask(
                    server.submitPath,
                    "POST",
                    "/v1/requests",
                    body: "{\"kind\":\"revoke_tokens\",\"user_id\":\"a\"}"
                )
                #expect(answer.status == 503)
            }
        }

        @Test func `a plan is waited for longer than other answers, but not without end`()
            async throws
        {
            let (leave, signalLeave) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.makePlan],
                onSubmit: { for await _ in leave {} }
            )
            #expect(ServerLimits().planTimeout > ServerLimits().answerTimeout)
            var limits = ServerLimits.forTests
            limits.planTimeout = Self.moment
            try await TestServer.run(backend, limits: limits) { server in
                defer { signalLeave.finish() }
                let answer = try await RawConnection.ask(
                    server.controlPath,
                    "POST",
                    "/v1/plans",
                    body: "{\"user_id\":\"a\"}"
                )
                #expect(answer.status == 503)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `a plan that nobody waits for any more is given up`() async throws {
            let (never, keep) = AsyncStream.makeStream(of: Void.self)
            let (given, signalGiven) = AsyncStream.makeStream(of: Bool.self)
            let backend = FakeBackend(
                expecting: [.makePlan],
                onSubmit: {
                    signalGiven.yield(false)
                    for await _ in never {}
                    signalGiven.yield(Task.isCancelled)
                }
            )
            try await TestServer.run(backend) { server in
                try await RawConnection.with(server.controlPath) { connection in
                    let body = "{\"user_id\":\"a\"}"
                    try await connection.send(
                        "POST /v1/plans HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                    for await isCancelled in given {
                        #expect(!isCancelled)
                        break
                    }
                }
                for await isCancelled in given {
                    #expect(isCancelled)
                    break
                }
                keep.finish()
            }
        }

        @Test func `connections of one uid are bounded on each socket by itself`() async throws {
            var limits = ServerLimits.forTests
            limits.connectionsMax = 4
            let backend = FakeBackend(expecting: [.status])
            try await TestServer.run(backend, limits: limits) { server in
                try await RawConnection.with(server.submitPath) { first in
                    try await first.send(Self.get + "\r\n")
                    #expect(try await first.read(until: "}").hasPrefix("HTTP/1.1 200 "))
                    let second = try await RawConnection.with(server.submitPath) { second in
                        try await second.readToEnd()
                    }
                    #expect(second?.hasPrefix("HTTP/1.1 503 ") == true)
                    #expect(second?.contains("too_many_connections") == true)
                    let other = try await RawConnection.ask(
                        server.controlPath,
                        "GET",
                        "/v1/status"
                    )
                    #expect(other.status == 200)
                }
            }
        }

        @Test func `refused connections that stay are cut without an answer`() async throws {
            var limits = ServerLimits.forTests
            limits.connectionsMax = 4
            limits.refusedMax = 0
            let backend = FakeBackend(expecting: [.status])
            try await TestServer.run(backend, limits: limits) { server in
                try await RawConnection.with(server.submitPath) { first in
                    try await first.send(Self.get + "\r\n")
                    #expect(try await first.read(until: "}").hasPrefix("HTTP/1.1 200 "))
                    let second = try await RawConnection.with(server.submitPath) { second in
                        try await second.readToEnd()
                    }
                    #expect(second?.isEmpty == true)
                }
            }
        }

        @Test func `one uid has so many streams of all events`() async throws {
            var limits = ServerLimits.forTests
            limits.streamsPerUIDMax = 1
            limits.streamsMax = 1
            let backend = FakeBackend(expecting: [.watchAll])
            try await TestServer.run(backend, limits: limits) { server in
                try await RawConnection.with(server.controlPath) { first in
                    try await first.send("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try await first.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
                    let second = try await RawConnection.ask(
                        server.controlPath,
                        "GET",
                        "/v1/events"
                    )
                    #expect(second.status == 503)
                    #expect(second.text.contains("too_many_connections"))
                }
            }
        }

        @Test func `a request that is on its way when the server stops is answered`() async throws {
            let backend = FakeBackend(expecting: [.status])
            // It waits for both, however long the machine is held up before they have asked.
            var limits = ServerLimits.forTests
            (limits.graceTimeout, limits.firstGraceTimeout) = (.seconds(300), .seconds(300))
            try await TestServer.runOnOneLoop(backend, limits: limits) { server in
                // One has asked before, the other one has only connected.
                try await RawConnection.with(server.submitPath) { kept in
                    try await kept.send(Self.get + "\r\n")
                    #expect(try await kept.read(until: "}").hasPrefix("HTTP/1.1 200 "))
                    try await RawConnection.with(server.submitPath) { fresh in
                        // Who connected later was answered, so this one was accepted.
                        let later = try await RawConnection.ask(
                            server.submitPath,
                            "GET",
                            "/v1/status"
                        )
                        #expect(later.status == 200)
                        #expect(server.server.connectionCount >= 2)
                        server.server.shutDown()
                        for connection in [kept, fresh] {
                            try await connection.send(Self.get + "\r\n")
                        }
                        for connection in [kept, fresh] {
                            let answer = try await connection.readToEnd()
                            #expect(answer?.hasPrefix("HTTP/1.1 200 ") == true)
                            #expect(answer?.contains("connection: close") == true)
                        }
                    }
                }
            }
        }

        @Test func `shutting down answers what is in the making and closes the rest`() async throws
        {
            let busy = Busy()
            try await TestServer.run(busy.backend) { server in
                try await RawConnection.with(server.submitPath) { idle in
                    try await busy.connect(to: server) {
                        server.server.shutDown()
                        let end = try await idle.readToEnd()
                        #expect(end == "")
                    }
                }
            }
        }

        @Test func `one that was accepted right before the end, and not yet looked at, is closed`()
            async throws
        {
            let busy = Busy()
            try await TestServer.runOnTwoLoops(busy.backend) { server, loops in
                try await busy.connect(to: server) {
                    let (first, second) = (try Gate(), try Gate())
                    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                    loops[1].execute { first.pass() }
                    try await RawConnection.with(server.submitPath) { one in
                        try await RawConnection.with(server.submitPath) { other in
                            // A loop looks at its sockets before it runs what it is given.
                            try await loops[0].submit {}.get()
                            loops[1].execute {
                                begin.yield()
                                second.pass()
                            }
                            first.open()
                            for await _ in begun { break }
                            try await loops[0].submit {}.get()
                            server.server.shutDown()
                            // The listener ends before this, which is given later.
                            let grace = TimeAmount(ServerLimits.forTests.graceTimeout)
                            try await loops[0].scheduleTask(in: grace) {}.futureResult.get()
                            second.open()
                            let ends = [try await one.readToEnd(), try await other.readToEnd()]
                            #expect(ends == ["", ""])
                        }
                    }
                }
            }
        }

        /// Holds up a thread until it is opened.
        private struct Gate {
            private let ends: [Int32]

            init() throws {
                var ends: [Int32] = [-1, -1]
                guard unsafe pipe(&ends) == 0 else { throw TestFailure("no pipe: \(errno)") }
                self.ends = ends
            }

            /// Once; the gate is gone then.
            func pass() {
                var byte: UInt8 = 0
                while unsafe read(ends[0], &byte, 1) < 0, errno == EINTR {}
                for end in ends { close(end) }
            }

            func open() {
                var byte: UInt8 = 1
                while unsafe write(ends[1], &byte, 1) < 0, errno == EINTR {}
            }
        }

        /// A submission that is in the making.
        private struct Busy {
            let backend: FakeBackend
            private let entered: AsyncStream<Void>
            private let leave: AsyncStream<Void>.Continuation

            init() {
                let (entered, signalEntered) = AsyncStream.makeStream(of: Void.self)
                let (left, leave) = AsyncStream.makeStream(of: Void.self)
                (self.entered, self.leave) = (entered, leave)
                backend = FakeBackend(
                    expecting: [.submitRequest],
                    onSubmit: {
                        signalEntered.yield()
                        for await _ in left { break }
                    }
                )
            }

            /// Submits, and is answered after `body`, in which the server shuts down.
            func connect(to server: TestServer, _ body: () async throws -> Void) async throws {
                try await RawConnection.with(server.submitPath) { connection in
                    let text = "{\"kind\":\"revoke_tokens\",\"user_id\":\"a\"}"
                    try await connection.send(
                        HostilePeerTests.post + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
                    )
                    for await _ in entered { break }
                    try await body()
                    leave.yield()
                    let answer = try await connection.readToEnd()
                    #expect(answer?.hasPrefix("HTTP/1.1 202 ") == true)
                    #expect(answer?.contains("connection: close") == true)
                }
            }
        }
    }
}
