import FoundationEssentials
import NIOHTTP1
import Sandbox
import TestSupport
import Testing

@Suite("Admin routes")
struct AdminRouteTests {
    private func post(
        _ fixture: SandboxFixture,
        _ path: String,
        _ body: String
    ) async throws -> SandboxFixture.Answer {
        try await fixture.send(.POST, path, body: body, type: "application/json")
    }

    @Test("a shell can sign in, exchange, look at the grants and at the log")
    func walk() async throws {
        try await SandboxFixture.with { fixture in
            let made = try await post(
                fixture,
                "/sandbox/sign-in",
                #"{"user": "alice", "client_id": "com.example.web", "nonce": "abc"}"#
            )
            let signIn = try JSONDecoder().decode(
                AppleSignIn.self,
                from: Data(made.body.utf8)
            )
            #expect(signIn.rawNonce == "abc")
            let answer = try await fixture.exchange(
                signIn.code,
                clientID: SandboxFixture.otherClientID
            )
            #expect(answer.status == 200)
            let grants = try await fixture.send(.GET, "/sandbox/grants?user=alice").body
            #expect(grants.contains(#""state":"live""#))
            #expect(grants.contains(signIn.subject))
            let notification = try await post(
                fixture,
                "/sandbox/withdraw-consent",
                #"{"user": "alice", "client_id": "com.example.web"}"#
            )
            #expect(try notification.json["payload"] != nil)
            let after = try await fixture.send(.GET, "/sandbox/grants").body
            #expect(after.contains(#""state":"revoked""#))
            let log = try await fixture.send(.GET, "/sandbox/log?after=0&limit=5").body
            #expect(log.contains(#""outcome":"exchanged""#))
        }
    }

    @Test("a code may be made old, by its age, its time or the clock")
    func oldCodes() async throws {
        try await SandboxFixture.with { fixture in
            for body in [
                #"{"user": "a", "age_s": 600}"#, #"{"user": "b", "issued_at_unix_s": 1600000000}"#,
            ] {
                let made = try await post(fixture, "/sandbox/sign-in", body)
                let signIn = try JSONDecoder().decode(
                    AppleSignIn.self,
                    from: Data(made.body.utf8)
                )
                #expect(try await fixture.exchange(signIn.code).status == 400)
            }
            let moved = try await post(fixture, "/sandbox/clock", #"{"offset_ms": 86400000}"#)
            #expect(moved.status == 200)
            // Now the secrets of this machine's clock are a day too old.
            #expect(
                try await fixture.revoke("x").json == ["error": "'invalid_client'"]
            )
        }
    }

    @Test("tokens in bulk, faults and keys are commanded over HTTP")
    func staff() async throws {
        try await SandboxFixture.with { fixture in
            let bulk = try await post(
                fixture,
                "/sandbox/refresh-tokens",
                #"{"count": 1000, "user_prefix": "u"}"#
            )
            struct List: Decodable {
                let tokens: [AppleIssuedToken]
            }
            let tokens = try JSONDecoder().decode(List.self, from: Data(bulk.body.utf8)).tokens
            #expect(tokens.count == 1000)
            #expect(Set(tokens.map(\.refreshToken)).count == 1000)
            #expect(tokens.last?.user == "u1000")
            let set = try await post(
                fixture,
                "/sandbox/faults",
                #"{"rate": 1, "kinds": ["server_error"], "endpoints": ["revoke"], "limit": 1}"#
            )
            #expect(set.status == 200)
            #expect(try await fixture.revoke(tokens[0].refreshToken).status == 500)
            #expect(try await fixture.revoke(tokens[0].refreshToken).status == 200)
            #expect(try await post(fixture, "/sandbox/rotate-keys", "{}").status == 200)
        }
    }

