import Cryptography
import Encoding
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Notifications that a shared secret proves")
struct SharedSecretNotificationTests {
    private typealias Fixture = NotificationFixture
    private let meta = MetaNotificationReceiver(
        provider: Fixture.provider,
        clientIDs: ["app-1"],
        appSecret: Secret("app-secret"),
        statusURLPrefix: "https://app.example.com/deletion/"
    )
    private let github = GitHubNotificationReceiver(
        provider: Fixture.provider,
        secret: Secret("It's a Secret to Everybody")
    )
    private let kakao = KakaoNotificationReceiver(
        provider: Fixture.provider,
        secret: Secret("admin-key")
    )

    private static func code(_ message: String, _ key: String) -> [UInt8] {
        KeyedHash.sha256(key: Array(key.utf8), message: Array(message.utf8))
    }

    private static func base64url(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64URL.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func signedRequest(
        _ payload: String =
            #"{"algorithm":"HMAC-SHA256","issued_at":1799999990,"user_id":"218471"}"#,
        key: String = "app-secret"
    ) -> String {
        let part = base64url(Array(payload.utf8))
        return "signed_request=\(base64url(code(part, key))).\(part)"
    }

    // MARK: Meta

    @Test(
        "the callback decides what Meta means",
        arguments: [
            ("deauthorize", NotificationMeaning.linkCut, NotificationAcknowledgement.status(200)),
            (
                "data-deletion", .deletionAsked,
                .confirmation(statusURLPrefix: "https://app.example.com/deletion/")
            ),
        ]
    )
    func callbacks(
        callback: String,
        meaning: NotificationMeaning,
        answer: NotificationAcknowledgement
    ) async throws {
        let notification = Fixture.incoming(
            Self.signedRequest(),
            ["expunged-callback": callback]
        )
        let verified = try await meta.verify(notification)
        #expect(
            Fixture.said(verified)
                == [
                    .init(
                        meaning: meaning,
                        event: callback,
                        subject: "218471",
                        milliseconds: 1_799_999_990_999
                    )
                ]
        )
        #expect(verified.acknowledgement == answer)
        let key = verified.notifications[0].dedupeKey.exposeText()
        #expect(key == "\(callback)\u{0}218471\u{0}1799999990")
    }

    @Test("Meta's body without the callback's name is refused")
    func unnamedCallback() async {
        for fields in [[:], ["expunged-callback": "delete"]] {
            let notification = Fixture.incoming(Self.signedRequest(), fields)
            #expect(await Fixture.refusal(meta, notification)?.kind == .callbackNotNamed)
        }
    }

