package import Lifecycle
package import Settings

/// OAuth apps and GitHub Apps.
package struct GitHubKind: Hashable {
    static let apiURL = "https://api.github.com"
    static let loginHost = "https://github.com"

    let clientSecretCredential: String
    /// Of the REST API; on GitHub Enterprise Server it ends in `/api/v3`.
    var baseURL = GitHubKind.apiURL
    var loginURL = GitHubKind.loginHost
}

extension GitHubKind: ProviderKind {
    package static let name = "github"
    package static let directoryWord: String? = "github.com"
    package static let notificationFormats: [any NotificationFormat.Type] = [
        SharedSecretNotifications<GitHubNotificationReceiver>.self
    ]
    package static let settings: [Setting] = [
        .providerSecret("client_secret_credential", .required(example: .text("github-secret"))) {
            "Client secret of the OAuth app or GitHub App."
        },
        .provider("base_url", .text(.url), .defaultsTo(.text(apiURL))) {
            "REST API. For GitHub Enterprise Server: https://HOST/api/v3."
        },
        .provider("login_url", .text(.url), .defaultsTo(.text(loginHost))) {
            "Host that issues tokens. For GitHub Enterprise Server: https://HOST."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        problems.requireSingleClient(section)
        clientSecretCredential = section.requiredText("client_secret_credential")
        baseURL = section.baseURL("base_url") ?? ""
        loginURL = section.baseURL("login_url") ?? ""
    }

    /// A refresh spends the refresh token, so nothing is asked without need.
    package var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: .seconds(86_400),
            // An access token of a GitHub App lives eight hours; that it lived yesterday does not
            // explain why it is refused today.
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            refusesUnknownTokens: true,
            rotatesRefreshTokens: true,
            refreshesToRevoke: true,
            // Six months, anew with each refresh ("Refreshing user access tokens").
            tokenClock: TokenClock(.seconds(180 * 86_400)),
            userActionURL: "https://github.com/settings/applications",
            userActionText:
                "Open Settings, Applications on GitHub, look under Authorized OAuth Apps and "
                + "Authorized GitHub Apps, and revoke the application."
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        try GitHubProvider(
            self,
            http: setup.http,
            clientID: setup.clientID,
            clientSecret: try setup.secret(clientSecretCredential),
            in: setup.environment
        )
    }
}
