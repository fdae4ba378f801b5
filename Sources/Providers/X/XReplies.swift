import HTTP
import Lifecycle

/// What X's endpoints answer, one table each.
///
/// Sources: docs.x.com, "OAuth 2.0 Authorization Code Flow with PKCE"; developer.x.com, "POST
/// oauth/invalidate_token".
enum XReplies {
    /// `POST /2/oauth2/token`.
    ///
    /// `invalid_request` is the answer to a spent code or refresh token, and to a parameter that is
    /// missing; only the description says which. Seen by X's clients: plhery/node-twitter-api-v2,
    /// issue 496 (codes); transitive-bullshit/chatgpt-twitter-bot, `src/twitter.ts` (tokens).
    static let token = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(400, .error(["invalid_grant"]), .refused),
        ReplyRow(
            400,
            .both(
                .error(["invalid_request"]),
                .member(
                    "error_description",
                    .text([
                        "Value passed for the token was invalid.",
                        "Value passed for the authorization code was invalid.",
                    ])
                )
            ),
            .refused
        ),
        OAuth2Replies.clientRow,
    ])

    /// `POST /2/oauth2/revoke`.
    ///
    /// What an unknown token gets is not documented, so no answer says "gone".
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
