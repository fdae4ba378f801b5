import HTTP
import Lifecycle
import NIOHTTP1

/// The table of presets; docs/providers/presets.md says where each cell comes from.
///
/// A row says only what differs from the standards. What is not documented is left out: a check
/// that a vendor does not document is ``OAuth2Check/none``, and an answer that it does not document
/// means nothing.
extension OAuth2Profile {
    package static let presets: [String: OAuth2Profile] = [
        "auth0": auth0, "discord": discord, "dropbox": dropbox, "gitlab": gitlab, "hydra": hydra,
        "kakao": kakao, "keycloak": keycloak, "line": line, "linkedin": linkedin, "naver": naver,
        "okta": okta, "salesforce": salesforce, "slack": slack, "spotify": spotify,
        "twitch": twitch, "vk": vk, "yahoo": yahoo, "zoom": zoom,
    ]

    // MARK: As RFC 7009 says

    private static let yahoo = OAuth2Profile(
        issuer: "https://api.login.yahoo.com",
        revocationURL: "https://api.login.yahoo.com/oauth2/revoke",
        introspectionURL: "https://api.login.yahoo.com/oauth2/introspect",
        // Refresh tokens rotate, so that only introspection asks.
        check: .introspection,
        rotatesRefreshTokens: true,
        userActionURL: "https://login.yahoo.com/account/security"
    )

