import Control
import Encoding
import Lifecycle
import Testing

extension ControlSuite {
    /// What spares an operator typing and reading: short ids, suggestions, lines of 80 columns.
    @Suite struct CommandComfortTests {
        private static let prefix = String(Samples.requestID.description.prefix(4))

        private static func request(_ low: UInt64, _ state: RequestState = .parked) -> WireRequest {
            var request = WireRequest(
                id: RequestID(TimeOrderedID(high: 0x0190_0000_0000_7001, low: low)),
                kind: .deleteAccount,
                userID: "日本-\u{1b}[31m" + String(repeating: "long", count: 30),
                state: state,
                createdAt: Samples.time
            )
            request.detail = "needs_reauthentication"
            return request
        }

        @Test func `the beginning of an id is enough if it is unique`() async throws {
            let backend = FakeBackend(
                expecting: [.listRequests, .cancelRequest],
                shown: [Samples.request()]
            )
            try await TestServer.run(backend) { server in
                let words = ["cancel", Self.prefix.uppercased()]
                let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                #expect(outcome.code == 0 && outcome.err.isEmpty)
            }
            #expect(backend.calls.map(\.operation) == [.listRequests, .cancelRequest])
            #expect(backend.calls.first?.facts == "limit=10&id_prefix=\(Self.prefix)")
        }

        @Test func `an ambiguous beginning names the candidates and does nothing`() async throws {
            let found = [Self.request(0x8000_0000_0000_0001), Self.request(0x8100_0000_0000_0001)]
            let backend = FakeBackend(expecting: [.listRequests], shown: found)
            try await TestServer.run(backend) { server in
                let words = ["abandon", Self.prefix, "--reason", "x"]
                let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                #expect(outcome.code == 64 && outcome.out.isEmpty)
                for request in found {
                    #expect(outcome.err.contains(request.id.description.prefix(23)))
                }
                let end = "error: the ids of 2 requests begin with '0190'\n"
                #expect(outcome.err.contains(end + "hint: give more characters of the id\n"))
            }
        }

