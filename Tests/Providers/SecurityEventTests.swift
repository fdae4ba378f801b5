import Encoding
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Security event tokens")
struct SecurityEventTests {
    private typealias Fixture = NotificationFixture
    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauth = "https://schemas.openid.net/secevent/oauth/event-type/"
    private static let caep = "https://schemas.openid.net/secevent/caep/event-type/"
    private static let issuer = "https://sso.example.com"
    private static let setHeader = #"{"alg":"RS256","kid":"key-1","typ":"secevent+jwt"}"#
    private static let fields = ["content-type": "application/secevent+jwt"]

    private let google = SecurityEventReceiver(
        provider: Fixture.provider,
        issuers: GoogleKind.issuers,
        audiences: ["123.apps.googleusercontent.com"],
        isTyped: false,
        keys: Fixture.keys
    )
    private let transmitter = SecurityEventReceiver(
        provider: Fixture.provider,
        issuers: [issuer],
        audiences: ["https://app.example.com/events"],
        keys: Fixture.keys
    )

    /// As "Protect user accounts with Cross-Account Protection" shows one.
    private static func googleClaims(
        _ event: String,
        _ changed: [String: String?] = [:]
    ) -> String {
        let subject =
            #"{"subject_type":"iss-sub","iss":"https://accounts.google.com/","#
            + #""sub":"7375626A656374"}"#
        let base: [String: String?] = [
            "iss": #""https://accounts.google.com/""#, "nonce": nil, "sub": nil, "exp": nil,
            "aud": #"["123.apps.googleusercontent.com","other"]"#, "jti": #""756E69717565""#,
            "events": #"{"\#(event)":{"subject":\#(subject)}}"#,
        ]
        return IDTokenGenerator.claims(base.merging(changed) { _, new in new })
    }

    private static func sharedClaims(_ changed: [String: String?] = [:]) -> String {
        let base: [String: String?] = [
            "iss": #""\#(issuer)""#, "nonce": nil, "sub": nil, "exp": nil,
            "aud": #""https://app.example.com/events""#, "jti": #""e1""#,
            "sub_id": #"{"format":"iss_sub","iss":"\#(issuer)","sub":"u1"}"#,
            "events": #"{"\#(risc)account-purged":{}}"#,
        ]
        return IDTokenGenerator.claims(base.merging(changed) { _, new in new })
    }

