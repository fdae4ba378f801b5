import HTTP
import Lifecycle

/// What Microsoft's endpoints answer, one table each.
///
/// Sources: learn.microsoft.com, "OAuth 2.0 authorization code flow", "Microsoft Entra
/// authentication and authorization error codes", and the Graph pages of each call.
enum MicrosoftReplies {
    /// Codes that say that a refresh token is over: expired (70008, 700082, 700084) or revoked
    /// (50173).
    ///
    /// Other `invalid_grant` may only want the user to do something.
    private static let isOver = ReplyShape.both(
        .error(["invalid_grant"]),
        .member("error_codes.0", .number([50_173, 70_008, 700_082, 700_084]))
    )

    static let code = token(ReplyRow(400, .error(["invalid_grant"]), .refused))

    static let refresh = token(ReplyRow(400, isOver, .refused))

    static let application = token()

    /// `GET /servicePrincipals(appId='…')`.
    static let principal = graph(200...200, .both(.object, .member("id", .isPresent)))

    /// Lists of grants and of assignments; a user that is gone has none.
    static let list = graph(200...200, .both(.object, .member("value", .isPresent)))

    /// `DELETE` of a grant or an assignment; missing means that an earlier call did it.
    static let delete = graph(204...204, .empty)

    /// `POST /users/{id}/revokeSignInSessions`: the page warns that other 2xx come too.
    static let sessions = graph(200...204, .anything)

    /// A tenant that does not exist comes as `invalid_request` with a code of its own.
    private static func token(_ refusals: ReplyRow...) -> ReplyTable {
        let tenant = ReplyShape.member("error_codes.0", .number([90_002]))
        return ReplyTable(
            [ReplyRow(200, .tokens, .honoured)] + refusals
                + [OAuth2Replies.clientRow, ReplyRow(400, tenant, .failure(.misconfigured))]
        )
    }

    /// 403 is a permission that the tenant did not consent to, although it is configured so.
    private static func graph(_ success: ClosedRange<Int>, _ shape: ReplyShape) -> ReplyTable {
        func has(_ code: String) -> ReplyShape { .member("error.code", .text([code])) }
        return ReplyTable([
            ReplyRow(success, shape, .honoured),
            ReplyRow(404, has("Request_ResourceNotFound"), .refused),
            ReplyRow(403, has("Authorization_RequestDenied"), .failure(.misconfigured)),
        ])
    }
}
