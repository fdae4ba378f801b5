import Engine
import Lifecycle
import Testing

@testable import Providers

/// One answer to a revocation, and what a profile must make of it.
struct RevokeGolden: Sendable, CustomTestStringConvertible {
    let preset: String
    let reaction: RawServer.Reaction
    let answer: RevokeAnswer
    let note: String

    init(_ preset: String, _ status: Int, _ body: String, _ answer: RevokeAnswer) {
        self.preset = preset
        reaction = body.isEmpty ? .http(status) : .json(status, body)
        self.answer = answer
        note = "\(status) \(body)"
    }

    init(_ preset: String, _ note: String, _ reaction: RawServer.Reaction, _ answer: RevokeAnswer) {
        self.preset = preset
        self.reaction = reaction
        self.answer = answer
        self.note = note
    }

    var testDescription: String { "\(preset): \(note)" }

    var profile: OAuth2Profile {
        switch preset {
        case "standard": .standard
        case "google": .google
        default: OAuth2Profile.presets[preset] ?? .standard
        }
    }

    static let noBody204 = RawServer.Reaction.bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8))

    /// What every token gets from a server that answers nothing else.
    static func refusesAll(_ status: Int, _ error: String? = nil) -> RevokeAnswer {
        .failure(.refusesAll(Refusal(status: status, error: error)))
    }

    /// RFC 7009 §2.2 and §2.2.1, RFC 6749 §5.2.
    static let standard: [RevokeGolden] = [
        RevokeGolden("standard", 200, "", .success),
        RevokeGolden("standard", 200, "{}", .success),
        RevokeGolden("standard", "OK as text", Golden.text("OK", type: "text/plain"), .success),
        RevokeGolden("standard", "a page", Golden.html(200), refusesAll(200)),
        RevokeGolden("standard", 200, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("standard", 200, #"{"error":"server_error"}"#, .failure(.unusable)),
        RevokeGolden("standard", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("standard", 400, #"{"error":"unsupported_token_type"}"#, .unfit),
        RevokeGolden(
            "standard",
            400,
            #"{"error":"invalid_request"}"#,
            refusesAll(400, "invalid_request")
        ),
        RevokeGolden("standard", 400, #"{"error":"invalid_client"}"#, .failure(.misconfigured)),
        RevokeGolden("standard", 401, #"{"error":"invalid_client"}"#, .failure(.misconfigured)),
        RevokeGolden("standard", 401, "", .failure(.misconfigured)),
        RevokeGolden("standard", "401 page", Golden.html(401), .failure(.unusable)),
        RevokeGolden("standard", 404, "", refusesAll(404)),
        RevokeGolden("standard", 500, #"{"error":"invalid_token"}"#, .failure(.unusable)),
        RevokeGolden(
            "standard",
            "503 and when to come back",
            .http(503, ["Retry-After: 7"]),
            .failure(.throttled(retryAfter: .seconds(7)))
        ),
    ]

    static let google: [RevokeGolden] = [
        RevokeGolden("google", 200, "{}", .success),
        RevokeGolden("google", 200, "", .success),
        RevokeGolden("google", "a page", Golden.html(200), refusesAll(200)),
        RevokeGolden("google", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden(
            "google",
            400,
            #"{"error":"invalid_request"}"#,
            refusesAll(400, "invalid_request")
        ),
        RevokeGolden(
            "google",
            403,
            #"{"error":"invalid_token"}"#,
            refusesAll(403, "invalid_token")
        ),
    ]

    static let vendors: [RevokeGolden] = [
        RevokeGolden("slack", 200, #"{"ok":true,"revoked":true}"#, .success),
        RevokeGolden("slack", 200, #"{"ok":true,"revoked":false}"#, .failure(.unusable)),
        RevokeGolden("slack", 200, #"{"ok":false,"error":"token_revoked"}"#, .alreadyInvalid),
        RevokeGolden("slack", 200, #"{"ok":false,"error":"fatal_error"}"#, .failure(.unusable)),
        RevokeGolden("slack", 200, "", .failure(.unusable)),
        RevokeGolden("twitch", 200, "", .success),
        RevokeGolden(
            "twitch",
            400,
            #"{"status":400,"message":"Invalid token"}"#,
            .alreadyInvalid
        ),
        RevokeGolden(
            "twitch",
            400,
            #"{"status":400,"message":"invalid client"}"#,
            refusesAll(400)
        ),
        RevokeGolden("dropbox", 200, "null", .success),
        RevokeGolden("dropbox", 200, "", .success),
        RevokeGolden(
            "dropbox",
            401,
            #"{"error_summary":"invalid_access_token/..","error":{".tag":"invalid_access_token"}}"#,
            .alreadyInvalid
        ),
        RevokeGolden("dropbox", 401, #"{"error_summary":"other/"}"#, refusesAll(401)),
        RevokeGolden("kakao", 200, #"{"id":123456789}"#, .success),
        RevokeGolden("kakao", 400, #"{"code":-101,"msg":"x"}"#, refusesAll(400)),
        RevokeGolden("naver", 200, #"{"access_token":"t","result":"success"}"#, .success),
        RevokeGolden("naver", 200, #"{"error":"invalid_request"}"#, .failure(.unusable)),
        RevokeGolden("vk", 200, #"{"response":1}"#, .success),
        RevokeGolden("vk", 200, #"{"error":"invalid_token"}"#, .failure(.unusable)),
        RevokeGolden("zoom", 200, #"{"status":"success"}"#, .success),
        RevokeGolden("zoom", 200, "{}", .failure(.unusable)),
        RevokeGolden("salesforce", 200, "", .success),
        RevokeGolden("salesforce", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("auth0", 200, "", .unfit),
        RevokeGolden("discord", 200, "{}", .success),
    ]
}
