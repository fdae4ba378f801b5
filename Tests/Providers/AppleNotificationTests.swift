import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Apple's server-to-server notifications")
struct AppleNotificationTests {
    private typealias Fixture = NotificationFixture
    private let receiver = AppleNotificationReceiver(
        provider: Fixture.provider,
        clientIDs: ["com.example.app", "com.example.web"],
        keys: Fixture.keys
    )

    private static func event(_ type: String, _ sub: String = "s1") -> String {
        #"{"type":"\#(type)","sub":"\#(sub)","event_time":1799999980500}"#
    }

    private static func quoted(_ json: String) -> String {
        "\"" + json.replacing("\"", with: "\\\"") + "\""
    }

    private static func claims(
        events: String = quoted(event("consent-revoked")),
        _ changed: [String: String?] = [:]
    ) -> String {
        let added: [String: String?] = [
            "jti": #""j1""#, "events": events, "nonce": nil, "sub": nil,
        ]
        return IDTokenGenerator.claims(added.merging(changed) { _, new in new })
    }

    private static func body(_ claims: String) throws -> String {
        #"{"payload":"\#(try IDTokenGenerator.token(claims: claims))"}"#
    }

    @Test(
        "every event has its meaning, in both spellings of deletion",
        arguments: [
            ("consent-revoked", NotificationMeaning.linkCut, "consent-revoked"),
            ("account-delete", .accountGone, "account-delete"),
            ("account-deleted", .accountGone, "account-deleted"),
            ("email-disabled", .other, "email-disabled"),
            ("email-enabled", .other, "email-enabled"), ("something-new", .other, "other"),
        ]
    )
    func meanings(type: String, meaning: NotificationMeaning, event: String) async throws {
        let body = try Self.body(Self.claims(events: Self.quoted(Self.event(type))))
        let verified = try await receiver.verify(Fixture.incoming(body))
        #expect(
            Fixture.said(verified)
                == [
                    .init(
                        meaning: meaning,
                        event: event,
                        subject: "s1",
                        milliseconds: 1_799_999_980_500
                    )
                ]
        )
        #expect(verified.acknowledgement == .status(200))
        #expect(verified.notifications[0].clientIDs == ["com.example.app"])
    }

    @Test(
        "events may be a string, an object, or an array in either form",
        arguments: [
            (quoted(event("account-delete")), 1), (event("account-delete"), 1),
            ("[\(event("account-delete")),\(event("consent-revoked", "s2"))]", 2),
            (quoted("[\(event("account-delete")),\(event("consent-revoked", "s2"))]"), 2),
        ]
    )
    func forms(events: String, count: Int) async throws {
        let body = try Self.body(Self.claims(events: events))
        let verified = try await receiver.verify(Fixture.incoming(body))
        let meanings: [NotificationMeaning] = [.accountGone, .linkCut]
        #expect(verified.notifications.map(\.meaning) == Array(meanings.prefix(count)))
        let keys = Set(verified.notifications.map { $0.dedupeKey.exposeText() })
        #expect(keys == Set(["j1#0", "j1#1"].prefix(count)))
    }

    @Test(
        "what is wrong is refused with its cause",
        arguments: [
            (["iss": #""https://evil.example""#], NotificationRefusal.Kind.wrongIssuer),
            (["aud": #""com.other.app""#], .wrongAudience),
            (["exp": "1799999900"], .expired), (["iat": "1800000100"], .issuedInFuture),
            (["jti": nil], .malformed), (["events": "5"], .malformed),
            (["events": "[]"], .malformed), (["events": #""{""#], .malformed),
            (["exp": nil], .malformed),
        ] as [([String: String?], NotificationRefusal.Kind)]
    )
    func refusals(changed: [String: String?], kind: NotificationRefusal.Kind) async throws {
        let body = try Self.body(Self.claims(changed))
        let refusal = await Fixture.refusal(receiver, Fixture.incoming(body))
        #expect(refusal?.kind == kind)
        #expect(refusal?.answer.status == 400)
    }

    @Test("another signature, key or algorithm is refused")
    func signatures() async throws {
        let good = try IDTokenGenerator.token(claims: Self.claims())
        let other = try IDTokenGenerator.token(
            claims: Self.claims(events: Self.event("account-delete"))
        )
        var parts = good.split(separator: ".")
        parts[1] = other.split(separator: ".")[1]
        let kinds: [(String, NotificationRefusal.Kind)] = [
            (parts.joined(separator: "."), .badSignature),
            (
                try IDTokenGenerator.token(
                    header: #"{"alg":"RS256","kid":"key-2"}"#,
                    claims: Self.claims()
                ), .unknownKey
            ),
            (
                try IDTokenGenerator.token(
                    header: #"{"alg":"none","kid":"key-1"}"#,
                    claims: Self.claims()
                ), .badSignature
            ),
        ]
        for (token, kind) in kinds {
            let notification = Fixture.incoming(#"{"payload":"\#(token)"}"#)
            #expect(await Fixture.refusal(receiver, notification)?.kind == kind)
        }
    }

    @Test(
        "what is no notification is refused",
        arguments: ["", "{}", "[]", #"{"payload":5}"#, #"{"payload":"a.b"}"#, "payload=x"]
    )
    func malformed(body: String) async {
        #expect(await Fixture.refusal(receiver, Fixture.incoming(body))?.kind == .malformed)
    }

    @Test("an oversized payload is refused before it is decoded")
    func oversized() async {
        let payload = String(repeating: "a", count: 9000)
        let notification = Fixture.incoming(#"{"payload":"\#(payload).a.a"}"#)
        #expect(await Fixture.refusal(receiver, notification)?.kind == .malformed)
    }

    @Test("keys that cannot be read say nothing about the notification")
    func noKeys() async throws {
        let receiver = AppleNotificationReceiver(
            provider: Fixture.provider,
            clientIDs: ["com.example.app"],
            keys: Fixture.noKeys
        )
        let body = try Self.body(Self.claims())
        let refusal = await Fixture.refusal(receiver, Fixture.incoming(body))
        #expect(refusal?.kind == .keysUnavailable)
        #expect(refusal?.answer.status == 503)
    }

    @Test("no view of a notification shows a subject")
    func redacted() async throws {
        let body = try Self.body(Self.claims())
        let verified = try await receiver.verify(Fixture.incoming(body))
        var text = ""
        dump(verified, to: &text)
        dump(Fixture.incoming("s1-secret-subject"), to: &text)
        #expect(!text.contains("s1"))
        #expect(!"\(verified)".contains("s1"))
    }
}
