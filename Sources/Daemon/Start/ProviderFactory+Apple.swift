import Engine
import Providers
import Settings

extension ProviderFactory {
    /// Sign in with Apple.
    func makeApple(
        _ provider: ProviderConfiguration,
        _ apple: AppleProviderConfiguration
    ) throws -> AppleProvider {
        var settings = AppleProviderSettings(
            name: provider.name,
            teamID: apple.teamID,
            keyID: apple.keyID,
            clientIDs: provider.clientIDs,
            baseURL: apple.baseURL
        )
        settings.http = http(provider)
        return try AppleProvider(
            settings,
            signer: try signingKey(apple.privateKeyCredential, .es256, of: provider),
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
