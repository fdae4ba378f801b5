import Encoding
import Lifecycle
import Testing

@testable import Control

extension ControlSuite {
    /// What viewers see, and what they do not.
    @Suite struct ViewerTests {
        /// What stands in the samples of the fake backend and names a person, or could.
        private static let planted = [
            "alice", "case 7", "disputed", "\"uid\":1000", "'posts_author'", "unlink", "dedline",
            "'editor'", "posts.editor", "posts/*", "answered as its configuration",
            "revoked by the vendor",
        ]

        private static func text(_ role: ControlRole, _ path: String) async throws -> String {
            let backend = FakeBackend(expecting: Set(Operation.allCases))
            return try await TestServer.run(backend) { server in
                let answer = try await RawConnection.ask(server.path(role), "GET", path)
                #expect(answer.status == 200, "\(path): \(answer.text)")
                return answer.text
            }
        }

        private static let paths =
            RouteTable.routes.filter(\.isViewable).map { route in
                route.path(route.parameterNames.map { $0 == "month" ? "2026-11" : "0" })
            }
            + ["/?request=\(Samples.requestID)", "/v1/requests?state=parked&limit=1"]

        @Test(arguments: paths)
        func `no answer to a viewer has what is planted`(path: String) async throws {
            let seen = try await Self.text(.viewer, path)
            let found = Self.planted.filter { seen.contains($0) }
            #expect(found.isEmpty, "\(path): \(found)")
        }

        @Test func `each planted text is in an answer to operators, or in a whole object`()
            async throws
        {
            var seen = ""
            for path in Self.paths { seen += try await Self.text(.operator, path) }
            for object in [Samples.fullRequest] {
                seen += object.json.compactText
            }
            #expect(Self.planted.filter { !seen.contains($0) } == [])
        }

        @Test func `the page of operators is that of viewers`() async throws {
            let path = "/?request=\(Samples.requestID)"
            #expect(try await Self.text(.viewer, path) == Self.text(.operator, path))
        }

        /// A new text of an answer fails here until somebody decides whether viewers may see it.
        @Test func `these texts are all that viewers see of a request, a hold or a component`() {
            let request = Samples.fullRequest.forViewers.json
            #expect(
                Self.textPaths(request) == [
                    "accepted_at", "blocked_by.error", "blocked_by.store", "created_at",
                    "deadline_at", "detail", "id", "identities.client_id",
                    "identities.failed_code.created_at",
                    "identities.failed_code.error", "identities.failed_code.outcome",
                    "identities.identity_id",
                    "identities.provider", "identities.state", "identities.updated_at",
                    "identities.verdict", "kind", "next_at", "state", "steps.answer.error",
                    "steps.ended_at",
                    "steps.kind", "steps.last_error", "steps.name", "steps.provider",
                    "steps.retry_at", "steps.started_at", "steps.state", "steps.store",
                    "steps.verdict", "unread_sources", "updated_at",
                ]
            )
            let hold = Samples.hold.forViewers.json
            #expect(Self.textPaths(hold) == ["name", "since", "store", "table"])
            let health = Samples.health("app-db").forViewers.json
            #expect(
                Self.textPaths(health) == [
                    "detail", "kind", "last_error", "last_failure_at", "last_success_at", "name",
                    "retry_at", "state",
                ]
            )
            let status = Samples.status.forViewers.json
            #expect(
                Self.textPaths(status) == [
                    "alarms", "guard.override_expires_at", "oldest_open_at", "oldest_open_id",
                    "refused_reload.refused_at", "started_at", "state", "version",
                ]
            )
        }

        private static func textPaths(_ value: JSONValue, _ path: String = "") -> [String] {
            switch value {
            case .string: [path]
            case .object(let members):
                Set(
                    members.flatMap {
                        textPaths($0.value, path.isEmpty ? $0.name : "\(path).\($0.name)")
                    }
                ).sorted()
            case .array(let items): Set(items.flatMap { textPaths($0, path) }).sorted()
            case .null, .bool, .integer, .number: []
            }
        }

        @Test func `a viewer who looks for a user learns nothing`() async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let answer = try await RawConnection.ask(
                    server.path(.viewer),
                    "GET",
                    "/v1/requests?user_id=alice"
                )
                #expect(answer.status == 403)
                #expect(answer.text.contains("viewers may not look for a user"))
            }
        }

        @Test func `a refusal says what the socket is for`() async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let answer = try await RawConnection.ask(
                    server.path(.viewer),
                    "POST",
                    "/v1/intake/pause"
                )
                #expect(answer.status == 403)
                #expect(answer.text.contains("the viewers' socket only reads"))
            }
        }
    }
}
