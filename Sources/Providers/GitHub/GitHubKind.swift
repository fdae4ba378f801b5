package import Lifecycle
package import Settings

/// OAuth apps and GitHub Apps.
package struct GitHubKind: Hashable {
    let clientSecretCredential: String
    let baseURL: String
    let loginURL: String
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
        .provider("base_url", .text(.url), .defaultsTo(.text(GitHubSettings.apiURL))) {
            "REST API. For GitHub Enterprise Server: https://HOST/api/v3."
        },
        .provider("login_url", .text(.url), .defaultsTo(.text(GitHubSettings.loginURL))) {
            "Host that issues tokens. For GitHub Enterprise Server: https://HOST."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        problems.requireSingleClient(section)
        clientSecretCredential = section.requiredText("client_secret_credential")
        baseURL = section.baseURL("base_url") ?? ""
        loginURL = section.baseURL("login_url") ?? ""
    }

    package var traits: ProviderTraits { GitHubProvider.gitHubTraits }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let settings = GitHubSettings(
            http: setup.http,
            clientID: setup.clientID,
            clientSecret: try setup.secret(clientSecretCredential),
            apiBaseURL: baseURL,
            loginBaseURL: loginURL
        )
        return try GitHubProvider(settings, in: setup.environment)
    }
}
