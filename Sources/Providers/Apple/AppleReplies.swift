import HTTP
import Lifecycle

/// What Apple's endpoints answer, one table each.
///
/// Sources: "Generate and validate tokens", "Revoke tokens", "ErrorResponse" and TN3107, Apple.
enum AppleReplies {
    /// `POST /auth/token`.
    static let token = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(400, .error(["invalid_grant"]), .refused),
        ReplyRow(400, .error(["invalid_request"]), .unclear),
        OAuth2Replies.clientRow,
    ])

    /// `POST /auth/revoke`: the empty body is the evidence, so its content type does not matter.
    static let revoke = ReplyTable([
        ReplyRow(200, .empty, .honoured),
        OAuth2Replies.clientRow,
    ])
}
