import Providers
import Settings

extension ProviderFactory {
    /// X, by OAuth 2.0 or OAuth 1.0a.
    func makeX(
        _ provider: ProviderConfiguration,
        _ x: XProviderConfiguration
    ) throws -> XProvider {
        let secret = try x.clientSecretCredential.map { try clientSecret($0, of: provider) }
        let authorization: XSettings.Authorization =
            switch (x.authorization, secret) {
            case (.oauth1, let secret?): .oauth1(consumerSecret: secret)
            case (.oauth1, nil), (.oauth2, _): .oauth2(clientSecret: secret)
            }
        var settings = XSettings(
            name: provider.name,
            clientID: provider.clientIDs.first ?? "",
            authorization: authorization
        )
        settings.http = http(provider)
        settings.baseURL = x.baseURL
        return try XProvider(
            settings,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
