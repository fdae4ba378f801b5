import Control
import ControlServer
import FoundationEssentials
import Glibc
import Lifecycle
import Testing

extension ControlSuite {
    /// What the program prints of an answer, and how it waits for one.
    @Suite struct CommandOutputTests {
        private static let id = Samples.requestID.description

        @Test(arguments: ["providers", "targets"])
        func `providers and targets are shown and acted on`(_ plural: String) async throws {
            let backend = FakeBackend(expecting: Set(Operation.allCases))
            try await TestServer.run(backend) { server in
                for words in [[plural], [plural, "pause", "x"], [plural, "check", "x"]] {
                    let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                    #expect(outcome.code == 0 && outcome.err.isEmpty)
                    #expect(outcome.out.contains("broken (breaker)  1/64       9        2026-"))
                }
            }
            #expect(backend.calls.count == 3)
        }

        @Test func `a check of all targets names what no rule deals with`() async throws {
            let backend = FakeBackend(expecting: [.checkTarget, .listTargets])
            try await TestServer.run(backend) { server in
                let one = try await ProgramRun.run(
                    ["targets", "check", "app-db"],
                    socket: server.controlPath
                )
                #expect(one.code == 14)
                #expect(
                    one.out.contains(
                        "\nuncovered: posts.editor: refers to 'users'\n"
                            + "sampled: posts/*: 20 of 30 were looked into\n"
                    )
                )
                let all = try await ProgramRun.run(
                    ["targets", "check"],
                    socket: server.controlPath
                )
                #expect(all.out.contains("NAME") && !all.out.contains("finding"))
            }
            #expect(backend.calls.map(\.operation).prefix(2) == [.checkTarget, .listTargets])
        }

        @Test func `what a check advises is printed, and changes no exit code`() async throws {
            let backend = FakeBackend(expecting: [.checkTarget])
            let advice = "column 'editor' of table 'posts' has no index"
            try await TestServer.run(backend) { server in
                let check = ["targets", "check", "cache"]
                let told = try await ProgramRun.run(check, socket: server.controlPath)
                #expect(told.code == 0 && told.err.isEmpty)
                #expect(told.out.hasSuffix("\nadvice: \(advice)\n"))
                let json = try await ProgramRun.run(check + ["--json"], socket: server.controlPath)
                let health = try JSONDecoder().decode(WireHealth.self, from: Data(json.out.utf8))
                #expect(json.code == 0 && health.advice == [advice])
            }
        }

        @Test func `show prints identities, steps and what the user can do`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.showRequest])) { server in
                let outcome = try await ProgramRun.run(
                    ["show", Self.id],
                    socket: server.controlPath
                )
                #expect(outcome.code == 0)
                for text in [
                    "state     parked (needs_reauthentication)", "deadline  2026-12-21",
                    "apple: unlink \"it\" https://example.com/unlink",
                    "revoke apple  done   2      proven   2026-11-21 08:00:00 UTC  1000 ms"
                        + "  2026-11-21 08:00:00 UTC  unreachable",
                    "next      2026-11-21 08:01:00 UTC (",
                    "code: apple: that of 2026-11-21 08:00:00 UTC expired: 3 exchange(s) did not",
                    "waits since: 2026-11-21 08:00:00 UTC (",
                    "waits for: a fresh sign-in of the user",
                    "not held: apple may have issued tokens for 1 code(s)",
                    "not held: apple may honor credentials that the service refused 2 time(s)",
                    "forgotten: google, by uid 1000 at 2026-11-21T08:00:00.000Z",
                    "known since 2026-11-21T08:00:00.000Z: apple proven (consent-revoked): The",
                ] { #expect(outcome.out.contains(text), "\(text) in \(outcome.out)") }
                let json = try await ProgramRun.run(
                    ["show", Self.id, "--json"],
                    socket: server.controlPath
                )
                let request = try JSONDecoder().decode(
                    WireRequest.self,
                    from: Data(json.out.utf8)
                )
                #expect(request == Samples.fullRequest)
            }
        }

        @Test(arguments: [
            (WireState.completed, Int32(0)), (.parked, 10), (.rejected, 11), (.cancelled, 12),
        ])
        func `waiting ends with the code of the last state`(
            state: WireState,
            code: Int32
        )
            async throws
        {
            let (subscribed, signal) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.submitRequest, .watchRequest, .showRequest],
                shown: [Samples.request(.revoking), Samples.request(state, detail: "on_hold")],
                onSubscribe: { signal.yield() }
            )
            try await TestServer.run(backend) { server in
                async let outcome = ProgramRun.run(
                    ["delete-account", "alice", "--wait"],
                    socket: server.controlPath
                )
                for await _ in subscribed { break }
                backend.send(Samples.event(1, state: state))
                let ended = try await outcome
                #expect(ended.code == code && ended.err.isEmpty)
                #expect(ended.out.contains("state    \(state.rawValue) (on_hold)"))
            }
        }

        @Test func `a waiting client does not show the user id in its command line`() async throws {
            let (subscribed, signal) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.submitRequest, .watchRequest, .showRequest],
                shown: [Samples.request(.revoking), Samples.request(.completed)],
                onSubscribe: { signal.yield() }
            )
            try await TestServer.run(backend) { server in
                async let outcome = ProgramRun.run(
                    ["delete-account", "opaque-user-7", "--wait"],
                    socket: server.controlPath
                )
                for await _ in subscribed { break }
                let lines = try ProcessTable.commandLines(ofChildrenOf: getpid())
                #expect(lines.contains { $0.contains("expungectl ") })
                #expect(!lines.contains { $0.contains("opaque-user-7") })
                backend.send(Samples.event(1, state: .completed))
                #expect(try await outcome.code == 0)
            }
        }
    }
}
