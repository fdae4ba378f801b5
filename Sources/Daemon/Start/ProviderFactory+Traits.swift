import Lifecycle
import Providers
import Settings

extension ProviderFactory {
    /// What the state machine must know about a provider whose credentials cannot be read.
    func traits(of provider: ProviderConfiguration) -> ProviderTraits {
        switch provider.kind {
        case .apple: AppleProvider.appleTraits
        case .facebook: FacebookProvider.facebookTraits
        case .github: GitHubProvider.gitHubTraits
        case .x(let x):
            XProvider.traits(
                x.authorization == .oauth1
                    ? .oauth1(consumerSecret: Secret("")) : .oauth2(clientSecret: nil)
            )
        case .microsoft(let microsoft):
            MicrosoftProvider.traits(
                of: microsoft.tenant,
                hasGraph: !microsoft.graphTenants.isEmpty
            )
        case .command(let command): CommandProvider.traits(settings(of: provider, command))
        case .google:
            OAuth2Provider.traits(
                OAuth2ProviderSettings(name: provider.name, profile: .google, clients: [])
            )
        case .oauth2(let oauth2):
            OAuth2Provider.traits(settings(of: provider, oauth2, clients: []))
        }
    }
}
