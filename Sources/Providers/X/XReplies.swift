import HTTP
import Lifecycle

/// What X's endpoints answer, one table each.
///
/// Sources: docs.x.com, "OAuth 2.0 Authorization Code Flow with PKCE"; developer.x.com, "POST
/// oauth/invalidate_token". What an unknown token gets from OAuth 2 is not documented, so no answer
/// of that endpoint says "gone".
enum XReplies {
    static let token = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(400, .error(["invalid_grant"]), .refused),
        OAuth2Replies.clientRow,
    ])

    static let revoke = ReplyTable([
        ReplyRow(200, .both(.object, .member("revoked", .isTrue)), .honoured),
        OAuth2Replies.clientRow,
    ])

    /// `POST /1.1/oauth/invalidate_token.json`.
    ///
    /// The token that ended, or error 89, "invalid or expired token". 215 and 416 ("suspended
    /// application") concern the client. Error 32 may be the signature of one wrong token secret.
    static let invalidate = ReplyTable([
        ReplyRow(200, .both(.object, .member("access_token", .isPresent)), .honoured),
        ReplyRow(401, onlyError([89]), .refused),
        ReplyRow(400...403, onlyError([215, 416]), .failure(.misconfigured)),
    ])

    private static func onlyError(_ codes: Set<Int>) -> ReplyShape {
        .both(.member("errors.0.code", .number(codes)), .member("errors.1", .isAbsent))
    }
}
