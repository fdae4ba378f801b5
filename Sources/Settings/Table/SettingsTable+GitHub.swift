import Lifecycle

extension SettingsTable {
    /// What only GitHub has.
    static let gitHubProvider: [Setting] = [
        Setting(
            .provider,
            "client_secret_credential",
            .text(.credential),
            .required(example: .text("github-secret")),
            """
            The credential that holds the client secret of the OAuth app or GitHub App.
            """
        ).only("github").secret().atRestart(),
        Setting(
            .provider,
            "base_url",
            .text(.url),
            .defaultsTo(.text(GitHubProviderConfiguration.defaultBaseURL)),
            """
            The REST API. For GitHub Enterprise Server: https://HOST/api/v3.
            """
        ).only("github"),
        Setting(
            .provider,
            "login_url",
            .text(.url),
            .defaultsTo(.text(GitHubProviderConfiguration.defaultLoginURL)),
            """
            Where tokens are issued. For GitHub Enterprise Server: https://HOST.
            """
        ).only("github"),
    ]
}
