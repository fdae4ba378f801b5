import Encoding
import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("Apple's id tokens and keys")
struct AppleIDTokenTests {
    private struct Keys: Decodable {
        struct Key: Decodable {
            let kty: String
            let kid: String
            let alg: String
            let n: String
            let e: String
        }

        let keys: [Key]
    }

    private struct Claims: Decodable {
        let iss: String
        let aud: String
        let sub: String
        let iat: Int64
        let exp: Int64
        let nonce: String?
    }

    private func keys(_ fixture: SandboxFixture) async throws -> [Keys.Key] {
        let answer = try await fixture.send(.GET, "/auth/keys")
        #expect(answer.status == 200)
        return try JSONDecoder().decode(Keys.self, from: Data(answer.body.utf8)).keys
    }

    @Test("an id token names the subject, the client and the hashed nonce, signed by a listed key")
    func claims() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice", rawNonce: "n-0S6_WzA2Mj")
            let token = try #require(JSONWebToken(signIn.idToken))
            let claims = try #require(token.claims(Claims.self))
            #expect(token.header.alg == "RS256")
            #expect(claims.iss == "https://appleid.apple.com")
            #expect(claims.aud == SandboxFixture.clientID)
            #expect(claims.sub == signIn.subject)
            #expect(claims.exp - claims.iat == 86_400)
            #expect(claims.nonce == TokenDigest.hexadecimal("n-0S6_WzA2Mj"))
            #expect(signIn.rawNonce == "n-0S6_WzA2Mj")
            #expect(
                signIn.subject.wholeMatch(of: /[0-9]{6}\.[0-9a-f]{32}\.[0-9]{4}/) != nil
            )
            let listed = try await keys(fixture)
            #expect(listed.count == 2)
            #expect(listed.allSatisfy { $0.kty == "RSA" && $0.alg == "RS256" && $0.e == "AQAB" })
            #expect(listed.map(\.kid).contains(try #require(token.header.kid)))
            // 2048 bits.
            #expect(listed.allSatisfy { Base64URL.decode($0.n.utf8)?.count == 256 })
        }
    }

    @Test("after a rotation a new key signs, and old keys stay until they are withdrawn")
    func rotation() async throws {
        try await SandboxFixture.with { fixture in
            let before = try fixture.sandbox.signIn(user: "alice").idToken
            _ = try fixture.sandbox.rotateKeys()
            let after = try fixture.sandbox.signIn(user: "alice").idToken
            let kids = try [before, after].map { token in
                try #require(JSONWebToken(token)?.header.kid)
            }
            #expect(kids[0] != kids[1])
            let listed = try await keys(fixture).map(\.kid)
            #expect(Set(listed).isSuperset(of: kids))
            #expect(try fixture.sandbox.rotateKeys(withdrawingOld: true).count == 1)
            let left = try await keys(fixture).map(\.kid)
            #expect(left.count == 1)
            #expect(Set(left).isDisjoint(with: kids))
        }
    }

    @Test("a notification carries its event as a string of JSON, as Apple's do")
    func notification() async throws {
        struct Notice: Decodable {
            struct Event: Decodable {
                let type: String
                let sub: String
                let eventTime: Int64

                private enum CodingKeys: String, CodingKey {
                    case type
                    case sub
                    case eventTime = "event_time"
                }
            }

            let aud: String
            let events: String
        }
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let notification = try fixture.sandbox.withdrawConsent(
                user: "alice",
                event: .accountDeleted
            )
            let claims = try #require(JSONWebToken(notification)?.claims(Notice.self))
            #expect(claims.aud == SandboxFixture.clientID)
            let event = try JSONDecoder().decode(
                Notice.Event.self,
                from: Data(claims.events.utf8)
            )
            #expect(event.type == "account-deleted")
            #expect(event.sub == signIn.subject)
            #expect(event.eventTime > 1_600_000_000_000)
        }
    }
}
