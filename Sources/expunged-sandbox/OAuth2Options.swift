import ArgumentParser
import Sandbox

extension OAuth2Configuration.Rotation: ExpressibleByArgument {}
extension OAuth2Configuration.Reach: ExpressibleByArgument {}
extension OAuth2Configuration.UnknownToken: ExpressibleByArgument {}

/// The options of the generic OAuth 2 server.
struct OAuth2Options: ParsableArguments {
    @Option(help: "OAuth 2: whether refresh tokens are replaced when they are used.")
    var oauth2Rotation = OAuth2Configuration.Rotation.rotate

    @Option(help: "OAuth 2: what ends with a revoked token: it alone, its sign-in, the grant.")
    var oauth2Reach = OAuth2Configuration.Reach.signIn

    @Option(help: "OAuth 2: the answer to a revoke of an unknown or dead token.")
    var oauth2UnknownToken = OAuth2Configuration.UnknownToken.ok

    @Flag(help: "OAuth 2: access tokens cannot be revoked (unsupported_token_type).")
    var oauth2KeepsAccessTokens = false

    func apply(to configuration: inout OAuth2Configuration) {
        configuration.rotation = oauth2Rotation
        configuration.reach = oauth2Reach
        configuration.unknownToken = oauth2UnknownToken
        configuration.revokesAccessTokens = !oauth2KeepsAccessTokens
    }
}
