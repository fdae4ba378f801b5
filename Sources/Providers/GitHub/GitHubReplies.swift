import HTTP
import Lifecycle

/// What GitHub's endpoints answer, one table each.
///
/// Sources: docs.github.com, "REST API endpoints for OAuth authorizations", "Troubleshooting OAuth
/// app access token request errors", "Refreshing user access tokens".
enum GitHubReplies {
    /// `POST /login/oauth/access_token` with a code.
    ///
    /// Errors come with status 200.
    static let code = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        // The redirect URI is part of what the code was issued to; one application's wrong one
        // must not pause the provider.
        ReplyRow(200...400, .error(["bad_verification_code", "redirect_uri_mismatch"]), .refused),
        client,
    ])

    /// `POST /login/oauth/access_token` with a refresh token.
    static let refresh = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(200...400, .error(["bad_refresh_token"]), .refused),
        client,
    ])

    /// `DELETE /applications/{client_id}/grant`.
    ///
    /// 404 was seen for a token that is gone and for wrong client credentials alike, so it says
    /// nothing until the credentials are known to be right. 422 is "validation failed, or the
    /// endpoint has been spammed": both at once, so neither. A 404 without GitHub's JSON is another
    /// server's.
    static let grant = ReplyTable([
        ReplyRow(204, .empty, .honoured),
        ReplyRow(404, .member("message", .isPresent), .unclear),
        badCredentials,
        limited,
    ])

    /// `POST /applications/{client_id}/token`.
    static let token = ReplyTable([
        ReplyRow(200, .both(.object, .member("id", .isPresent)), .honoured),
        ReplyRow(404, .member("message", .isPresent), .unclear),
        badCredentials,
        limited,
    ])

    /// `GET /user`.
    static let user = ReplyTable([
        ReplyRow(200, .both(.object, .member("id", .isPresent)), .honoured)
    ])

    private static let client = ReplyRow(
        200...401,
        .error(["incorrect_client_credentials", "unsupported_grant_type"]),
        .failure(.misconfigured)
    )

    /// "Rate limits for the REST API": both limits answer 403 or 429, without `Retry-After` too.
    private static let limited = ReplyRow(
        403,
        .member(
            "message",
            .prefix(["API rate limit exceeded", "You have exceeded a secondary rate limit"])
        ),
        .failure(.throttled(retryAfter: nil))
    )

    private static let badCredentials = ReplyRow(
        401,
        .member("message", .text(["Bad credentials"])),
        .failure(.misconfigured)
    )
}
