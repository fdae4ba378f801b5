import ArgumentParser
import Sandbox

extension FacebookConfiguration.RepeatedDelete: ExpressibleByArgument {}
extension GitHubConfiguration.BadCredentials: ExpressibleByArgument {}
extension OAuth2Configuration.Rotation: ExpressibleByArgument {}
extension OAuth2Configuration.Reach: ExpressibleByArgument {}
extension OAuth2Configuration.UnknownToken: ExpressibleByArgument {}

/// The answers that standards and vendors leave open.
struct ProviderOptions: ParsableArguments {
    @Option(help: "OAuth 2: whether refresh tokens are replaced when they are used.")
    var oauth2Rotation = OAuth2Configuration.Rotation.rotate

    @Option(help: "OAuth 2: what ends with a revoked token: it alone, its sign-in, the grant.")
    var oauth2Reach = OAuth2Configuration.Reach.signIn

    @Option(help: "OAuth 2: the answer to a revoke of an unknown or dead token.")
    var oauth2UnknownToken = OAuth2Configuration.UnknownToken.ok

    @Flag(help: "OAuth 2: access tokens cannot be revoked (unsupported_token_type).")
    var oauth2KeepsAccessTokens = false

    @Option(help: "Facebook: the answer to a deletion of permissions that are gone.")
    var facebookRepeatedDelete = FacebookConfiguration.RepeatedDelete.notFound

    @Option(help: "Microsoft: how long a deleted grant is still listed, such as 30s.")
    var microsoftListingLag = "0s"

    @Option(help: "GitHub: the answer to wrong client credentials.")
    var githubBadCredentials = GitHubConfiguration.BadCredentials.notFound

    @Flag(help: "X: a revoke of an unknown or dead token is refused.")
    var xRefusesUnknownTokens = false

    func apply(to configuration: inout SandboxConfiguration) throws {
        configuration.oauth2.rotation = oauth2Rotation
        configuration.oauth2.reach = oauth2Reach
        configuration.oauth2.unknownToken = oauth2UnknownToken
        configuration.oauth2.revokesAccessTokens = !oauth2KeepsAccessTokens
        configuration.facebook.repeatedDelete = facebookRepeatedDelete
        configuration.microsoft.listingLagSeconds =
            try TimeSpan.milliseconds(microsoftListingLag) / 1000
        configuration.github.badCredentials = githubBadCredentials
        configuration.x.refusesUnknownTokens = xRefusesUnknownTokens
    }
}
