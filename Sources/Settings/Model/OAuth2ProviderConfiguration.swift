/// What only `kind = "oauth2"` has.
///
/// At least one of `preset`, `issuer` and `revocationURL` is there.
package struct OAuth2ProviderConfiguration: Hashable, Sendable {
    package let preset: OAuth2Preset?
    package let issuer: String?
    package let revocationURL: String?
    package let introspectionURL: String?
    package let tokenURL: String?
    package let keysURL: String?
    /// Hosts besides the issuer's own that its metadata may name.
    package let endpointHosts: [String]
    package let secrets: ClientSecrets
    /// `nil`: as the preset says, else basic with a secret and none without.
    package let clientAuthentication: ClientAuthentication?
    package let privateKey: ClientKey?
    package let audience: AssertionAudience
    /// `nil`: as the preset says, else introspection where there is an endpoint for it.
    package let check: CheckMethod?
    package let nonce: NonceForm
    package let revokeEndsGrant: Bool?
    /// `nil`: as the preset says, else false.
    package let rotatesRefreshTokens: Bool?
    package let userActionURL: String?
}

/// The credentials with client secrets, by client id.
package struct ClientSecrets: Hashable, Sendable {
    /// For a provider with one client id.
    package let single: String?
    package let byClientID: [String: String]

    /// The credential for a client id; `nil`: a public client.
    package func credential(for clientID: String) -> String? { byClientID[clientID] ?? single }

    /// The credentials with the keys that name them.
    var named: [(name: String, key: String)] {
        (single.map { [($0, "client_secret_credential")] } ?? [])
            + byClientID.values.sorted().map { ($0, "client_secret_credentials") }
    }
}

/// A private key that authenticates clients.
package struct ClientKey: Hashable, Sendable {
    package let credential: String
    package let algorithm: ClientKeyAlgorithm
    /// `kid`, when the provider has several keys of the client.
    package let keyID: String?
}

/// How a private key signs (RFC 7518 §3.1).
package enum ClientKeyAlgorithm: String, Sendable, CaseIterable {
    case es256 = "ES256"
    case rs256 = "RS256"
    case ps256 = "PS256"
}

/// How a client shows who it is; names as registered for RFC 8414
/// `token_endpoint_auth_methods_supported`.
package enum ClientAuthentication: String, Sendable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    case none
}

/// What the audience of a client assertion is.
package enum AssertionAudience: String, Sendable, CaseIterable {
    case tokenEndpoint = "token_endpoint"
    case issuer
}

/// How it is found out whether a token is live.
package enum CheckMethod: String, Sendable, CaseIterable {
    case introspection, refresh, none
}

/// What the nonce of an id token is made of.
package enum NonceForm: String, Sendable, CaseIterable {
    case plain, sha256, any
}

/// Vendors that are known well enough to need no endpoints.
package enum OAuth2Preset: String, Sendable, CaseIterable {
    case auth0, discord, dropbox, gitlab, kakao, keycloak, line, linkedin, naver, okta, salesforce
    case slack, spotify, twitch, vk, yahoo, zoom

    /// Whether the preset is used with the operator's own issuer.
    var needsIssuer: Bool { [.auth0, .keycloak, .okta].contains(self) }
}
