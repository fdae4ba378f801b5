import HTTP
import Lifecycle

/// What endpoints by the standards answer, one table each.
enum OAuth2Replies {
    /// Errors that name the client; servers give them for another client's token, too.
    static let clientErrors: Set<String> = ["invalid_client", "unauthorized_client"]

    /// Errors that say our client is wrong, whatever token came along (RFC 6749 §5.2).
    ///
    /// Google has words of its own for a client that was deleted or disabled.
    static let clientRow = ReplyRow(
        400...401,
        .error([
            "invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type",
            "deleted_client", "disabled_client",
        ]),
        .failure(.misconfigured)
    )

    private static let clientRows = [
        clientRow,
        // RFC 9110 §15.5.2: no valid credentials, which here are the client's.
        ReplyRow(401, .noPage, .failure(.misconfigured)),
    ]

    /// The token endpoint (RFC 6749 §5).
    static let token = ReplyTable(
        [
            ReplyRow(200, .tokens, .honoured),
            ReplyRow(400, .error(["invalid_grant"]), .refused),
            ReplyRow(400, .error(["invalid_request"]), .unclear),
        ] + clientRows
    )

    /// The revocation endpoint (RFC 7009 §2.2).
    ///
    /// A client ignores the body of a 200, with two exceptions: a page is not the endpoint's, and a
    /// body that speaks of an error is no success. Keycloak says 200 `invalid_token` for a token
    /// that it does not know; others say the same with 400 (Google, Twitch, Salesforce).
    static let revocation = ReplyTable(
        [
            ReplyRow(200, .error(["invalid_token"]), .refused),
            ReplyRow(200, .member("error", .isPresent), .failure(.unusable)),
            ReplyRow(200, .noPage, .honoured),
            ReplyRow(400, .error(["invalid_token"]), .refused),
            ReplyRow(400, .error(["unsupported_token_type"]), .unclear),
        ] + clientRows
    )

    /// The introspection endpoint (RFC 7662 §2.2 and §2.3).
    static let introspection = ReplyTable(
        [
            ReplyRow(200, .member("active", .isTrue), .honoured),
            ReplyRow(200, .member("active", .isFalse), .refused),
        ] + clientRows
    )
}
