import HTTP
import Lifecycle

/// How one vendor does OAuth 2: a row of the table of presets, or the standard itself.
package struct OAuth2Profile: Sendable {
    /// The issuer of id tokens and metadata, where there is one for everybody.
    var issuer: String?
    /// Further spellings of `iss` in id tokens.
    var moreIssuers: Set<String> = []
    /// Whether every user of the vendor's software has an issuer of their own.
    var needsIssuer = false
    /// Whether endpoints that are not known are taken from the issuer's metadata.
    var hasMetadata = true
    /// `{issuer}` in a URL is what the operator configured.
    var tokenURL: String?
    var revocationURL: String?
    var introspectionURL: String?
    var keysURL: String?
    /// For a revocation that the client itself authorizes.
    var clientTokenURL: String?
    /// Whether a secret goes into the form instead of the header, unless the operator says.
    package var prefersPost = false
    var revocation = RevocationCall()
    var check = OAuth2Check.none
    /// Values of `error_subtype` beside `invalid_grant` that end the user's session and no grant:
    /// the token cannot be used now, and can be revoked.
    var sessionErrors: Set<String> = []
    /// Whether the documentation says that one revoke ends the whole grant.
    var revokesWholeGrant = false
    /// Whether the vendor answers success only for a token that was live; RFC 7009 §2.2 does not.
    var refusesUnknownTokens = false
    /// Whether the documentation says that a refresh uses the refresh token up.
    var rotatesRefreshTokens = false
    /// When a stored token dies unused, where that is documented.
    var tokenClock: TokenClock?
    var hasNoRevocationAPI = false
    var userActionURL: String?
    var userActionText =
        "Sign in at the provider, open the list of connected apps, and remove the app there."

    /// A provider that follows RFC 6749, RFC 7009, RFC 7662 and RFC 8414.
    package static let standard = OAuth2Profile()
}

/// How a provider takes a token to be revoked: RFC 7009 §2.1, or where a vendor departs from it.
struct RevocationCall: Sendable {
    enum Place: Sendable {
        case form
        case query
        case json
        /// No fields; the token is in `Authorization`.
        case nowhere
    }

    /// What the call says about the client.
    enum Client: Sendable {
        case authenticated
        case idOnly
        case absent
    }

    /// What `Authorization: Bearer` holds.
    enum Bearer: Sendable {
        case nothing
        /// The token that is to be revoked.
        case token
        /// A token of the client itself, from the client credentials grant (RFC 6749 §4.4).
        case clientToken
    }

    var place = Place.form
    var tokenName: StaticString = "token"
    var hasHint = true
    var fixed: [(StaticString, String)] = []
    var client = Client.authenticated
    var bearer = Bearer.nothing
    var kinds: Set<CredentialKind> = [.refreshToken, .accessToken]
    /// Whether a refresh token is turned into an access token first, which then ends the grant.
    var refreshesFirst = false
    var replies = OAuth2Replies.revocation
}
