import AsyncHTTPClient
import Encoding
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Sandbox
import TestSupport
import Testing

@Suite("Faults")
struct FaultTests {
    @Test("the same seed fails the same calls in the same way; another seed fails others")
    func deterministic() {
        let decisions = { (seed: UInt64) in
            (0..<1000).map { FaultPlan(rate: 0.2, seed: seed).fault(forCall: $0) }
        }
        #expect(decisions(7) == decisions(7))
        #expect(decisions(7) != decisions(8))
        let kinds = decisions(7).compactMap(\.self)
        #expect((150...250).contains(kinds.count))
        #expect(Set(kinds) == Set(FaultKind.allCases))
    }

    @Test("calls fail over TLS as the plan says, in their order")
    func followsPlan() async throws {
        let plan = FaultPlan(
            rate: 0.5,
            kinds: [.serverError, .unavailable],
            endpoints: [.keys],
            seed: 7
        )
        try await SandboxFixture.with { configuration in
            configuration.faults = plan
        } body: { fixture in
            var seen: [UInt] = []
            for _ in 0..<20 {
                seen.append(try await fixture.send(.GET, "/auth/keys").status)
            }
            let expected: [UInt] = (UInt64(0)..<20).map { number in
                switch plan.fault(forCall: number) {
                case .serverError: 500
                case .unavailable: 503
                default: 200
                }
            }
            #expect(seen == expected)
            #expect(Set(seen) == [200, 500, 503])
        }
    }

    @Test("a token that cannot be served is answered 400, and others are served")
    func unserviceable() async throws {
        try await SandboxFixture.with { fixture in
            let tokens = try fixture.sandbox.issueRefreshTokens(count: 2)
            var plan = FaultPlan(rate: 0, endpoints: [.revoke])
            plan.unserviceable = [tokens[0].refreshToken]
            fixture.sandbox.inject(plan)
            for _ in 1...3 {
                let refused = try await fixture.revoke(tokens[0].refreshToken)
                #expect(refused.status == 400)
            }
            #expect(fixture.sandbox.grantState(user: tokens[0].user) == .live)
            #expect(try await fixture.revoke(tokens[1].refreshToken).status == 200)
            #expect(fixture.sandbox.grantState(user: tokens[1].user) == .revoked)
            let calls = fixture.sandbox.log().filter { $0.endpoint == .revoke }
            #expect(calls.map(\.status) == [400, 400, 400, 200])
        }
    }

    @Test(
        "a fault before acting answers what it should and leaves the grant alone",
        arguments: [
            (FaultKind.throttled, UInt(429)), (.unavailable, 503), (.serverError, 500),
            (.html, 200),
        ]
    )
    func answersBeforeActing(kind: FaultKind, status: UInt) async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            fixture.sandbox.inject(kind, at: .revoke)
            let answer = try await fixture.revoke(token)
            #expect(answer.status == status)
            let mayRetry = kind == .throttled || kind == .unavailable
            #expect(answer.headers["retry-after"] == (mayRetry ? ["1"] : []))
            #expect(answer.body.contains("<!DOCTYPE html>") == (kind == .html))
            #expect(fixture.sandbox.grantState(user: "user-1") == .live)
            #expect(fixture.sandbox.log().last?.fault == kind)
            #expect(fixture.sandbox.log().last?.outcome == CallRecord.Outcome.none)
            // One fault was ordered; the second call is spared.
            #expect(try await fixture.revoke(token).body.isEmpty)
            #expect(fixture.sandbox.grantState(user: "user-1") == .revoked)
        }
    }

    @Test(
        "a broken connection is an error for the caller; only the acting kinds cut the grant",
        arguments: [FaultKind.reset, .truncated, .responseLost, .timeout]
    )
    func broken(kind: FaultKind) async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            fixture.sandbox.inject(kind, at: .revoke)
            let isBroken = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await fixture.call("/auth/revoke", ["token": token])
                        return false
                    } catch {
                        return true
                    }
                }
                if kind == .timeout {
                    // The caller gives up, but not before the call was heard.
                    try await Self.heard(fixture.sandbox)
                    group.cancelAll()
                }
                return try await group.next() == true
            }
            #expect(isBroken)
            let state = fixture.sandbox.grantState(user: "user-1")
            #expect(state == (kind.acts ? .revoked : .live))
            #expect(fixture.sandbox.log().last?.fault == kind)
        }
    }

    private static func heard(_ sandbox: RunningSandbox) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(120)
        while sandbox.log().isEmpty {
            try #require(clock.now < end, "the sandbox has heard no call")
            try await clock.sleep(for: .milliseconds(10))
        }
    }

    @Test("a truncated token answer promises more than it sends")
    func truncatedBody() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            fixture.sandbox.inject(.truncated, at: .token)
            await #expect(throws: (any Error).self) {
                try await fixture.exchange(signIn.code)
            }
            // It acted: the code is spent.
            let again = try await fixture.exchange(signIn.code)
            #expect(try again.json["error_description"] == "'The code has already been used.'")
        }
    }

    @Test("the wrong content type and a delay come with the whole effect and the whole answer")
    func wholeAnswers() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            fixture.sandbox.inject(.wrongContentType, at: .token)
            let answer = try await fixture.exchange(signIn.code)
            #expect(answer.headers["content-type"] == ["text/plain"])
            let token = try #require(try answer.json["refresh_token"])
            var plan = FaultPlan(rate: 1, kinds: [.delay], limit: 1)
            plan.delayMilliseconds = 50
            fixture.sandbox.inject(plan)
            let start = ContinuousClock.now
            let revoked = try await fixture.revoke(String(token.dropFirst().dropLast()))
            #expect(ContinuousClock.now - start >= .milliseconds(45))
            #expect(revoked.status == 200)
            #expect(fixture.sandbox.grantState(user: "alice") == .revoked)
        }
    }

    @Test("a plan is read from JSON with its defaults, and nonsense is refused")
    func decoding() throws {
        let read = { (text: String) in
            try TypedJSON.value(FaultPlan.self, from: text.utf8, .snakeCase)
        }
        #expect(try read("{}") == .none)
        #expect(
            try read(#"{"rate": 0.2, "kinds": ["reset"], "endpoints": ["token"], "seed": 7}"#)
                == FaultPlan(rate: 0.2, kinds: [.reset], endpoints: [.token], seed: 7)
        )
        #expect(throws: (any Error).self) { try read(#"{"rate": 2}"#) }
        #expect(throws: (any Error).self) { try read(#"{"kinds": ["gremlins"]}"#) }
    }
}