    @Test(
        "only a purged account and revoked tokens mean something",
        arguments: [
            (risc + "account-purged", NotificationMeaning.accountGone, "account-purged"),
            (oauth + "tokens-revoked", .linkCut, "tokens-revoked"),
            (oauth + "token-revoked", .other, "token-revoked"),
            (risc + "sessions-revoked", .other, "sessions-revoked"),
            (risc + "account-disabled", .other, "account-disabled"),
            (caep + "session-revoked", .other, "session-revoked"),
            ("https://evil.example/account-purged", .other, "other"),
            (risc + "tokens-revoked", .other, "other"),
        ]
    )
    func meanings(uri: String, meaning: NotificationMeaning, event: String) async throws {
        let token = try IDTokenGenerator.token(claims: Self.googleClaims(uri))
        let verified = try await google.verify(Fixture.incoming(token, Self.fields))
        #expect(
            Fixture.said(verified)
                == [
                    .init(
                        meaning: meaning,
                        event: event,
                        subject: "7375626A656374",
                        milliseconds: 1_799_999_990_999
                    )
                ]
        )
        #expect(verified.acknowledgement == .status(202))
        #expect(verified.notifications[0].clientIDs == nil)
    }

    @Test(
        "the subject is found where the profiles put it, of the own issuer only",
        arguments: [
            (#"{"format":"iss_sub","iss":"https://sso.example.com","sub":"u1"}"#, "u1"),
            (
                #"{"format":"complex","user":{"format":"iss_sub","iss":"https://sso.example.com","#
                    + #""sub":"u2"}}"#, "u2"
            ), (#"{"format":"iss_sub","iss":"https://other.example","sub":"u1"}"#, nil),
            (#"{"format":"email","email":"a@example.com"}"#, nil),
            (#"{"format":"opaque","id":"u1"}"#, nil), ("5", nil),
        ]
    )
    func subjects(subject: String, expected: String?) async throws {
        let token = try IDTokenGenerator.token(
            header: Self.setHeader,
            claims: Self.sharedClaims(["sub_id": subject])
        )
        let verified = try await transmitter.verify(Fixture.incoming(token, Self.fields))
        #expect(verified.notifications[0].subject?.exposeText() == expected)
    }

    @Test("the time of the event counts, not that of the token")
    func eventTime() async throws {
        let token = try IDTokenGenerator.token(
            header: Self.setHeader,
            claims: Self.sharedClaims(["toe": "1799990000"])
        )
        let verified = try await transmitter.verify(Fixture.incoming(token, Self.fields))
        #expect(verified.notifications[0].occurredAt.unixMilliseconds == 1_799_990_000_999)
    }

    @Test(
        "errors are the codes of RFC 8935",
        arguments: [
            (
                ["iss": #""https://evil.example""#], NotificationRefusal.Kind.wrongIssuer,
                "invalid_issuer"
            ),
            (["aud": #""https://other.example""#], .wrongAudience, "invalid_audience"),
            (["jti": nil], .malformed, "invalid_request"),
            (["events": nil], .malformed, "invalid_request"),
            (["events": "{}"], .malformed, "invalid_request"),
            (["iat": "1800000100"], .issuedInFuture, "invalid_request"),
        ] as [([String: String?], NotificationRefusal.Kind, String)]
    )
    func errors(
        changed: [String: String?],
        kind: NotificationRefusal.Kind,
        code: String
    ) async throws {
        let token = try IDTokenGenerator.token(
            header: Self.setHeader,
            claims: Self.sharedClaims(changed)
        )
        let notification = Fixture.incoming(token, Self.fields)
        let refusal = try #require(await Fixture.refusal(transmitter, notification))
        #expect(refusal.kind == kind)
        #expect(refusal.answer.status == 400)
        #expect(refusal.answer.contentType == "application/json")
        #expect(JSONValue(Array(refusal.answer.body.utf8))?["err"]?.string == code)
    }

    @Test("a token of another type is refused, and so is another content type")
    func types() async throws {
        let untyped = try IDTokenGenerator.token(claims: Self.sharedClaims())
        let jwt = try IDTokenGenerator.token(
            header: #"{"alg":"RS256","kid":"key-1","typ":"JWT"}"#,
            claims: Self.sharedClaims()
        )
        for token in [untyped, jwt] {
            let notification = Fixture.incoming(token, Self.fields)
            #expect(await Fixture.refusal(transmitter, notification)?.kind == .malformed)
        }
        let good = try IDTokenGenerator.token(header: Self.setHeader, claims: Self.sharedClaims())
        let asJSON = Fixture.incoming(good, ["content-type": "application/json"])
        #expect(await Fixture.refusal(transmitter, asJSON)?.kind == .malformed)
        let withParameter = Fixture.incoming(
            good,
            ["content-type": "Application/secevent+jwt; charset=utf-8"]
        )
        #expect(await Fixture.refusal(transmitter, withParameter) == nil)
    }

    @Test("a wrong signature is authentication_failed, an unknown key invalid_key")
    func signatures() async throws {
        let good = try IDTokenGenerator.token(header: Self.setHeader, claims: Self.sharedClaims())
        let forged = good.dropLast(8) + "AAAAAAAA"
        let unknown = try IDTokenGenerator.token(
            header: #"{"alg":"RS256","kid":"key-9","typ":"secevent+jwt"}"#,
            claims: Self.sharedClaims()
        )
        for (token, code) in [(String(forged), "authentication_failed"), (unknown, "invalid_key")] {
            let notification = Fixture.incoming(token, Self.fields)
            let refusal = try #require(await Fixture.refusal(transmitter, notification))
            #expect(refusal.answer.body.contains(#""err":"\#(code)""#))
        }
    }
}
