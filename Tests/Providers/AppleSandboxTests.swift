import Engine
import FoundationEssentials
import Lifecycle
import Sandbox
import TestSupport
import Testing
import Vault

@testable import HTTP
@testable import Providers

/// The machine's clock, by which stand-ins judge.
enum MachineClock {
    @Sendable static func now() -> WallTime {
        WallTime(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}

/// A provider against the stand-in, over real TLS and with the real signer.
enum SandboxHarness {
    static func with(
        _ apple: AppleConfiguration = AppleConfiguration(clientIDs: [
            AppleHarness.clientID, "com.example.web",
        ]),
        change: (inout AppleSetup) -> Void = { _ in },
        keyPEM: String? = nil,
        offset: Duration = .zero,
        body: (AppleProvider, RunningSandbox) async throws -> Void
    ) async throws {
        var configuration = SandboxConfiguration()
        configuration.apple = apple
        let sandbox = try await SandboxServer.start(configuration: configuration)
        var settings = AppleSetup(
            kind: AppleHarness.kind(sandbox.baseURL, teamID: apple.teamID, keyID: apple.keyID),
            http: RemoteSettings(name: ProviderName("apple")),
            clientIDs: apple.clientIDs
        )
        settings.http.caFile = sandbox.authorityFile
        change(&settings)
        settings.http.timeoutConnect = .seconds(120)
        settings.http.timeoutTotal = .seconds(120)
        let signer = try SigningKey(
            pem: Secret(keyPEM ?? sandbox.appleKeyPEM),
            credential: "apple-key.p8",
            algorithm: .es256
        )
        let now: @Sendable () -> WallTime = { MachineClock.now() + offset }
        do {
            try await AppleHarness.with(settings, signer: signer, now: now) { provider in
                try await body(provider, sandbox)
            }
        } catch {
            try await sandbox.shutdown()
            throw error
        }
        try await sandbox.shutdown()
    }

    static var unlimited: AppleConfiguration {
        var apple = AppleConfiguration(clientIDs: [AppleHarness.clientID, "com.example.web"])
        apple.refreshLimit = .off
        return apple
    }

    static func tokens(_ answer: ExchangeAnswer) -> ExchangedTokens? {
        guard case .exchanged(let tokens) = answer else { return nil }
        return tokens
    }
}

@Suite("Sign in with Apple against the stand-in")
struct AppleSandboxTests {
    @Test("a code becomes tokens, the token is live, is revoked, and is dead")
    func wholeLife() async throws {
        try await SandboxHarness.with(SandboxHarness.unlimited) { provider, sandbox in
            let signIn = try sandbox.signIn(user: "ann", clientID: AppleHarness.clientID)
            let code = AppleHarness.credential(.authorizationCode, signIn.code)
            let tokens = try #require(SandboxHarness.tokens(await provider.exchange(code)))
            #expect(tokens.subject?.exposeText() == signIn.subject)
            #expect(tokens.accessToken != nil)
            #expect(tokens.accessTokenLifetime == .seconds(3600))
            let refresh = AppleHarness.credential(
                .refreshToken,
                try #require(tokens.refreshToken).exposeText()
            )
            #expect(await provider.exchange(code).summary == "refused")
            #expect(await provider.check(refresh) == .live)
            #expect(sandbox.grantState(user: "ann") == .live)
            #expect(await provider.revoke(refresh) == .success)
            #expect(sandbox.grantState(user: "ann") == .revoked)
            #expect(await provider.check(refresh) == .dead)
            #expect(await provider.revoke(refresh) == .success)
            #expect(sandbox.log().count { $0.outcome == .revoked } == 1)
        }
    }

    @Test("an access token revokes too")
    func accessToken() async throws {
        try await SandboxHarness.with { provider, sandbox in
            let signIn = try sandbox.signIn(user: "ann", clientID: AppleHarness.clientID)
            let code = AppleHarness.credential(.authorizationCode, signIn.code)
            let tokens = try #require(SandboxHarness.tokens(await provider.exchange(code)))
            let access = AppleHarness.credential(
                .accessToken,
                try #require(tokens.accessToken).exposeText()
            )
            #expect(await provider.revoke(access) == .success)
            #expect(sandbox.grantState(user: "ann") == .revoked)
        }
    }

    @Test("a code is refused when it is too old or another client's, and kept to its redirect URI")
    func refusedCodes() async throws {
        try await SandboxHarness.with { provider, sandbox in
            let old = try sandbox.signIn(
                user: "old",
                clientID: AppleHarness.clientID,
                age: .seconds(301)
            )
            let web = try sandbox.signIn(
                user: "web",
                clientID: "com.example.web",
                redirectURI: "https://example.com/cb?a=b&c"
            )
            let refused = [
                AppleHarness.credential(.authorizationCode, old.code),
                AppleHarness.credential(.authorizationCode, web.code),
                AppleHarness.credential(
                    .authorizationCode,
                    web.code,
                    clientID: "com.example.web",
                    redirectURI: "https://example.com/other"
                ),
                AppleHarness.credential(.authorizationCode, "garbage"),
            ]
            for code in refused { #expect(await provider.exchange(code).summary == "refused") }
            let right = AppleHarness.credential(
                .authorizationCode,
                web.code,
                clientID: "com.example.web",
                redirectURI: "https://example.com/cb?a=b&c"
            )
            #expect(SandboxHarness.tokens(await provider.exchange(right)) != nil)
        }
    }

    @Test("a second check in a day is throttled")
    func checks() async throws {
        try await SandboxHarness.with { provider, sandbox in
            let token = try #require(
                try sandbox.issueRefreshTokens(count: 1, clientID: AppleHarness.clientID).first
            )
            let mine = AppleHarness.credential(.refreshToken, token.refreshToken)
            #expect(await provider.check(mine) == .live)
            #expect(await provider.check(mine) == .failure(.throttled(retryAfter: nil)))
            #expect(sandbox.grantState(user: token.user) == .live)
        }
    }

    @Test("a token that is stored under another of the client ids is found live and revoked")
    func wrongClientID() async throws {
        try await SandboxHarness.with(SandboxHarness.unlimited) { provider, sandbox in
            let tokens = try sandbox.issueRefreshTokens(count: 3, clientID: AppleHarness.clientID)
            let others = tokens.map {
                AppleHarness.credential(
                    .refreshToken,
                    $0.refreshToken,
                    clientID: "com.example.web"
                )
            }
            #expect(await provider.check(others[0]) == .live)
            #expect(await provider.revoke(others[0]) == .success)
            #expect(sandbox.grantState(user: tokens[0].user) == .revoked)
            #expect(await provider.check(others[0]) == .dead)
            // As after a restart: the check was made by another process.
            #expect(await provider.revoke(others[1]) == .success)
            #expect(sandbox.grantState(user: tokens[1].user) == .revoked)
            #expect(sandbox.grantState(user: tokens[2].user) == .live)
            let unknown = AppleHarness.credential(.refreshToken, "r.unknown")
            #expect(await provider.check(unknown) == .dead)
        }
    }

    @Test("a fault is failure and never an answer, and the next call is fine")
    func faults() async throws {
        let cases: [(FaultKind, EffectFailure)] = [
            (.reset, .lost), (.responseLost, .lost),
            (.throttled, .throttled(retryAfter: .seconds(1))),
            (.unavailable, .throttled(retryAfter: .seconds(1))), (.serverError, .unusable),
            (.html, .unusable), (.truncated, .lost), (.wrongContentType, .unusable),
        ]
        try await SandboxHarness.with(SandboxHarness.unlimited) { provider, sandbox in
            let token = try #require(
                try sandbox.issueRefreshTokens(count: 1, clientID: AppleHarness.clientID).first
            )
            let refresh = AppleHarness.credential(.refreshToken, token.refreshToken)
            for (kind, failure) in cases {
                sandbox.inject(kind, at: .token)
                #expect(await provider.check(refresh) == .failure(failure))
                #expect(await provider.check(refresh) == .live)
                let signIn = try sandbox.signIn(user: "code", clientID: AppleHarness.clientID)
                let code = AppleHarness.credential(.authorizationCode, signIn.code)
                sandbox.inject(kind, at: .token)
                #expect(await provider.exchange(code).summary == "failure \(failure)")
                let isSpent = await provider.exchange(code).summary == "refused"
                #expect(isSpent == kind.acts)
            }
        }
    }

    @Test("a call that is heard and not answered is failure, and the next call is fine")
    func silence() async throws {
        try await SandboxHarness.with(SandboxHarness.unlimited) { provider, sandbox in
            let token = try #require(
                try sandbox.issueRefreshTokens(count: 1, clientID: AppleHarness.clientID).first
            )
            let refresh = AppleHarness.credential(.refreshToken, token.refreshToken)
            let check: @Sendable () async -> String = { "\(await provider.check(refresh))" }
            #expect(try await Self.givenUp(sandbox, check) == "\(CheckAnswer.failure(.lost))")
            #expect(await provider.check(refresh) == .live)
            let signIn = try sandbox.signIn(user: "code", clientID: AppleHarness.clientID)
            let code = AppleHarness.credential(.authorizationCode, signIn.code)
            let exchange: @Sendable () async -> String = { await provider.exchange(code).summary }
            #expect(try await Self.givenUp(sandbox, exchange) == "failure \(EffectFailure.lost)")
            #expect(await provider.exchange(code).summary.hasPrefix("exchanged"))
        }
    }

