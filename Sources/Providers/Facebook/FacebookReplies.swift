import HTTP
import Lifecycle

/// What Facebook's endpoints answer, one table each.
///
/// Sources: "Handle Errors" (Graph API), "Revoking Permissions", "Debugging" (access tokens), "OIDC
/// Token for Limited Login", all developers.facebook.com. Client failures come as 400 too, so the
/// body decides.
enum FacebookReplies {
    /// "Handle Errors": limits and temporary blocks; 1, 2, 4 and 17 are the API's own "try later".
    private static let later = ReplyRow(
        400...599,
        .member("error.code", .number([1, 2, 4, 17, 341, 368])),
        .failure(.throttled(retryAfter: nil))
    )

    /// An access token error, "the app is not installed".
    private static let notInstalled = ReplyShape.both(
        .member("error.code", .number([190])),
        .member("error.error_subcode", .number([458]))
    )

    /// `true` is what the reference shows, `{"success":true}` what newer versions write.
    private static let successes = [
        ReplyRow(200, .member("", .isTrue), .honoured),
        ReplyRow(200, .both(.object, .member("success", .isTrue)), .honoured),
    ]

    /// `DELETE /{app-scoped-id}/permissions`.
    ///
    /// "Not installed" and "no such object" are `refused` and `unclear`: both are confirmed by a
    /// look at the permissions before they mean anything.
    static let delete = table(
        successes + [
            ReplyRow(400...499, notInstalled, .refused),
            ReplyRow(400...499, .member("error.code", .number([100])), .unclear),
        ]
    )

    /// `GET /{app-scoped-id}/permissions`: an empty list is an app without any permission.
    static let permissions = table([
        ReplyRow(200, .both(.object, .member("data", .isPresent)), .honoured),
        ReplyRow(400...499, notInstalled, .unclear),
    ])

    /// `GET /debug_token`: what it says about the token is read by the caller.
    ///
    /// Asked with the app's own token, so an error about tokens or the application is ours.
    static let debug = table([
        ReplyRow(200, .both(.object, .member("data.is_valid", .isPresent)), .honoured),
        ReplyRow(400...499, .member("error.code", .number([101, 190])), .refused),
    ])

    /// `GET /oauth/access_token`: errors of codes are not documented, so none refuses one.
    static let token = table([ReplyRow(200, .tokens, .honoured)])

    /// `POST /platform/uninstall/` of Limited Login; its answers are not documented, so only the
    /// success of the endpoint that it replaces counts.
    static let uninstall = table(successes)

    /// Graph writes `text/javascript` to some callers.
    private static func table(_ rows: [ReplyRow]) -> ReplyTable {
        ReplyTable(rows + [later], alsoJSON: ["text/javascript"])
    }
}