        @Test func `an id that begins like none is not found`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.listRequests])) { server in
                let outcome = try await ProgramRun.run(
                    ["show", "01a2ffff-0"],
                    socket: server.controlPath
                )
                #expect(outcome.code == 3)
                #expect(outcome.err.hasPrefix("error: no request has an id that begins with '01a2"))
            }
        }

        @Test(arguments: [
            (["stauts"], "'stauts' is no command of expungectl\nhint: did you mean 'status'?\n"),
            (["--socket", "/nowhere", "lits"], "hint: did you mean 'list'?\n"),
            (["delete_account", "a"], "hint: did you mean 'delete-account'?\n"),
            (["prov"], "hint: did you mean 'providers'?\n"),
            (["providers", "chek"], "hint: did you mean 'check'?\n"),
            (["explode"], "hint: see: expungectl --help\n"),
            (["help", "stauts"], "hint: did you mean 'status'?\n"),
            (["help", "providers", "chek"], "hint: did you mean 'check'?\n"),
        ])
        func `a mistyped command is refused with the nearest one`(
            words: [String],
            end: String
        ) async throws {
            let outcome = try await ProgramRun.run(words)
            #expect(outcome.code == 64 && outcome.out.isEmpty)
            #expect(outcome.err.hasSuffix(end), "\(outcome.err)")
        }

        @Test func `options of every command may stand before it`() async throws {
            try await TestServer.run(FakeBackend(expecting: [.status])) { server in
                let words = ["--socket", server.controlPath, "--json", "status"]
                let outcome = try await ProgramRun.run(words)
                let text = outcome.out.utf8
                let status = try TypedJSON.value(WireStatus.self, from: text, .snakeCase)
                #expect(outcome.code == 0 && status == Samples.status)
            }
        }

        @Test func `lines about requests have 80 columns, whatever the user id`() async throws {
            var blocked = Self.request(0x8200_0000_0000_0001, .purging)
            blocked.detail = nil
            blocked.blockedBy = [WireBlock(store: "app-db", error: "blocked_by_trigger")]
            let requests = [
                Self.request(0x8000_0000_0000_0001), Self.request(0x8100_0000_0000_0001, .revoking),
                blocked,
            ]
            let backend = FakeBackend(expecting: [.listRequests], shown: requests)
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["show", Self.prefix],
                    socket: server.controlPath
                )
                let lines = outcome.err.split(separator: "\n")
                #expect(lines.count > 3 && !outcome.err.contains("\u{1b}"))
                #expect(outcome.err.contains(" purging (blocked) "))
                for line in lines {
                    let wide = line.unicodeScalars.count { $0.value > 0x2e80 }
                    #expect(line.count + wide <= 80, "\(line)")
                }
            }
        }

        @Test(
            arguments: [
                ([.completed, .completed], 0), ([.completed, .parked], 10),
                ([.cancelled, .parked], 12),
            ] as [([RequestState], Int32)]
        )
        func `wait ends with the code of the first request that did not complete`(
            states: [RequestState],
            code: Int32
        ) async throws {
            // The fake backend repeats the last one.
            let backend = FakeBackend(
                expecting: [.watchRequest, .showRequest],
                shown: states.map { Samples.request($0) }
            )
            let id = Samples.requestID.description
            try await TestServer.run(backend) { server in
                let words = ["wait", id, id]
                let outcome = try await ProgramRun.run(words, socket: server.controlPath)
                #expect(outcome.code == code && outcome.err.isEmpty)
                for state in states { #expect(outcome.out.contains(state.rawValue)) }
            }
        }

        @Test func `watch prints one frame of 80 columns without colors`() async throws {
            let backend = FakeBackend(
                expecting: [.status, .listProviders, .listStores, .listRequests]
            )
            try await TestServer.run(backend) { server in
                let outcome = try await ProgramRun.run(
                    ["watch", "--once"],
                    socket: server.controlPath
                )
                #expect(outcome.code == 0 && outcome.err.isEmpty)
                for text in [
                    "\nalarms  ", "open    3 parked, 12 revoking\n",
                    "oldest  01900000-0000-7001, ", "PROVIDER  STATE", "STORE   STATE",
                    "broken (breaker)", "ID                  KIND",
                ] { #expect(outcome.out.contains(text), "\(text) in \(outcome.out)") }
                #expect(!outcome.out.contains("\u{1b}"))
                #expect(outcome.out.split(separator: "\n").allSatisfy { $0.count <= 80 })
            }
        }

        @Test func `completions ask the service for names and ids`() async throws {
            let backend = FakeBackend(expecting: [.listProviders, .listRequests])
            try await TestServer.run(backend) { server in
                let words = ["providers", "check", ""]
                let outcome = try await ProgramRun.run(
                    ["---completion", "providers", "check", "--", "positional@0", "2", "0"] + words,
                    socket: server.controlPath
                )
                #expect(outcome.out == "apple\n")
            }
            let outcome = try await ProgramRun.run(
                ["---completion", "show", "--", "positional@0", "1", "0", "show", ""]
            )
            #expect(outcome.code == 0 && outcome.err.isEmpty)
        }

        @Test(
            arguments: [
                (.accepted, nil, ["show", "cancel", "retry", "hold", "abandon"]),
                (.purging, nil, ["show", "retry", "hold"]),
                (.parked, "on_hold", ["show", "cancel", "retry", "hold", "release", "abandon"]),
                (.parked, "store_paused", ["show", "retry", "hold"]),
                (.parked, "without_keys", ["show", "retry", "hold", "abandon"]),
                (
                    .parked, "awaiting_approval",
                    ["show", "approve", "cancel", "retry", "hold", "abandon"]
                ),
                (
                    .parked, "needs_reauthentication",
                    ["show", "cancel", "retry", "hold", "abandon", "reauthorize"]
                ),
                (.completed, nil, ["show", "receipt"]),
                (.completed, "data_returned", ["show", "retry", "receipt"]),
                (.cancelled, nil, ["show"]),
            ] as [(RequestState, String?, [String])]
        )
        func `a command is offered the requests that it accepts`(
            state: RequestState,
            detail: String?,
            verbs: [String]
        ) async throws {
            let request = Samples.request(state, detail: detail)
            let backend = FakeBackend(expecting: [.listRequests], shown: [request])
            let all = [
                "show", "approve", "cancel", "retry", "hold", "release", "abandon", "reauthorize",
                "receipt",
            ]
            let prefix = String(request.id.description.prefix(4))
            let offering = try await TestServer.run(backend) { server in
                var offering: [String] = []
                for verb in all {
                    let outcome = try await ProgramRun.run(
                        ["---completion", verb, "--", "positional@0", "1", "4", verb, prefix],
                        socket: server.controlPath
                    )
                    if outcome.out == "\(request.id)\n" { offering.append(verb) }
                }
                return offering
            }
            #expect(offering == all.filter(verbs.contains))
        }
    }
}
