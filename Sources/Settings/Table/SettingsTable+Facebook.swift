import Lifecycle

extension SettingsTable {
    /// What only Facebook Login has.
    static let facebookProvider: [Setting] = [
        Setting(
            .provider,
            "client_secret_credential",
            .text(.credential),
            .required(example: .text("facebook-secret")),
            """
            The credential that holds the app secret. With it alone expunged removes the app for \
            a user: no token of the user is needed.
            """
        ).only("facebook").secret().atRestart(),
        Setting(
            .provider,
            "graph_version",
            .text(.apiVersion),
            .defaultsTo(.text(FacebookProviderConfiguration.defaultGraphVersion)),
            """
            The version of the Graph API. Meta retires versions after about two years.
            """
        ).only("facebook"),
        Setting(
            .provider,
            "base_url",
            .text(.url),
            .defaultsTo(.text(FacebookProviderConfiguration.defaultBaseURL)),
            """
            The host of the Graph API. Another one is for a stand-in.
            """
        ).only("facebook"),
        Setting(
            .provider,
            "limited_login_url",
            .text(.url),
            .defaultsTo(.text(FacebookProviderConfiguration.defaultLimitedURL)),
            """
            Where Limited Login publishes its issuer and keys. Another host is for a stand-in.
            """
        ).only("facebook"),
        Setting(
            .provider,
            "uninstall_url",
            .text(.url),
            .defaultsTo(.text(FacebookProviderConfiguration.defaultUninstallURL)),
            """
            Where users of Limited Login are uninstalled. Another host is for a stand-in.
            """
        ).only("facebook"),
    ]
}
