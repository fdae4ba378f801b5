import Engine
import Providers
import Settings
import Vault

extension ProviderFactory {
    /// Any provider of the OAuth 2 family.
    func makeOAuth2(
        _ provider: ProviderConfiguration,
        _ oauth2: OAuth2ProviderConfiguration
    ) throws -> OAuth2Provider {
        try OAuth2Provider(
            settings(
                of: provider,
                oauth2,
                clients: try clients(of: provider, oauth2, profile(of: oauth2))
            ),
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }

    private func profile(of oauth2: OAuth2ProviderConfiguration) -> OAuth2Profile {
        oauth2.preset.flatMap { OAuth2Profile.presets[$0.rawValue] } ?? .standard
    }

    /// What the operator configured, with the clients' secrets.
    func settings(
        of provider: ProviderConfiguration,
        _ oauth2: OAuth2ProviderConfiguration,
        clients: [OAuth2Client]
    ) -> OAuth2ProviderSettings {
        var settings = OAuth2ProviderSettings(
            name: provider.name,
            profile: profile(of: oauth2),
            clients: clients
        )
        settings.http = http(provider)
        settings.issuer = oauth2.issuer ?? settings.issuer
        settings.tokenURL = oauth2.tokenURL
        settings.revocationURL = oauth2.revocationURL
        settings.introspectionURL = oauth2.introspectionURL
        settings.keysURL = oauth2.keysURL
        settings.endpointHosts = oauth2.endpointHosts
        settings.check = oauth2.check.flatMap { OAuth2Check(rawValue: $0.rawValue) }
        if oauth2.check == nil, oauth2.introspectionURL != nil { settings.check = .introspection }
        settings.revokesWholeGrant = oauth2.revokeEndsGrant
        settings.rotatesRefreshTokens = oauth2.rotatesRefreshTokens
        settings.assertionAudienceIsIssuer = oauth2.audience == .issuer
        settings.nonce = oauth2.nonce.rawValue
        settings.userActionURL = oauth2.userActionURL
        return settings
    }

    private func clients(
        of provider: ProviderConfiguration,
        _ oauth2: OAuth2ProviderConfiguration,
        _ profile: OAuth2Profile
    ) throws -> [OAuth2Client] {
        let key = try oauth2.privateKey.map { key in
            let algorithm: SigningAlgorithm =
                switch key.algorithm {
                case .es256: .es256
                case .rs256: .rs256
                case .ps256: .ps256
                }
            return (try signingKey(key.credential, algorithm, of: provider), key.keyID)
        }
        return try provider.clientIDs.map { clientID in
            let secret = try oauth2.secrets.credential(for: clientID).map {
                try clientSecret($0, of: provider)
            }
            let usual: ClientAuthentication = profile.prefersPost ? .post : .basic
            let method = oauth2.clientAuthentication ?? (secret == nil ? .none : usual)
            let authentication: OAuth2Client.Authentication? =
                switch method {
                case .none: OAuth2Client.Authentication.none
                case .basic: secret.map { .basic($0) }
                case .post: secret.map { .post($0) }
                case .secretJWT:
                    try secret.map { .assertion(try HMACSigner(key: $0), keyID: nil) }
                case .privateKeyJWT: key.map { .assertion($0.0, keyID: $0.1) }
                }
            // The settings table has refused a method without what it is made of.
            return OAuth2Client(id: clientID, authentication: authentication ?? .none)
        }
    }
}
