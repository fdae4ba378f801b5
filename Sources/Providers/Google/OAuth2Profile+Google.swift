import HTTP
import Lifecycle

extension OAuth2Profile {
    /// Google.
    ///
    /// Revocation needs no client and ends every scope of every client of the Cloud project for
    /// that user ("Using OAuth 2.0 to Access Google APIs"; "OpenID Connect"). A token that is not
    /// known any more is 400 `invalid_token`, which proves nothing by itself: a refresh token also
    /// dies unused after six months, and as the oldest of more than 100, while the grant lives. So
    /// it is proof only for a token that was live when the revocation began.
    package static let google = OAuth2Profile(
        issuer: "https://accounts.google.com",
        moreIssuers: ["accounts.google.com"],
        hasMetadata: false,
        tokenURL: "https://oauth2.googleapis.com/token",
        revocationURL: "https://oauth2.googleapis.com/revoke",
        keysURL: "https://www.googleapis.com/oauth2/v3/certs",
        prefersPost: true,
        revocation: RevocationCall(
            hasHint: false,
            client: .absent,
            replies: ReplyTable([
                ReplyRow(200, .empty, .honoured),
                ReplyRow(200, .object, .honoured),
                ReplyRow(400, .error(["invalid_token"]), .refused),
            ])
        ),
        // Google gives out no new refresh token for a refresh.
        check: .refresh,
        sessionErrors: ["invalid_rapt", "rapt_required"],
        revokesWholeGrant: true,
        refusesUnknownTokens: true,
        // Six months without use ("Using OAuth 2.0 to Access Google APIs").
        tokenClock: TokenClock(.seconds(180 * 86_400)),
        userActionURL: "https://myaccount.google.com/connections",
        userActionText: "Open your Google Account, Data & privacy, Third-party apps & services, "
            + "choose the app and delete its connections."
    )
}
