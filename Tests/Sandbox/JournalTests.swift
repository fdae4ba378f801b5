import FoundationEssentials
import NIOHTTP1
import Sandbox
import TestSupport
import Testing

@Suite("The log of calls")
struct JournalTests {
    @Test("every call is a line of the file, in order, and no line holds a token or a code")
    func file() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let tokens = try await fixture.exchange(signIn.code).json
            let token = String(try #require(tokens["refresh_token"]).dropFirst().dropLast())
            _ = try await fixture.refresh(token)
            _ = try await fixture.revoke(token)
            _ = try await fixture.revoke(token)
            _ = try await fixture.send(.GET, "/auth/keys")
            let text = try String(
                contentsOf: URL(fileURLWithPath: "\(fixture.sandbox.directory)/logs.jsonl"),
                encoding: .utf8
            )
            let records = try text.split(separator: "\n").map { line in
                try JSONDecoder().decode(CallRecord.self, from: Data(line.utf8))
            }
            #expect(records == fixture.sandbox.log())
            #expect(records.map(\.sequence) == [1, 2, 3, 4, 5])
            #expect(
                records.map(\.outcome) == [.exchanged, .validated, .revoked, .ignored, .served]
            )
            #expect(
                records.map(\.grantType)
                    == ["authorization_code", "refresh_token", nil, nil, nil]
            )
            #expect(records[0...3].allSatisfy { $0.subject == signIn.subject })
            #expect(records[0...3].allSatisfy { $0.clientID == SandboxFixture.clientID })
            #expect(records[1].token == records[2].token)
            #expect(records[1].token?.count == 16)
            for secret in [token, signIn.code, signIn.idToken] {
                #expect(!text.contains(secret))
            }
        }
    }

    @Test("a refusal is logged with its error, and the memory keeps the newest records only")
    func bounded() async throws {
        try await SandboxFixture.with { configuration in
            configuration.capacity = 3
        } body: { fixture in
            for number in 0..<5 {
                _ = try await fixture.exchange("code-\(number)")
            }
            let records = fixture.sandbox.log()
            #expect(records.map(\.sequence) == [3, 4, 5])
            #expect(fixture.sandbox.log(after: 4).map(\.sequence) == [5])
            #expect(records.allSatisfy { $0.error == "invalid_grant" && $0.status == 400 })
            #expect(throws: SandboxError.self) {
                try fixture.sandbox.issueRefreshTokens(count: 4)
            }
        }
    }

    @Test("a log file that cannot be written fails the shutdown, not the calls")
    func fullDisk() async throws {
        let error = await #expect(throws: SandboxError.self) {
            try await SandboxFixture.with { configuration in
                configuration.logFile = "/dev/full"
            } body: { fixture in
                let answer = try await fixture.send(.GET, "/auth/keys")
                #expect(answer.status == 200)
                #expect(fixture.sandbox.log().count == 1)
            }
        }
        #expect(error?.kind == .file)
    }
}
