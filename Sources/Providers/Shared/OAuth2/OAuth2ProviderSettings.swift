package import HTTP
package import Lifecycle

/// How it is found out whether a token is live.
package enum OAuth2Check: String, Sendable, CaseIterable {
    /// By RFC 7662: proof before and after a revocation.
    case introspection
    /// By the refresh grant, for a provider that gives out no new refresh token.
    case refresh
    case none
}

/// What an operator configures for a provider of the OAuth 2 family, over what its profile says.
package struct OAuth2ProviderSettings: Sendable {
    package var http: RemoteSettings
    package let profile: OAuth2Profile
    package var clients: [OAuth2Client]
    /// Names the endpoints that are not given, and signs id tokens.
    package var issuer: String?
    /// Each replaces the profile's.
    package var tokenURL: String?
    package var revocationURL: String?
    package var introspectionURL: String?
    package var keysURL: String?
    /// Authorities besides the issuer's own that its metadata may name.
    package var endpointHosts: [String] = []
    package var check: OAuth2Check?
    package var revokesWholeGrant: Bool?
    package var rotatesRefreshTokens: Bool?
    /// Whether the audience of a client assertion is the issuer instead of the token endpoint.
    package var assertionAudienceIsIssuer = false
    package var nonce = NonceRule.plain
    package var userActionURL: String?

    package init(
        name: ProviderName,
        profile: OAuth2Profile = .standard,
        clients: [OAuth2Client] = []
    ) {
        http = RemoteSettings(name: name)
        (self.profile, self.clients) = (profile, clients)
        issuer = profile.issuer
    }

    var urls: [EndpointBook.Role: String] {
        var urls: [EndpointBook.Role: String] = [:]
        let chosen: [(EndpointBook.Role, String?, String?)] = [
            (.token, tokenURL, profile.tokenURL),
            (.revocation, revocationURL, profile.revocationURL),
            (.introspection, introspectionURL, profile.introspectionURL),
            (.keys, keysURL, profile.keysURL),
            (.clientToken, nil, profile.clientTokenURL),
        ]
        for (role, given, usual) in chosen {
            if let given {
                urls[role] = given
            } else if let usual {
                let base = issuer.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
                urls[role] = usual.replacing("{issuer}", with: base)
            }
        }
        return urls
    }

    /// Whether the issuer's metadata is read for what is not given.
    var discovers: Bool { profile.hasMetadata && issuer != nil }

    /// Where a user can cut the link: what is configured, what the preset knows, or the host that
    /// revokes, so that nobody is told to go nowhere.
    var userActionPage: String {
        if let page = userActionURL ?? profile.userActionURL ?? issuer { return page }
        let endpoint = urls[.revocation] ?? urls[.token] ?? ""
        let parts = endpoint.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/") + "/"
    }

    var effectiveCheck: OAuth2Check { check ?? profile.check }
}
