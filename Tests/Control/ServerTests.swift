import Control
import ControlServer
import Encoding
import Glibc
import Lifecycle
import Testing

extension ControlSuite {
    @Suite struct ServerTests {
        /// A body that each route accepts.
        private static func body(_ operation: Operation) -> String {
            switch operation {
            case .submitRequest: "{\"kind\":\"delete_account\",\"user_id\":\"alice\"}"
            case .putCredential: "{\"kind\":\"refresh_token\",\"secret\":\"s\"}"
            case .reauthorizeRequest: "{\"provider\":\"apple\",\"id_token\":\"t\"}"
            case .startReplay: "{\"since\":\"2026-11-21T08:00:00Z\"}"
            case .holdStore: "{\"store\":\"app-db\"}"
            case .abandonRequest: "{\"reason\":\"asked twice\"}"
            case .approveRequest: "{\"plan\":\"0123456789abcdef\"}"
            case .makePlan: "{\"user_id\":\"alice\"}"
            default: ""
            }
        }

        /// What the status page asks for, in this order.
        private static let pageCalls: [Operation] = [
            .status, .showPage, .listProviders, .listStores,
        ]

        private static func target(_ route: Route) -> String {
            route.path(
                route.parameterNames.map { name in
                    switch name {
                    case "id": Samples.requestID.description
                    case "from": "0"
                    case "message_id": "msg_12_0123456789abcdef"
                    case "month": "2026-11"
                    case "view": "all"
                    case "identity":
                        route.method == .put ? "apple" : Samples.identityID.description
                    default: "apple"
                    }
                }
            )
        }

        @Test(arguments: RouteTable.routes.map(\.operation), ControlRole.allCases)
        func `a route answers its role and refuses the other one before the body`(
            operation: Operation,
            role: ControlRole
        ) async throws {
            let route = RouteTable.route(operation)
            let isAllowed = route.allows(role)
            let asked = operation == .showPage ? Self.pageCalls : [operation]
            let backend = FakeBackend(expecting: isAllowed ? Set(asked) : [])
            try await TestServer.run(backend) { server in
                if operation == .watchAll || operation == .watchRequest, isAllowed { return }
                // A refused caller announces a body and never sends it.
                let fields = isAllowed || route.input == nil ? [] : ["Content-Length: 60000"]
                let answer = try await RawConnection.ask(
                    server.path(role),
                    route.method.rawValue,
                    Self.target(route),
                    body: isAllowed ? Self.body(operation) : "",
                    fields: fields
                )
                #expect(answer.status == (isAllowed ? route.successStatus : 403), "\(answer.text)")
                let isAsked = isAllowed && operation != .showAPI
                #expect(backend.calls.map(\.operation) == (isAsked ? asked : []))
                #expect(backend.calls.allSatisfy { $0.caller.uid == getuid() })
                #expect(backend.calls.allSatisfy { $0.caller.role == role })
                #expect(backend.calls.allSatisfy { !$0.caller.isHidden })
                #expect(isAllowed || answer.text.contains("\"code\":\"forbidden\""))
            }
        }

        @Test func `a submission answers 202 with its place and passes the key on`() async throws {
            let backend = FakeBackend(expecting: [.submitRequest])
            try await TestServer.run(backend) { server in
                let answer = try await RawConnection.ask(
                    server.submitPath,
                    "POST",
                    "/v1/requests",
                    body: Self.body(.submitRequest),
                    fields: [
                        "Content-Type: application/json; charset=utf-8", "Idempotency-Key: k1",
                    ]
                )
                #expect(answer.status == 202)
                #expect(answer.text.contains("\r\nlocation: /v1/requests/\(Samples.requestID)\r\n"))
                #expect(answer.text.contains("\"user_id\":\"alice\""))
                #expect(backend.calls.map(\.facts) == ["delete_account alice k1"])
            }
        }

