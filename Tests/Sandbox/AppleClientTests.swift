import NIOHTTP1
import Sandbox
import TestSupport
import Testing

@Suite("Apple's client authentication")
struct AppleClientTests {
    private let refusal = ["error": "'invalid_client'"]

    @Test("a secret with one wrong claim is invalid_client, with status 400")
    func claims() async throws {
        try await SandboxFixture.with { fixture in
            let wrong: [(inout AppleClientSecret.Claims) -> Void] = [
                { claims in claims.iss = "ZZZZZ99999" },
                { claims in claims.sub = SandboxFixture.otherClientID },
                { claims in claims.aud = "https://example.com" },
                { claims in claims.exp = claims.iat - 1 },
                { claims in claims.exp += 15_777_100 },
                { claims in claims.iat += 600 },
            ]
            for change in wrong {
                let secret = try fixture.secret(changing: change)
                let answer = try await fixture.call(
                    "/auth/revoke",
                    ["token": "x"],
                    secret: secret
                )
                #expect(answer.status == 400)
                #expect(try answer.json == refusal)
            }
            let longest = try fixture.secret { claims in claims.exp += 15_776_000 }
            let good = try await fixture.call("/auth/revoke", ["token": "x"], secret: longest)
            #expect(good.status == 200)
        }
    }

    @Test("an accepted secret is refused again once it has expired")
    func reusedSecret() async throws {
        try await SandboxFixture.with { fixture in
            let secret = try fixture.secret()
            for expected: UInt in [200, 200] {
                let answer = try await fixture.call(
                    "/auth/revoke",
                    ["token": "x"],
                    secret: secret
                )
                #expect(answer.status == expected)
            }
            fixture.sandbox.setClockOffset(.seconds(400))
            let late = try await fixture.call("/auth/revoke", ["token": "x"], secret: secret)
            #expect(try late.json == refusal)
        }
    }

    @Test("an unknown key, a broken signature and an unknown client are invalid_client")
    func signature() async throws {
        try await SandboxFixture.with { fixture in
            let good = try fixture.secret()
            let parts = good.split(separator: ".")
            let broken = "\(parts[0]).\(parts[1]).\(String(repeating: "A", count: 86))"
            let unknownKey = try fixture.secret(keyID: "OTHERKEY00")
            for secret in [broken, unknownKey, "x", "", "a.b.c"] {
                let answer = try await fixture.call(
                    "/auth/token",
                    ["grant_type": "refresh_token"],
                    secret: secret
                )
                #expect(answer.status == 400)
                #expect(try answer.json == refusal)
            }
            let stranger = try await fixture.call(
                "/auth/revoke",
                ["token": "x"],
                clientID: "com.example.stranger"
            )
            #expect(try stranger.json == refusal)
        }
    }

    @Test("a JSON body is invalid_client, whatever it says")
    func jsonBody() async throws {
        try await SandboxFixture.with { fixture in
            let answer = try await fixture.send(
                .POST,
                "/auth/token",
                body: #"{"grant_type":"refresh_token"}"#,
                type: "application/json"
            )
            #expect(answer.status == 400)
            #expect(try answer.json == refusal)
        }
    }

    @Test("another team's clients are registered with its public key, and see another subject")
    func secondTeam() async throws {
        try await SandboxFixture.with { fixture in
            let other = try await SandboxServer.start()
            let key = other.appleKeyPEM
            try await other.shutdown()
            let body = """
                {"team_id": "SECOND0000", "key_id": "SECONDKEY0", "client_ids": ["org.second"],
                 "key_pem": "\(key.replacing("\n", with: "\\n"))"}
                """
            let made = try await fixture.send(
                .POST,
                "/sandbox/clients",
                body: body,
                type: "application/json"
            )
            #expect(made.status == 200)
            let signIn = try fixture.sandbox.signIn(user: "alice", clientID: "org.second")
            let first = try fixture.sandbox.signIn(user: "alice")
            #expect(signIn.subject != first.subject)
            let secret = try AppleClientSecret.make(
                clientID: "org.second",
                teamID: "SECOND0000",
                keyID: "SECONDKEY0",
                keyPEM: key
            )
            let answer = try await fixture.call(
                "/auth/token",
                ["grant_type": "authorization_code", "code": signIn.code],
                clientID: "org.second",
                secret: secret
            )
            #expect(answer.status == 200)
            // The key of one team proves nothing for another.
            let crossed = try AppleClientSecret.make(
                clientID: SandboxFixture.clientID,
                teamID: "ABCDE12345",
                keyID: "SECONDKEY0",
                keyPEM: key
            )
            let refused = try await fixture.call(
                "/auth/revoke",
                ["token": "x"],
                secret: crossed
            )
            #expect(try refused.json == refusal)
        }
    }
}