    private static let linkedin = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://www.linkedin.com/oauth/v2/accessToken",
        revocationURL: "https://www.linkedin.com/oauth/v2/revoke",
        prefersPost: true,
        // A year from the sign-in; no refresh puts that off ("Refresh Tokens with OAuth 2.0").
        tokenClock: TokenClock(.seconds(365 * 86_400), isRenewable: false),
        userActionURL:
            "https://www.linkedin.com/mypreferences/d/data-sharing-for-permitted-services"
    )

    private static let discord = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://discord.com/api/oauth2/token",
        revocationURL: "https://discord.com/api/oauth2/token/revoke",
        userActionURL: "https://discord.com/app",
        userActionText: "Open User Settings, Authorized Apps, and choose Deauthorize."
    )

    private static let gitlab = OAuth2Profile(
        issuer: "https://gitlab.com",
        tokenURL: "{issuer}/oauth/token",
        revocationURL: "{issuer}/oauth/revoke",
        prefersPost: true,
        // A refresh "invalidates the existing access_token and refresh_token" (doc/api/oauth2.md).
        rotatesRefreshTokens: true,
        userActionURL: "https://gitlab.com/-/user_settings/applications"
    )

    private static let okta = OAuth2Profile(
        needsIssuer: true,
        grants: .okta,
        check: .introspection
    )

    private static let hydra = OAuth2Profile(needsIssuer: true, grants: .hydra)

    /// Only refresh tokens can be revoked there.
    private static let auth0 = OAuth2Profile(
        needsIssuer: true,
        revocationURL: "{issuer}/oauth/revoke",
        prefersPost: true,
        revocation: RevocationCall(hasHint: false, kinds: [.refreshToken]),
        grants: .auth0
    )

    /// A refresh token takes the user's consent and sessions of the client along; an access token
    /// only itself, so that one revoke is not enough to be sure.
    private static let keycloak = OAuth2Profile(
        needsIssuer: true,
        grants: .keycloak,
        check: .introspection
    )

    /// No client is asked for, and the host is the one where the user signs in.
    private static let salesforce = OAuth2Profile(
        issuer: "https://login.salesforce.com",
        tokenURL: "{issuer}/services/oauth2/token",
        revocationURL: "{issuer}/services/oauth2/revoke",
        prefersPost: true,
        revocation: RevocationCall(hasHint: false, client: .absent)
    )

    /// The endpoint says 400 for a dead token, whatever its page says.
    private static let twitch = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://id.twitch.tv/oauth2/token",
        revocationURL: "https://id.twitch.tv/oauth2/revoke",
        prefersPost: true,
        revocation: RevocationCall(
            hasHint: false,
            client: .idOnly,
            replies: ReplyTable([
                ReplyRow(200, .empty, .honoured),
                ReplyRow(200, .object, .honoured),
                ReplyRow(400, .member("message", .text(["Invalid token"])), .refused),
            ])
        ),
        refusesUnknownTokens: true,
        userActionURL: "https://www.twitch.tv/settings/connections"
    )

    private static let zoom = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://zoom.us/oauth/token",
        revocationURL: "https://zoom.us/oauth/revoke",
        revocation: RevocationCall(
            hasHint: false,
            replies: ReplyTable([
                ReplyRow(200, .member("status", .text(["success"])), .honoured),
                OAuth2Replies.clientRow,
            ])
        ),
        // Only the token of the last refresh is taken ("Extending the expiration …").
        rotatesRefreshTokens: true,
        tokenClock: TokenClock(.seconds(90 * 86_400)),
        userActionURL: "https://marketplace.zoom.us/user/installed"
    )

    // MARK: In ways of their own

    /// The token authorizes its own end; everything is 200, and the body says what happened.
    private static let slack = OAuth2Profile(
        hasMetadata: false,
        revocationURL: "https://slack.com/api/auth.revoke",
        revocation: RevocationCall(
            place: .nowhere,
            client: .absent,
            bearer: .token,
            kinds: [.accessToken],
            replies: ReplyTable([
                ReplyRow(
                    200,
                    .both(.member("ok", .isTrue), .member("revoked", .isTrue)),
                    .honoured
                ),
                ReplyRow(
                    200,
                    .both(
                        .member("ok", .isFalse),
                        .error(["token_revoked", "invalid_auth", "account_inactive"])
                    ),
                    .refused
                ),
                ReplyRow(200, .error(["ratelimited"]), .failure(.throttled(retryAfter: nil))),
            ])
        ),
        refusesUnknownTokens: true,
        userActionText: "Open the workspace's app directory, Manage, and remove the app there."
    )

    /// Ends the access token, its refresh token and every sibling; 200 with `null` or nothing.
    private static let dropbox = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://api.dropboxapi.com/oauth2/token",
        revocationURL: "https://api.dropboxapi.com/2/auth/token/revoke",
        revocation: RevocationCall(
            place: .nowhere,
            client: .absent,
            bearer: .token,
            kinds: [.accessToken],
            refreshesFirst: true,
            replies: ReplyTable([
                ReplyRow(200, .empty, .honoured),
                ReplyRow(200, .member("", .isNull), .honoured),
                ReplyRow(
                    401,
                    .member(
                        "error_summary",
                        .prefix(["invalid_access_token/", "expired_access_token/"])
                    ),
                    .refused
                ),
            ])
        ),
        revokesWholeGrant: true,
        refusesUnknownTokens: true,
        userActionURL: "https://www.dropbox.com/account/connected_apps"
    )

    /// `deauthorize` cuts the whole app off, with a token of the channel and one of the user.
    private static let line = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://api.line.me/oauth2/v2.1/token",
        revocationURL: "https://api.line.me/user/v1/deauthorize",
        clientTokenURL: "https://api.line.me/oauth2/v3/token",
        prefersPost: true,
        revocation: RevocationCall(
            place: .json,
            tokenName: "userAccessToken",
            client: .absent,
            bearer: .clientToken,
            kinds: [.accessToken],
            refreshesFirst: true,
            replies: ReplyTable([
                ReplyRow(204, .empty, .honoured),
                // "Already deauthorized, or the token is invalid": either way it is of no use.
                ReplyRow(400, .member("message", .isPresent), .refused),
            ])
        ),
        revokesWholeGrant: true,
        refusesUnknownTokens: true,
        userActionText: "Open LINE, Settings, Account, Authorized apps, and remove the app."
    )

    /// `unlink` cuts the whole app off, with a live access token of the user.
    private static let kakao = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://kauth.kakao.com/oauth/token",
        revocationURL: "https://kapi.kakao.com/v1/user/unlink",
        prefersPost: true,
        revocation: RevocationCall(
            place: .nowhere,
            client: .absent,
            bearer: .token,
            kinds: [.accessToken],
            refreshesFirst: true,
            replies: ReplyTable([ReplyRow(200, .member("id", .isPresent), .honoured)])
        ),
        revokesWholeGrant: true,
        refusesUnknownTokens: true,
        // In the last month of its two a refresh brings a new one and ends the old.
        rotatesRefreshTokens: true,
        tokenClock: TokenClock(.seconds(60 * 86_400)),
        userActionURL: "https://apps.kakao.com/connected/app/list"
    )

    /// Everything is in the query, the client's secret included, and the access token must be live.
    private static let naver = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://nid.naver.com/oauth2.0/token",
        revocationURL: "https://nid.naver.com/oauth2.0/token",
        prefersPost: true,
        revocation: RevocationCall(
            place: .query,
            tokenName: "access_token",
            hasHint: false,
            fixed: [("grant_type", "delete"), ("service_provider", "NAVER")],
            kinds: [.accessToken],
            refreshesFirst: true,
            replies: ReplyTable([
                ReplyRow(
                    200,
                    .both(.member("result", .text(["success"])), .member("error", .isAbsent)),
                    .honoured
                )
            ])
        ),
        userActionURL: "https://nid.naver.com/internalToken/view/tokenList/pc/ko"
    )

    /// A refresh needs the device's id there, so that only a live access token is of use.
    private static let vk = OAuth2Profile(
        hasMetadata: false,
        tokenURL: "https://id.vk.com/oauth2/auth",
        revocationURL: "https://id.vk.com/oauth2/revoke",
        revocation: RevocationCall(
            tokenName: "access_token",
            hasHint: false,
            client: .idOnly,
            kinds: [.accessToken],
            replies: ReplyTable([
                ReplyRow(
                    200,
                    .both(.member("response", .number([1])), .member("error", .isAbsent)),
                    .honoured
                )
            ])
        ),
        userActionURL: "https://id.vk.com/account/#/services"
    )

    /// No endpoint is known: only the user can cut the link.
    private static let spotify = OAuth2Profile(
        hasMetadata: false,
        hasNoRevocationAPI: true,
        userActionURL: "https://www.spotify.com/account/apps/",
        userActionText: "Open the page of the link and choose Remove access for the app."
    )
}

