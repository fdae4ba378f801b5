import HTTP
import Lifecycle

/// How it is found out whether a token is live.
enum OAuth2Check: String, Sendable, CaseIterable {
    /// By RFC 7662: proof before and after a revocation.
    case introspection
    /// By the refresh grant, for a provider that gives out no new refresh token.
    case refresh
    case none
}

/// How one vendor does OAuth 2: a row of the table of presets, or the standard itself, with what
/// the operator configures over it.
package struct OAuth2Profile: Sendable {
    /// The issuer of id tokens and metadata; of a preset, where there is one for everybody.
    var issuer: String?
    /// Further spellings of `iss` in id tokens.
    var moreIssuers: Set<String> = []
    /// Whether every user of the vendor's software has an issuer of their own.
    var needsIssuer = false
    /// Whether endpoints that are not known are taken from the issuer's metadata.
    var hasMetadata = true
    /// Authorities besides the issuer's own that its metadata may name.
    var endpointHosts: [String] = []
    /// `{issuer}` in a URL is what the operator configured.
    var tokenURL: String?
    var revocationURL: String?
    var introspectionURL: String?
    var keysURL: String?
    /// For a revocation that the client itself authorizes.
    var clientTokenURL: String?
    /// Where ``grants`` are asked about; without it they are not.
    var adminURL: String?
    /// Whether a secret goes into the form instead of the header, unless the operator says.
    package var prefersPost = false
    var revocation = RevocationCall()
    /// How the vendor ends what a user granted, by the user's id alone.
    var grants: UserGrants?
    var check = OAuth2Check.none
    /// Whether the audience of a client assertion is the issuer instead of the token endpoint.
    var assertionAudienceIsIssuer = false
    var nonce = NonceRule.plain
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

    var urls: [EndpointBook.Role: String] {
        let known: [EndpointBook.Role: String?] = [
            .token: tokenURL, .revocation: revocationURL, .introspection: introspectionURL,
            .keys: keysURL, .clientToken: clientTokenURL,
        ]
        let base = issuer.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        return known.compactMapValues { $0?.replacing("{issuer}", with: base) }
    }

    /// Where a user can cut the link: what is configured, what the preset knows, or the host that
    /// revokes, so that nobody is told to go nowhere.
    private var userActionPage: String {
        if let page = userActionURL ?? issuer { return page }
        let endpoint = urls[.revocation] ?? urls[.token] ?? ""
        let parts = endpoint.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/") + "/"
    }

    /// What the state machine must know, whatever the clients are.
    var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: check != .none,
            canCheckAccessToken: check == .introspection,
            canCheckSubject: adminURL != nil,
            // No vendor here limits it; proof is asked for right after the revocation.
            refreshInterval: .zero,
            // Introspection changes nothing and tells more than an exchange of yesterday: that it
            // answers for this kind of token, without which a later "inactive" is worth nothing.
            livenessLifetime: check == .introspection ? .seconds(60) : .seconds(86_400),
            revokesWholeGrant: revokesWholeGrant,
            refusesUnknownTokens: refusesUnknownTokens,
            hasNoRevocationAPI: hasNoRevocationAPI,
            extraKinds: adminURL == nil ? [] : [.subject],
            rotatesRefreshTokens: rotatesRefreshTokens,
            checksByRefresh: check == .refresh,
            refreshesToRevoke: check == .refresh || revocation.refreshesFirst,
            tokenClock: tokenClock,
            userActionURL: userActionPage,
            userActionText: userActionText
        )
    }
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

    enum Client: Sendable {
        case authenticated
        case idOnly
        case absent
    }

    /// What `Authorization: Bearer` holds.
    enum Bearer: Sendable {
        case nothing
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
