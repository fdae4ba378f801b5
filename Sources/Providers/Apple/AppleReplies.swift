import HTTP
import Lifecycle

/// What Apple's endpoints answer, one table each.
///
/// Sources: "Generate and validate tokens", "Revoke tokens", "ErrorResponse" and TN3107, Apple.
enum AppleReplies {
    /// Errors that say our client is wrong, whatever token came along.
    ///
    /// Documented with status 400; 401 is what RFC 6749 §5.2 has for `invalid_client`.
    private static let configurationErrors: Set<String> = [
        "invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type",
    ]

    /// `POST /auth/token`.
    static let token = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(400, .error(["invalid_grant"]), .refused),
        ReplyRow(400, .error(["invalid_request"]), .unclear),
        ReplyRow(400...401, .error(configurationErrors), .failure(.misconfigured)),
    ])

    /// `POST /auth/revoke`: the empty body is the evidence, so its content type does not matter.
    static let revoke = ReplyTable([
        ReplyRow(200, .empty, .honoured),
        ReplyRow(400...401, .error(configurationErrors), .failure(.misconfigured)),
    ])
}