/// Admin APIs, by the vendors' references and the sources of Hydra and Keycloak.
extension UserGrants {
    /// One listing per user and client; both are of the client's own.
    ///
    /// No list names an access token that came without a refresh token, and no call ends it. `me`
    /// is the owner of the token ("Users API").
    fileprivate static let okta: UserGrants = {
        func calls(_ method: HTTPMethod) -> [Call] {
            ["grants", "tokens"].map {
                let path = "/users/{}/clients/{}/\($0)"
                return Call(method: method, path: path, values: [.user, .client], pageMin: 20)
            }
        }
        return UserGrants(
            lists: calls(.GET),
            ends: calls(.DELETE),
            scheme: "SSWS",
            unknownUser: .member("errorCode", .text(["E0000007"])),
            ownerWord: "me"
        )
    }()

    /// The list leaves out consents that were skipped or are not remembered any more, while their
    /// tokens live; the call ends those, too.
    fileprivate static let hydra: UserGrants = {
        let path = "/admin/oauth2/auth/sessions/consent"
        return UserGrants(
            lists: [
                Call(
                    method: .GET,
                    path: path,
                    query: [("subject", .user)],
                    client: "consent_request.client.client_id"
                )
            ],
            ends: [
                Call(method: .DELETE, path: path, query: [("subject", .user), ("client", .client)])
            ]
        )
    }()

    /// Deletes the grants of all clients: those of one have ids of their own.
    fileprivate static let auth0 = UserGrants(
        lists: [
            Call(
                method: .GET,
                path: "/grants",
                query: [("user_id", .user), ("client_id", .client)]
            )
        ],
        ends: [Call(method: .DELETE, path: "/grants", query: [("user_id", .user)])],
        hasAudience: true
    )

    /// The first call ends consent and offline tokens of the client.
    ///
    /// Where it asks for no consent, only the end of all the user's sessions ends its other tokens.
    fileprivate static let keycloak = UserGrants(
        lists: [
            Call(method: .GET, path: "/users/{}/consents", values: [.user], client: "clientId"),
            Call(method: .GET, path: "/users/{}/sessions", values: [.user], client: "clients"),
        ],
        ends: [
            Call(
                method: .DELETE,
                path: "/users/{}/consents/{}",
                values: [.user, .client],
                rows: [ReplyRow(404, .error(["Consent nor offline token not found"]), .honoured)]
            ),
            Call(method: .POST, path: "/users/{}/logout", values: [.user]),
        ],
        isComplete: true,
        unknownUser: .error(["User not found"])
    )
}
