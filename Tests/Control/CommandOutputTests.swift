import Control
import ControlServer
import Encoding
import Glibc
import Lifecycle
import Testing

extension ControlSuite {
    /// What the program prints of an answer, and how it waits for one.
    @Suite struct CommandOutputTests {
        private static let id = Samples.requestID.description

        @Test(arguments: ["providers", "stores"])
        func `providers and stores are shown and acted on`(_ plural: String) async throws {
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

        @Test func `a check of all stores names what no rule deals with`() async throws {
            let backend = FakeBackend(expecting: [.checkStore, .listStores])
            try await TestServer.run(backend) { server in
                let one = try await ProgramRun.run(
                    ["stores", "check", "app-db"],
                    socket: server.controlPath
                )
                #expect(one.code == 14)
                #expect(
                    one.out.contains(
                        "\nuncovered: posts.editor: refers to 'users'\n"
                            + "sampled: posts/*: 20 of 30 were looked into\n"
                            + "not examined: letters: a lock\n"
                    )
                )
                let all = try await ProgramRun.run(
                    ["stores", "check"],
                    socket: server.controlPath
                )
                #expect(all.out.contains("NAME") && !all.out.contains("finding"))
            }
            #expect(backend.calls.map(\.operation).prefix(2) == [.checkStore, .listStores])
        }

        @Test func `suggested rules are printed as a file`() async throws {
            let backend = FakeBackend(expecting: [.suggestRules])
            try await TestServer.run(backend) { server in
                let made = try await ProgramRun.run(
                    ["stores", "suggest", "app-db", "--user-table", "users.id"],
                    socket: server.controlPath
                )
                #expect(made.code == 0 && made.out == "[[store]]\n")
            }
            #expect(backend.calls.map(\.facts) == ["users.id"])
        }

        @Test func `what a check advises is printed, and changes no exit code`() async throws {
            let backend = FakeBackend(expecting: [.checkStore])
            let advice = "column 'editor' of table 'posts' has no index"
            try await TestServer.run(backend) { server in
                let check = ["stores", "check", "cache"]
                let told = try await ProgramRun.run(check, socket: server.controlPath)
                #expect(told.code == 0 && told.err.isEmpty)
                #expect(told.out.hasSuffix("\nadvice: \(advice)\n"))
                let json = try await ProgramRun.run(check + ["--json"], socket: server.controlPath)
                let text = json.out.utf8
                let health = try TypedJSON.value(WireHealth.self, from: text, .snakeCase)
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
                    "revoke apple  done   2      proven   2026-11-21 08:00:00 UTC  1 s"
                        + "   2026-11-21 08:00:00 UTC  unreachable",
                    "next      2026-11-21 08:01:00 UTC (",
                    "code: apple: that of 2026-11-21 08:00:00 UTC expired: its exchange was",
                    "waits since: 2026-11-21 08:00:00 UTC (",
                    "waits for: a fresh sign-in of the user",
                    "not held: apple may have issued tokens for 1 code(s)",
                    " code(s) whose exchange brought no tokens",
                    "not held: apple may honor credentials that the service refused 2 time(s)",
                    "not read: queue app, spool; if that stays so to the end, submit the",
                    "forgotten: google, by uid 1000 at 2026-11-21T08:00:00.000Z",
                    "known since 2026-11-21T08:00:00.000Z: apple proven (consent-revoked): The",
                ] { #expect(outcome.out.contains(text), "\(text) in \(outcome.out)") }
                let json = try await ProgramRun.run(
                    ["show", Self.id, "--json"],
                    socket: server.controlPath
                )
                let text = json.out.utf8
                let request = try TypedJSON.value(WireRequest.self, from: text, .snakeCase)
                #expect(request == Samples.fullRequest)
            }
        }