        @Test(arguments: [
            (["Idempotency-Key: a", "Idempotency-Key: b"], 400, "malformed_idempotency_key"),
            (["Idempotency-Key: a b"], 400, "malformed_idempotency_key"),
            (["Idempotency-Key: "], 400, "malformed_idempotency_key"),
            (
                ["Idempotency-Key: \(String(repeating: "k", count: 256))"], 400,
                "malformed_idempotency_key"
            ),
            (["Content-Type: text/plain"], 415, "unsupported_media_type"),
        ])
        func `fields that a submission may not have are refused`(
            fields: [String],
            status: Int,
            code: String
        ) async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let answer = try await RawConnection.ask(
                    server.submitPath,
                    "POST",
                    "/v1/requests",
                    body: Self.body(.submitRequest),
                    fields: fields
                )
                #expect(answer.status == status)
                #expect(answer.text.contains("application/problem+json"))
                #expect(answer.text.contains("\"code\":\"\(code)\""))
            }
        }

        @Test(arguments: ControlProblem.Code.allCases)
        func `every problem is a problem document with its stable code`(
            code: ControlProblem.Code
        ) async throws {
            let backend = FakeBackend(expecting: [.status], problem: ControlProblem(code))
            try await TestServer.run(backend) { server in
                let answer = try await RawConnection.ask(server.submitPath, "GET", "/v1/status")
                #expect(answer.status == code.status)
                #expect(answer.text.contains("\r\ncontent-type: application/problem+json\r\n"))
                #expect(answer.text.contains("\"code\":\"\(code.rawValue)\""))
            }
        }

        @Test func `a HEAD gets the fields of a GET, and the connection goes on`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.health])) { server in
                try await RawConnection.with(server.submitPath) { connection in
                    let end = "Host: x\r\nConnection: close\r\n\r\n"
                    try await connection.send(
                        "HEAD /v1/health HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/health HTTP/1.1\r\n"
                            + end
                    )
                    let text = try #require(try await connection.readToEnd())
                    let parts = text.split(separator: "\r\n\r\n")
                    #expect(parts.count == 3)
                    #expect(parts[1] == parts[0] + "\r\nconnection: close")
                    #expect(parts[0].contains("\r\ncontent-length: \(parts[2].utf8.count)"))
                }
                let stranger = try await RawConnection.ask(server.submitPath, "HEAD", "/v1/status1")
                #expect(stranger.status == 404)
                #expect(stranger.text.hasSuffix("\r\n\r\n"))
                let path = server.controlPath
                let other = try await RawConnection.ask(path, "HEAD", "/v1/vault/rotate")
                #expect(other.status == 405)
                #expect(other.text.contains("\r\nallow: POST\r\n"))
            }
        }

        @Test func `a HEAD of a stream ends at once`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.watchAll])) { server in
                let answer = try await RawConnection.ask(server.controlPath, "HEAD", "/v1/events")
                #expect(answer.status == 200)
                #expect(answer.text.contains("\r\ncontent-type: text/event-stream\r\n"))
            }
        }

        @Test func `every answer says when it was made`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.health])) { server in
                for path in ["/v1/health", "/v1/nothing"] {
                    let answer = try await RawConnection.ask(server.submitPath, "GET", path)
                    #expect(answer.text.contains("\r\ndate: Sat, 21 Nov 2026 08:00:00 GMT\r\n"))
                }
            }
        }

        @Test func `the API describes itself`() async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let answer = try await RawConnection.ask(
                    server.submitPath,
                    "GET",
                    "/v1/openapi.json"
                )
                #expect(answer.text.hasSuffix("\r\n\r\n" + OpenAPIDocument.value.indentedText))
            }
        }

        @Test func `a stream without news stays alive, and goes on after an event`() async throws {
            var limits = ServerLimits.forTests
            limits.heartbeatInterval = .milliseconds(20)
            let backend = FakeBackend(expecting: [.watchAll])
            try await TestServer.run(backend, limits: limits) { server in
                for id in ["41", "x"] {
                    try await RawConnection.with(server.controlPath) { connection in
                        try await connection.send(
                            "GET /v1/events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: \(id)\r\n\r\n"
                        )
                        let text = try await connection.read(until: ": alive\n\n: alive\n\n")
                        #expect(text.contains("\r\n\r\n: alive\n\n"))
                    }
                }
            }
            #expect(backend.calls.map(\.facts) == ["after 41", "after 0"])
        }

        @Test func `paths, methods and sizes have their own problems`() async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let path = server.controlPath
                #expect(try await RawConnection.ask(path, "GET", "/v2").status == 404)
                let method = try await RawConnection.ask(path, "DELETE", "/v1/requests")
                #expect(method.status == 405)
                #expect(method.text.contains("\r\nallow: GET, HEAD, POST\r\n"))
                let large = try await RawConnection.ask(
                    path,
                    "POST",
                    "/v1/requests",
                    fields: ["Content-Length: 65537"]
                )
                #expect(large.status == 413)
                let query = try await RawConnection.ask(path, "GET", "/v1/status?x=1")
                #expect(query.status == 400)
                let id = try await RawConnection.ask(path, "GET", "/v1/requests/42")
                #expect(id.status == 404 && id.text.contains("request_not_found"))
                let user = try await RawConnection.ask(path, "GET", "/v1/users/a%00b/identities")
                #expect(user.status == 400 && user.text.contains("malformed_user_id"))
                let deep = String(repeating: "[", count: 30_000)
                let nested = try await RawConnection.ask(path, "POST", "/v1/requests", body: deep)
                #expect(nested.status == 400 && nested.text.contains("nested too deeply"))
            }
        }

        @Test func `a problem of the backend arrives as it is`() async throws {
            let problem = ControlProblem(
                .intakePaused,
                errors: [.init(field: "f", message: "m")],
                retryAfter: .seconds(7)
            )
            let backend = FakeBackend(expecting: [.submitRequest], problem: problem)
            try await TestServer.run(backend) { server in
                let answer = try await RawConnection.ask(
                    server.submitPath,
                    "POST",
                    "/v1/requests",
                    body: Self.body(.submitRequest)
                )
                #expect(answer.status == 503)
                #expect(answer.text.contains("\r\nretry-after: 7\r\n"))
                #expect(answer.text.contains("\"errors\":[{\"field\":\"f\",\"message\":\"m\"}]"))
            }
        }

        @Test func `pipelined requests are answered one by one in order`() async throws {
            let backend = FakeBackend(expecting: [.status, .metrics])
            try await TestServer.run(backend) { server in
                let text = try await RawConnection.with(server.controlPath) { connection in
                    let one = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
                    let two = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
                    let bad = "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                    try await connection.send(one + two + one + bad)
                    return try await connection.readToEnd()
                }
                let statuses = (text ?? "").split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
                #expect(statuses == ["200", "200", "200", "404"])
                #expect(backend.calls.map(\.operation) == [.status, .metrics, .status])
            }
        }

        @Test func `a chunked body is read and a half-closed peer is answered`() async throws {
            let backend = FakeBackend(expecting: [.submitRequest])
            try await TestServer.run(backend) { server in
                let text = try await RawConnection.with(server.submitPath) { connection in
                    try await connection.send(
                        "POST /v1/requests HTTP/1.1\r\nHost: x\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n"
                    )
                    let body = Self.body(.submitRequest)
                    try await connection.send(
                        "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                    )
                    shutdown(connection.descriptor, Int32(SHUT_WR))
                    return try await connection.readToEnd()
                }
                #expect(text?.hasPrefix("HTTP/1.1 202 ") == true)
            }
        }

        @Test func `sockets without a group are for their owner, whatever the umask`() async throws
        {
            let old = umask(0)
            defer { umask(old) }
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                var information = stat()
                for role in ControlRole.allCases {
                    unsafe stat(server.path(role), &information)
                    #expect(information.st_mode & 0o777 == 0o600)
                }
            }
        }

        @Test func `a socket of our own is for its owner, and for a group if one is given`()
            async throws
        {
            try await TestServer.inDirectory { directory in
                let path = directory + "/own.sock"
                var status = stat()
                close(try ListeningSocket(binding: path, role: .submit).descriptor)
                #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
                close(
                    try ListeningSocket(binding: path, group: getegid(), role: .submit).descriptor
                )
                #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
                #expect(status.st_gid == getegid())
            }
        }

        @Test func `a stale socket is replaced and anything else in the way is left alone`()
            async throws
        {
            try await TestServer.inDirectory { directory in
                let path = directory + "/submit.sock"
                let stale = try ListeningSocket(binding: path, role: .submit)
                close(stale.descriptor)
                let fresh = try ListeningSocket(binding: path, role: .submit)
                let adopted = try ListeningSocket(adopting: fresh.descriptor, role: .submit)
                #expect(adopted.ownedPath == nil)
                close(fresh.descriptor)
                let other = directory + "/other"
                let file = unsafe open(other, O_CREAT | O_WRONLY, 0o600)
                let refusal = #expect(throws: ControlServerError.self) {
                    try ListeningSocket(binding: other, role: .submit)
                }
                #expect(refusal?.kind == .pathOccupied)
                #expect(throws: ControlServerError.self) {
                    try ListeningSocket(adopting: file, role: .submit)
                }
                close(file)
            }
        }
    }
}