    @Test(
        "a command that makes no sense is refused with its reason",
        arguments: [
            ("/sandbox/sign-in", "{}", UInt(400)),
            ("/sandbox/sign-in", #"{"user": "a", "client_id": "com.example.none"}"#, 400),
            ("/sandbox/refresh-tokens", #"{"count": 0}"#, 400),
            ("/sandbox/withdraw-consent", #"{"user": "nobody"}"#, 400),
            ("/sandbox/faults", #"{"rate": -1}"#, 400),
            (
                "/sandbox/clients",
                #"{"team_id": "T", "key_id": "K", "key_pem": "x", "client_ids": []}"#, 400
            ),
            ("/sandbox/nothing", "{}", 404),
        ]
    )
    func refusals(path: String, body: String, status: UInt) async throws {
        try await SandboxFixture.with { fixture in
            let answer = try await post(fixture, path, body)
            #expect(answer.status == status)
            #expect(try answer.json["error"] != nil)
        }
    }
}

@Suite("Admin routes of every provider")
struct ProviderRouteTests {
    private static let providers = SandboxProvider.allCases.filter { $0 != .apple }

    @Test("the same verbs work for every provider", arguments: providers)
    func verbs(provider: SandboxProvider) async throws {
        try await SandboxFixture.with { fixture in
            let post = { (verb: String, body: String) in
                try await fixture.send(
                    .POST,
                    "/sandbox/\(verb)?provider=\(provider.rawValue)",
                    body: body,
                    type: "application/json"
                )
            }
            let signIn = try await post("sign-in", #"{"user": "alice", "nonce": "n-1"}"#)
            #expect(try signIn.text("raw_nonce") == "n-1")
            #expect(try !signIn.text("code").isEmpty)
            let subject = try signIn.text("subject")
            let bulk = try await post("refresh-tokens", #"{"count": 3, "user_prefix": "u"}"#)
            #expect(bulk.body.contains(#""user":"u3""#))
            #expect(try fixture.states(provider).count == 4)
            let notification = try await post("withdraw-consent", #"{"user": "alice"}"#)
            #expect(notification.status == 200)
            let tells: Set<SandboxProvider> = [.google, .oauth2, .facebook]
            #expect(notification.body.contains(#""body":"#) == tells.contains(provider))
            let grants = try await fixture.send(
                .GET,
                "/sandbox/grants?provider=\(provider.rawValue)&user=alice"
            )
            #expect(grants.body.contains(#""state":"revoked""#))
            #expect(grants.body.contains(subject))
            let added = try await post("clients", #"{"client_id": "new", "client_secret": "s"}"#)
            #expect(added.status == 200)
            let clients = try await fixture.send(.GET, "/sandbox/clients").body
            let baseURL = fixture.sandbox.baseURL(of: provider)
            #expect(clients.contains("\"base_url\":\"\(baseURL)\""))
            #expect(clients.contains(#""client_id":"new","client_secret":"s""#))
        }
    }

    @Test(
        "an order that makes no sense is refused",
        arguments: [
            ("sign-in?provider=myspace", #"{"user": "a"}"#, UInt(400)),
            ("sign-in?provider=google", #"{"user": "a", "client_id": "none"}"#, 400),
            ("sign-in?provider=google", #"{"user": "a", "age_s": -1}"#, 400),
            ("sign-in?provider=microsoft", #"{"user": "a", "realm": "nowhere"}"#, 400),
            ("refresh-tokens?provider=x", #"{"count": 100001}"#, 400),
            ("withdraw-consent?provider=github", #"{"user": "nobody"}"#, 400),
            ("clients?provider=microsoft", #"{"client_id": "a", "certificate_pem": "x"}"#, 400),
            ("nothing?provider=google", "{}", 404),
        ]
    )
    func refusals(path: String, body: String, status: UInt) async throws {
        try await SandboxFixture.with { fixture in
            let answer = try await fixture.send(
                .POST,
                "/sandbox/\(path)",
                body: body,
                type: "application/json"
            )
            #expect(answer.status == status)
            #expect(try answer.json["error"] != nil)
        }
    }

    @Test("tokens are issued with an age, and no log line holds one", arguments: providers)
    func secrets(provider: SandboxProvider) async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.Tokens()
            order.ageSeconds = 10_000_000
            let made = try fixture.sandbox.issueTokens(order, at: provider)[0]
            let token = made.refreshToken ?? made.accessToken
            let name = provider.rawValue
            for path in ["revoke", "2/oauth2/revoke", "token", "login/oauth/access_token"] {
                _ = try await fixture.post("/\(name)/\(path)", ["token": token])
            }
            let text = try String(
                contentsOf: URL(fileURLWithPath: "\(fixture.sandbox.directory)/logs.jsonl"),
                encoding: .utf8
            )
            #expect(!text.contains(token))
            #expect(!text.contains(made.accessToken))
        }
    }
}