        @Test(arguments: [
            (RequestState.completed, Int32(0)), (.parked, 10), (.rejected, 11), (.cancelled, 12),
        ])
        func `waiting ends with the code of the last state`(
            state: RequestState,
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

        @Test(arguments: [["wait", id], ["delete-account", "alice", "--wait"]])
        func `who waits for a limited time is told that the request continues`(
            words: [String]
        ) async throws {
            let backend = FakeBackend(
                expecting: [.submitRequest, .watchRequest, .showRequest],
                shown: [Samples.request(.revoking)]
            )
            try await TestServer.run(backend) { server in
                let limited = try await ProgramRun.run(
                    words + ["--timeout", "1"],
                    socket: server.controlPath
                )
                #expect(limited.code == 15)
                #expect(limited.out.contains("revoking"), "\(limited.out)")
                #expect(limited.err.hasPrefix("not ended in time; to wait on: expungectl wait 0"))
                for wrong in ["0", "soon", "86401"] {
                    let refused = try await ProgramRun.run(
                        words + ["--timeout", wrong],
                        socket: server.controlPath
                    )
                    #expect(refused.code == 64, "\(wrong)")
                }
            }
        }

        @Test func `a limit of time needs the wait`() async throws {
            let words = ["delete-account", "alice", "--timeout", "1"]
            let outcome = try await ProgramRun.run(words, socket: "/nowhere")
            #expect(outcome.code == 64 && outcome.err.contains("--timeout needs --wait"))
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

        private static func blocked(by kind: Obstacle.Kind, after tries: Int = 1) -> WireRequest {
            let found = Obstacle(kind, at: "posts", name: "author")
            var step = WireStep(name: "purge app-db", kind: .purge, state: .retrying)
            step.attempts = tries
            step.store = "app-db"
            step.lastError = kind.rawValue
            step.obstacle = found.text
            step.retryAt = Samples.time + .seconds(60 * tries)
            var request = Samples.request(.purging)
            request.updatedAt = Samples.time + .seconds(tries)
            request.blockedBy = [WireBlock(store: "app-db", error: kind.rawValue)]
            request.steps = [step]
            return request
        }

        @Test(arguments: Obstacle.Kind.allCases)
        func `a blocked purge is shown with what blocks it and what to do`(
            _ kind: Obstacle.Kind
        ) async throws {
            let request = Self.blocked(by: kind)
            let backend = FakeBackend(expecting: [.showRequest], shown: [request])
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["show", Self.id],
                    socket: server.controlPath
                )
                let obstacle = try #require(request.steps.first?.obstacle)
                for text in [
                    "purging (blocked)\n",
                    "\nblocked by: app-db: \(obstacle) (\(kind.rawValue)), again 2026-11-21 08:01",
                    "\nto mend it: ",
                    kind == .locked
                        ? "the request continues within 30 s\n"
                        : "; then: expungectl retry \(Self.id)"
                            + (kind == .spelling ? "; or submit the id as" : "\n"),
                ] { #expect(outcome.out.contains(text), "\(text) in \(outcome.out)") }
                #expect(!outcome.out.contains("expungectl stores check"))
            }
        }

        @Test(
            arguments: [
                (
                    "lost", nil,
                    "apple: lost; see the cause with: expungectl providers check apple\n"
                ),
                (
                    "lost", VendorAnswer(Refusal(status: 502)),
                    "apple: lost; the answer: 502; see since"
                ),
                (
                    "refused: 400 odd",
                    VendorAnswer(
                        Refusal(status: 400, error: "odd"),
                        words: "Not today",
                        isNamed: true
                    ),
                    "apple: refused: 400 odd; in its words: Not today; see since"
                ),
                (
                    nil, VendorAnswer(Refusal(status: 400, error: "odd"), words: "Not today"),
                    "apple: answered 400 odd: Not today\n"
                ),
            ] as [(String?, VendorAnswer?, String)]
        )
        func `a step that fails is shown with what the provider answered`(
            _ error: String?,
            _ answer: VendorAnswer?,
            _ line: String
        ) async throws {
            var step = WireStep(name: "revoke apple", kind: .revoke, state: .retrying, attempts: 1)
            step.provider = "apple"
            step.lastError = error
            step.answer = answer.map(WireAnswer.init)
            var request = Samples.request(.revoking)
            request.steps = [step]
            let backend = FakeBackend(expecting: [.showRequest], shown: [request])
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["show", Self.id],
                    socket: server.controlPath
                )
                #expect(outcome.out.contains("\n\(line)"), "\(outcome.out)")
                // The table has no words.
                #expect(outcome.out.split(separator: "Not today").count <= 2)
            }
        }

        @Test(arguments: [["wait", id], ["delete-account", "alice", "--wait", "--json"]])
        func `a person who waits reads once why a purge is blocked`(
            words: [String]
        ) async throws {
            let (subscribed, signal) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(
                expecting: [.submitRequest, .watchRequest, .showRequest],
                shown: [
                    Samples.request(.purging), Self.blocked(by: .trigger),
                    Self.blocked(by: .trigger, after: 2), Self.blocked(by: .permission),
                    Samples.request(.completed),
                ],
                onSubscribe: { signal.yield() }
            )
            try await TestServer.run(backend) { server in
                async let outcome = ProgramRun.run(words, socket: server.controlPath)
                for await _ in subscribed { break }
                for number in 1...4 { backend.send(Samples.event(Int64(number), state: .purging)) }
                let ended = try await outcome
                #expect(ended.code == 0)
                let lines = ended.err.split(separator: "\n")
                #expect(lines.count == 6, "\(ended.err)")
                for (line, beginning) in zip(
                    lines,
                    [
                        "2026-11-21 08:00:01 UTC  01900000-0000-7001  purging (blocked)",
                        "  blocked by: app-db: trigger 'author' of 'posts' (blocked_by_trigger)",
                        "  to mend it: change the trigger",
                        "2026-11-21 08:00:01 UTC  01900000-0000-7001  purging (blocked)",
                        "  blocked by: app-db: permission 'author' of 'posts' (blocked_by_perm",
                        "  to mend it: grant the permission",
                    ]
                ) { #expect(line.hasPrefix(beginning), "\(line)") }
            }
        }

        @Test func `a time within a second is now`() async throws {
            var request = Samples.request(.scheduled)
            request.nextAt = WallTime(unixMilliseconds: Int64(time(nil)) * 1000 + 86_400_500)
            request.createdAt = WallTime(unixMilliseconds: Int64(time(nil)) * 1000)
            let backend = FakeBackend(expecting: [.showRequest], shown: [request])
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["show", Self.id],
                    socket: server.controlPath
                )
                #expect(!outcome.out.contains("(0s ago)"), "\(outcome.out)")
                #expect(outcome.out.contains("\nbegins: "))
            }
        }
    }
}