    /// What a call answers that is cancelled once the stand-in has heard it and stays silent.
    private static func givenUp(
        _ sandbox: RunningSandbox,
        _ call: @escaping @Sendable () async -> String
    ) async throws -> String? {
        let count = sandbox.log().count
        sandbox.inject(.timeout, at: .token)
        return try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { await call() }
            let clock = ContinuousClock()
            let end = clock.now + .seconds(120)
            while sandbox.log().count == count {
                try #require(clock.now < end, "the stand-in has heard no call")
                try await clock.sleep(for: .milliseconds(10))
            }
            group.cancelAll()
            return try await group.next()
        }
    }

    @Test("no fault at revoke is a success")
    func revokeFaults() async throws {
        let kinds = [
            FaultKind.reset, .responseLost, .throttled, .unavailable, .serverError, .html,
        ]
        try await SandboxHarness.with { provider, sandbox in
            let tokens = try sandbox.issueRefreshTokens(
                count: kinds.count,
                clientID: AppleHarness.clientID
            )
            for (kind, token) in zip(kinds, tokens) {
                let refresh = AppleHarness.credential(.refreshToken, token.refreshToken)
                sandbox.inject(kind, at: .revoke)
                #expect(await provider.revoke(refresh) != .success)
                #expect((sandbox.grantState(user: token.user) == .revoked) == kind.acts)
                #expect(await provider.revoke(refresh) == .success)
                #expect(sandbox.grantState(user: token.user) == .revoked)
            }
        }
    }

    @Test(
        "with every fifth call failing, a success is always true and a live token never dead",
        arguments: 0..<3 as Range<UInt64>
    )
    func randomFaults(_ seed: UInt64) async throws {
        try await SandboxHarness.with(SandboxHarness.unlimited) { provider, sandbox in
            let tokens = try sandbox.issueRefreshTokens(count: 60, clientID: AppleHarness.clientID)
            let kinds = FaultKind.allCases.filter { $0 != .timeout && $0 != .delay }
            sandbox.inject(
                FaultPlan(rate: 0.2, kinds: kinds, endpoints: [.token, .revoke], seed: seed)
            )
            for token in tokens {
                let refresh = AppleHarness.credential(.refreshToken, token.refreshToken)
                #expect(await provider.check(refresh) != .dead)
                // 20 failures in a row have a chance of 1 in 10^14.
                for _ in 0..<20 where await provider.revoke(refresh) == .success {
                    #expect(sandbox.grantState(user: token.user) == .revoked)
                    break
                }
                #expect(sandbox.grantState(user: token.user) == .revoked)
                #expect(await provider.check(refresh) != .live)
            }
        }
    }

    @Test(
        "a clock that is minutes ahead of Apple's or behind it does no harm",
        arguments: [20, 60, 540, -540]
    )
    func clockApart(seconds: Int) async throws {
        try await SandboxHarness.with(offset: .seconds(seconds)) { provider, _ in
            #expect(await provider.diagnose() == nil)
        }
    }

    @Test("a fresh sign-in is verified with the published keys, and a new key is found")
    func verify() async throws {
        try await SandboxHarness.with { provider, sandbox in
            let first = try sandbox.signIn(user: "ann", clientID: AppleHarness.clientID)
            let order = SignIn(
                clientID: AppleHarness.clientID,
                idToken: Secret(first.idToken),
                rawNonce: Secret(first.rawNonce)
            )
            let verified = try await provider.verify(order)
            #expect(verified.subject.exposeText() == first.subject)
            let wrong = SignIn(
                clientID: AppleHarness.clientID,
                idToken: Secret(first.idToken),
                rawNonce: Secret("another")
            )
            #expect(await SignInTests.kind(provider, wrong) == .nonceMismatch)
            let other = SignIn(
                clientID: "com.example.web",
                idToken: Secret(first.idToken),
                rawNonce: Secret(first.rawNonce)
            )
            #expect(await SignInTests.kind(provider, other) == .wrongAudience)
        }
    }

    @Test("a diagnosis names a wrong key, team or client as a matter of set-up")
    func diagnose() async throws {
        try await SandboxHarness.with { provider, sandbox in
            #expect(await provider.diagnose() == nil)
            #expect(sandbox.log().filter { $0.endpoint == .token }.count == 2)
            sandbox.inject(.html, at: .keys)
            #expect(await provider.diagnose() == .unusable)
            sandbox.inject(.html, at: .keys)
            #expect(await provider.problem()?.text.contains("/auth/keys answered no set") == true)
        }
        try await SandboxHarness.with(keyPEM: Fixtures.serverKey) { provider, _ in
            #expect(await provider.diagnose()?.code == "client_refused")
        }
        let wrongs: [@Sendable (inout AppleSetup) -> Void] = [
            { $0.kind = AppleHarness.kind($0.kind.baseURL, teamID: "WRONG12345") },
            { $0.kind = AppleHarness.kind($0.kind.baseURL, keyID: "WRONG12345") },
            { $0.clientIDs = [AppleHarness.clientID, "com.example.unknown"] },
        ]
        for wrong in wrongs {
            try await SandboxHarness.with(change: wrong) { provider, _ in
                #expect(await provider.diagnose()?.code == "client_refused")
            }
        }
    }
}