    @Test(
        "a signed request that is not right is refused",
        arguments: [
            (signedRequest(key: "other"), NotificationRefusal.Kind.badSignature),
            ("signed_request=abc", .malformed), ("signed_request=", .malformed),
            ("other=1", .malformed), ("", .malformed),
            (signedRequest(#"{"algorithm":"HMAC-SHA1","issued_at":1,"user_id":"1"}"#), .malformed),
            (signedRequest(#"{"algorithm":"HMAC-SHA256","user_id":"1"}"#), .malformed),
            (signedRequest(#"{"algorithm":"HMAC-SHA256","issued_at":1}"#), .malformed),
            (
                signedRequest(
                    #"{"algorithm":"HMAC-SHA256","issued_at":1800000100,"user_id":"1"}"#
                ), .issuedInFuture
            ), (signedRequest("not json"), .malformed),
            ("signed_request=a.b&signed_request=a.b", .malformed),
        ]
    )
    func badSignedRequests(body: String, kind: NotificationRefusal.Kind) async {
        let notification = Fixture.incoming(body, ["expunged-callback": "deauthorize"])
        #expect(await Fixture.refusal(meta, notification)?.kind == kind)
    }

    // MARK: GitHub

    @Test("GitHub's own test vector verifies")
    func gitHubVector() async throws {
        // docs.github.com, "Validating webhook deliveries".
        let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        let notification = Fixture.incoming(
            "Hello, World!",
            ["x-hub-signature-256": "sha256=\(signature)"]
        )
        // The signature is right, so that only the shape is left to refuse.
        #expect(await Fixture.refusal(github, notification)?.kind == .malformed)
    }

    private static let revoked = #"{"action":"revoked","sender":{"login":"octocat","id":583231}}"#

    private static func gitHubFields(
        _ body: String,
        event: String = "github_app_authorization",
        delivery: String = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
    ) -> [String: String] {
        let digits = code(body, "It's a Secret to Everybody").map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return [
            "x-hub-signature-256": "sha256=" + digits.joined(), "x-github-event": event,
            "x-github-delivery": delivery,
        ]
    }

    @Test("a revoked authorization cuts the sender's link, anything else means nothing")
    func gitHubMeanings() async throws {
        let verified = try await github.verify(
            Fixture.incoming(Self.revoked, Self.gitHubFields(Self.revoked))
        )
        #expect(
            Fixture.said(verified)
                == [
                    .init(
                        meaning: .linkCutUndated,
                        event: "github_app_authorization",
                        subject: "583231",
                        milliseconds: Fixture.now.unixMilliseconds
                    )
                ]
        )
        let push = try await github.verify(
            Fixture.incoming(Self.revoked, Self.gitHubFields(Self.revoked, event: "push"))
        )
        #expect(push.notifications[0].meaning == .other)
        #expect(push.notifications[0].subject == nil)
    }

    @Test("a delivery that is repeated has the key of the first, another delivery another")
    func gitHubKeys() async throws {
        var keys: [String] = []
        for delivery in ["a", "a", "b"] {
            let fields = Self.gitHubFields(Self.revoked, delivery: delivery)
            let verified = try await github.verify(Fixture.incoming(Self.revoked, fields))
            keys.append(verified.notifications[0].dedupeKey.exposeText())
        }
        #expect(keys[0] == keys[1] && keys[1] != keys[2])
    }

    @Test(
        "a missing, short or wrong signature is refused",
        arguments: [nil, "", "sha256=", "sha256=00", "sha1=00", String(repeating: "0", count: 64)]
    )
    func gitHubSignatures(signature: String?) async {
        var fields = Self.gitHubFields(Self.revoked)
        fields["x-hub-signature-256"] = signature
        let refusal = await Fixture.refusal(github, Fixture.incoming(Self.revoked, fields))
        #expect(refusal?.kind == .badSignature)
        #expect(refusal?.answer.status == 401)
    }

    // MARK: Kakao

    @Test(
        "Kakao's reasons have their meanings",
        arguments: [
            ("ACCOUNT_DELETE", NotificationMeaning.accountGoneUndated),
            ("FORCED_ACCOUNT_DELETE", .accountGoneUndated),
            ("UNLINK_FROM_APPS", .linkCutUndated), ("UNLINK_FROM_ADMIN", .linkCutUndated),
            ("INCOMPLETE_SIGN_UP", .linkCutUndated), ("NEW", .other),
        ]
    )
    func kakaoMeanings(reason: String, meaning: NotificationMeaning) async throws {
        let verified = try await kakao.verify(
            Fixture.incoming(
                "app_id=1&user_id=1234567890&referrer_type=\(reason)",
                ["authorization": "KakaoAK admin-key"]
            )
        )
        #expect(verified.notifications[0].meaning == meaning)
        #expect(verified.notifications[0].subject?.exposeText() == "1234567890")
        #expect(verified.acknowledgement == .status(200))
    }

    @Test(
        "another admin key, or none, is refused",
        arguments: [nil, "KakaoAK other-key", "Bearer admin-key", "KakaoAK ", "admin-key"]
    )
    func kakaoKeys(authorization: String?) async {
        var fields: [String: String] = [:]
        fields["authorization"] = authorization
        let notification = Fixture.incoming(
            "app_id=1&user_id=1&referrer_type=UNLINK_FROM_APPS",
            fields
        )
        let refusal = await Fixture.refusal(kakao, notification)
        #expect(refusal?.kind == .badSignature)
        #expect(refusal?.answer.status == 401)
    }

    @Test("form fields are decoded as the standard says")
    func formFields() {
        let fields = FormFields(Array("a=1+2&b=%C3%BC%26&c&d=".utf8))
        #expect(fields?["a"] == "1 2")
        #expect(fields?["b"] == "ü&")
        #expect(fields?["c"] == "" && fields?["d"] == "")
        for body in ["a=%", "a=%4", "a=%zz", "a=%ff", "a=1&a=2"] {
            #expect(FormFields(Array(body.utf8)) == nil, "\(body)")
        }
    }
}
