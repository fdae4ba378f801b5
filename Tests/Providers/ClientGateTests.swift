import Engine
import Lifecycle
import Synchronization
import Testing

@testable import HTTP
@testable import Providers

/// One client id or directory that the provider refuses, beside another one that it takes.
@Suite("A refused client keeps nobody else waiting")
struct ClientGateTests {
    private static let bad = "com.example.bad"
    private static let good = "com.example.good"

    private static func credential(_ kind: CredentialKind, of client: String) -> OpenCredential {
        OpenCredential(kind: kind, clientID: client, secret: Secret("secret-of-\(client)"))
    }

    @Test("Apple: a client whose key was revoked waits alone, and is asked again after a pause")
    func apple() async throws {
        let isMended = Mutex(false)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.contains("client_id=\(Self.bad)"), !isMended.withLock({ $0 }) {
                return Golden.error("invalid_client")
            }
            if request.hasPrefix("GET /auth/keys") { return .json(200, IDTokenGenerator.jwks) }
            if request.hasPrefix("POST /auth/revoke") { return .http(200) }
            return request.contains("secret-of")
                ? Golden.text(Golden.tokens) : Golden.error("invalid_grant")
        }
        let time = ManualTime()
        try await RawServer.with(react: react) { server in
            let settings = AppleHarness.settings(
                "http://127.0.0.1:\(server.port)",
                clientIDs: [Self.bad, Self.good]
            )
            try await AppleHarness.with(settings, now: { time.now }) { provider in
                let answer = Refusal(status: 400, error: "invalid_client", client: Self.bad)
                let refused = EffectFailure.refusesAll(answer)
                let token = Self.credential(.refreshToken, of: Self.bad)
                #expect(await provider.revoke(token) == .failure(refused))
                #expect(provider.refusedClients.map(\.answer) == [answer])
                let count = server.requests.count
                #expect(await provider.revoke(token) == .failure(refused))
                #expect(await provider.check(token) == .failure(refused))
                let code = Self.credential(.authorizationCode, of: Self.bad)
                #expect(await provider.exchange(code).failure == refused)
                #expect(server.requests.count == count)
                // A clock that goes back must not make the pause longer.
                time.advance(by: .seconds(-3600))
                #expect(await provider.revoke(token) == .failure(refused))
                #expect(server.requests.count > count)
                time.advance(by: .seconds(3600))
                // The others are served meanwhile, and the check names the client.
                let other = Self.credential(.authorizationCode, of: Self.good)
                #expect(await provider.exchange(other).failure == nil)
                let goodToken = Self.credential(.refreshToken, of: Self.good)
                #expect(await provider.check(goodToken) == .live)
                #expect(await provider.revoke(goodToken) == .success)
                let problem = try #require(await provider.problem())
                #expect(problem.failure == refused)
                #expect(problem.text.contains("'\(Self.bad)': 400 invalid_client"))
                isMended.withLock { $0 = true }
                time.advance(by: .seconds(60))
                #expect(await provider.exchange(code).failure == nil)
                #expect(await provider.revoke(token) == .success)
                #expect(provider.refusedClients.isEmpty)
                #expect(server.requests.count(where: { $0.contains("/auth/keys") }) <= 1)
            }
        }
    }

    @Test("a directory that hangs waits alone while another one is answered")
    func directory() async {
        let time = ManualTime()
        let gate = ClientGate(isOfDirectories: true, now: { time.now })
        for failure in [EffectFailure.lost, .unreachable, .unusable] {
            let answer = await gate.pass(Self.bad, of: failure.code) {
                CheckAnswer.failure(failure)
            }
            #expect(answer == .failure(failure), "the provider may be away")
        }
        let served = await gate.pass(Self.good) { CheckAnswer.live }
        #expect(served == .live)
        let reason = Refusal(status: nil, error: EffectFailure.lost.reason, client: Self.bad)
        let alone = await gate.pass(Self.bad) { CheckAnswer.failure(.lost) }
        #expect(alone == .failure(.refusesAll(reason)))
        #expect(gate.refusedClients.map(\.answer) == [reason])
        let uncalled = await gate.pass(Self.bad) { CheckAnswer.live }
        #expect(uncalled == alone)
        time.advance(by: Limits.outageDoubt)
        let later = await gate.pass(Self.bad) { CheckAnswer.failure(.lost) }
        #expect(later == alone, "it waits alone until it answers")
        time.advance(by: Limits.outageDoubt)
        let back = await gate.pass(Self.bad) { CheckAnswer.live }
        #expect(back == .live)
        _ = await gate.pass(Self.good) { CheckAnswer.live }
        time.advance(by: Limits.outageDoubt)
        for _ in 1...4 {
            let answer = await gate.pass(Self.bad) { CheckAnswer.failure(.lost) }
            #expect(answer == .failure(.lost), "what was answered long ago says nothing")
        }
    }

    @Test("a directory that hangs waits alone once another one is answered, however rarely")
    func rareAnswers() async {
        let time = ManualTime()
        let gate = ClientGate(isOfDirectories: true, now: { time.now })
        for _ in 1...3 { _ = await gate.pass(Self.bad) { CheckAnswer.failure(.lost) } }
        time.advance(by: Limits.outageBackoffMax)
        _ = await gate.pass(Self.good, of: "good") { CheckAnswer.live }
        time.advance(by: Limits.outageBackoffMax)
        let alone = await gate.pass(Self.bad, of: "one") { CheckAnswer.failure(.lost) }
        #expect(alone.failure?.code == "client_refused")
    }

    @Test("two users whose answers are of no use keep no directory waiting")
    func twoUsers() async {
        let gate = ClientGate(isOfDirectories: true, now: { ManualTime().now })
        _ = await gate.pass(Self.good, of: "good") { CheckAnswer.live }
        for _ in 1...9 {
            for user in ["bad", "second"] {
                let answer = await gate.pass(Self.bad, of: user) { CheckAnswer.failure(.unusable) }
                #expect(answer == .failure(.unusable))
            }
        }
        #expect(gate.refusedClients.isEmpty)
        let other = await gate.pass(Self.bad, of: "third") { CheckAnswer.failure(.unusable) }
        #expect(other.failure?.code == "client_refused")
    }

    @Test(
        "OAuth 2: `deleted_client` and its kind wait alone, and the vendor's code is shown",
        arguments: [
            (#"{"error":"deleted_client","error_description":"x"}"#, "deleted_client"),
            (#"{"error":"disabled_client"}"#, "disabled_client"),
            (
                #"{"error":"invalid_client","error_codes":[7000222],"error_description":"x"}"#,
                "invalid_client/AADSTS7000222"
            ),
        ]
    )
    func oauth2(body: String, code name: String) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.contains("client_id=\(Self.bad)") { return .json(401, body) }
            if request.hasPrefix("POST /revoke") { return .http(200) }
            return request.contains("secret-of")
                ? Golden.text(Golden.tokens) : Golden.error("invalid_grant")
        }
        try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.at(server, .standard)
            settings.clients = [Self.bad, Self.good].map {
                OAuth2Client(id: $0, authentication: .post(Secret("app-secret")))
            }
            try await OAuth2Harness.with(settings) { provider in
                let code = Self.credential(.authorizationCode, of: Self.bad)
                let failure = try #require(await provider.exchange(code).failure)
                #expect(failure.code == "client_refused")
                #expect(failure.reason == "client_refused: '\(Self.bad)': 401 \(name)")
                let token = Self.credential(.refreshToken, of: Self.bad)
                #expect(await provider.revoke(token) == .failure(failure))
                let other = Self.credential(.authorizationCode, of: Self.good)
                #expect(await provider.exchange(other).failure == nil)
                let goodToken = Self.credential(.refreshToken, of: Self.good)
                #expect(await provider.revoke(goodToken) == .success)
                let problem = try #require(await provider.problem())
                #expect(problem.failure == failure)
                #expect(problem.text.contains(Self.bad))
                #expect(problem.text.contains(name))
            }
        }
    }

    @Test("Microsoft: a directory without consent waits alone; personal accounts need no call")
    func microsoft() async throws {
        let (tenant, other) = (MicrosoftHarness.tenant, MicrosoftHarness.other)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /\(tenant)/") {
                return .json(400, #"{"error":"unauthorized_client","error_codes":[700016]}"#)
            }
            if request.contains("client_credentials") { return Golden.text(Golden.tokens) }
            if request.hasPrefix("POST ") { return Golden.error("invalid_grant") }
            if request.contains("servicePrincipals(") {
                return .json(200, #"{"id":"\#(MicrosoftHarness.principal)"}"#)
            }
            return .json(200, #"{"value":[]}"#)
        }
        let tenants = [tenant, other]
        try await MicrosoftHarness.with(graphTenants: tenants, react: react) { provider, _ in
            func credential(_ subject: String) -> OpenCredential {
                FamilyHarness.credential(
                    .refreshToken,
                    "t0ken",
                    client: MicrosoftHarness.client,
                    subject: subject
                )
            }
            let answer = Refusal(
                status: 400,
                error: "unauthorized_client/AADSTS700016",
                client: tenant
            )
            let refused = RevokeAnswer.failure(.refusesAll(answer))
            #expect(await provider.revoke(credential(MicrosoftHarness.work)) == refused)
            #expect(await provider.revoke(credential(MicrosoftHarness.personal)) == .userOnly)
            let healthy = "\(MicrosoftHarness.user).\(other)"
            #expect(await provider.revoke(credential(healthy)) == .alreadyInvalid)
            let problem = try #require(await provider.problem())
            #expect(problem.failure == .refusesAll(answer))
            #expect(problem.text.contains(tenant))
            #expect(problem.text.contains("AADSTS700016"))
        }
    }

    @Test(
        "Microsoft: one user who waits shows that a directory hangs, and not that a call does",
        arguments: [true, false]
    )
    func waiting(isDirectory: Bool) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            let line = FamilyHarness.line(request)
            let isAway =
                isDirectory
                ? line.contains("/\(MicrosoftHarness.tenant)/oauth2/")
                : line.contains("/users/\(MicrosoftHarness.user)/")
            return isAway ? .json(200, "{}") : MicrosoftHarness.Graph().react(request)
        }
        let tenants = [MicrosoftHarness.tenant, MicrosoftHarness.other]
        try await MicrosoftHarness.with(graphTenants: tenants, react: react) { provider, _ in
            let other = "\(MicrosoftHarness.client).\(MicrosoftHarness.other)"
            let healthy = await provider.revoke(MicrosoftHarness.credential(subject: other))
            #expect(healthy.failure == nil)
            for _ in 1...2 {
                let answer = await provider.revoke(MicrosoftHarness.credential())
                #expect(answer == .failure(.unusable))
            }
            let third = await provider.revoke(MicrosoftHarness.credential())
            #expect(third.failure?.code == (isDirectory ? "client_refused" : "unusable_answer"))
            let names = provider.refusedClients.map(\.answer.client)
            #expect(names == (isDirectory ? [MicrosoftHarness.tenant] : []))
        }
    }

    @Test("Microsoft: a check that a directory answers ends the row of calls that it did not")
    func checked() async throws {
        let isAway = Mutex(false)
        let tenants = [MicrosoftHarness.tenant, MicrosoftHarness.other]
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            let isToken = request.hasPrefix("POST /\(MicrosoftHarness.tenant)/")
            let isConcerned = isToken || request.hasPrefix("GET ")
            if isConcerned, isAway.withLock({ $0 }) { return .json(200, "{}") }
            if request.contains("client_credentials") { return Golden.text(Golden.tokens) }
            if request.hasPrefix("POST ") { return Golden.error("invalid_grant") }
            if request.contains("servicePrincipals(") {
                return .json(200, #"{"id":"\#(MicrosoftHarness.principal)"}"#)
            }
            return .json(200, #"{"value":[]}"#)
        }
        try await MicrosoftHarness.with(graphTenants: tenants, react: react) { provider, _ in
            let users = [MicrosoftHarness.user, MicrosoftHarness.other, MicrosoftHarness.client]
            let tokens = users.map {
                MicrosoftHarness.credential(subject: "\($0).\(MicrosoftHarness.tenant)")
            }
            #expect(await provider.diagnose() == nil)
            isAway.withLock { $0 = true }
            #expect(await provider.revoke(tokens[0]) == .failure(.unusable))
            #expect(await provider.revoke(tokens[1]) == .failure(.unusable))
            isAway.withLock { $0 = false }
            #expect(await provider.diagnose() == nil)
            isAway.withLock { $0 = true }
            #expect(await provider.revoke(tokens[0]) == .failure(.unusable))
            #expect(await provider.revoke(tokens[1]) == .failure(.unusable))
            let alone = await provider.revoke(tokens[2])
            #expect(alone.failure?.code == "client_refused")
        }
    }
}
