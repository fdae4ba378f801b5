import Providers
import Settings

extension ProviderFactory {
    /// Facebook Login and Limited Login.
    func makeFacebook(
        _ provider: ProviderConfiguration,
        _ facebook: FacebookProviderConfiguration
    ) throws -> FacebookProvider {
        var settings = FacebookSettings(
            name: provider.name,
            appID: provider.clientIDs.first ?? "",
            appSecret: try clientSecret(facebook.clientSecretCredential, of: provider),
            version: facebook.graphVersion
        )
        settings.http = http(provider)
        settings.graphBaseURL = facebook.baseURL
        settings.limitedBaseURL = facebook.limitedURL
        settings.uninstallBaseURL = facebook.uninstallURL
        return try FacebookProvider(
            settings,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
