import Providers
import Settings

extension ProviderFactory {
    /// Google: the OAuth 2 family with Google's profile.
    func makeGoogle(
        _ provider: ProviderConfiguration,
        _ google: GoogleProviderConfiguration
    ) throws -> OAuth2Provider {
        let clients = try provider.clientIDs.map { clientID in
            let secret = try google.secrets.credential(for: clientID).map {
                try clientSecret($0, of: provider)
            }
            return OAuth2Client(
                id: clientID,
                authentication: secret.map { .post($0) } ?? OAuth2Client.Authentication.none
            )
        }
        var settings = OAuth2ProviderSettings(
            name: provider.name,
            profile: .google,
            clients: clients
        )
        settings.http = http(provider)
        settings.nonce = google.nonce.rawValue
        if let base = google.baseURL {
            settings.tokenURL = base + "/token"
            settings.revocationURL = base + "/revoke"
            settings.keysURL = base + "/oauth2/v3/certs"
        }
        return try OAuth2Provider(
            settings,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
