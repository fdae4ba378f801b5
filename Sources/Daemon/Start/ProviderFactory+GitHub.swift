import Providers
import Settings

extension ProviderFactory {
    /// OAuth apps and GitHub Apps.
    func makeGitHub(
        _ provider: ProviderConfiguration,
        _ gitHub: GitHubProviderConfiguration
    ) throws -> GitHubProvider {
        var settings = GitHubSettings(
            name: provider.name,
            clientID: provider.clientIDs.first ?? "",
            clientSecret: try clientSecret(gitHub.clientSecretCredential, of: provider)
        )
        settings.http = http(provider)
        settings.apiBaseURL = gitHub.baseURL
        settings.loginBaseURL = gitHub.loginURL
        return try GitHubProvider(
            settings,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
