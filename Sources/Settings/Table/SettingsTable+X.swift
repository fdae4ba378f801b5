import Lifecycle

extension SettingsTable {
    /// What only X has.
    static let xProvider: [Setting] = [
        Setting(
            .provider,
            "authorization",
            .choice(XProviderConfiguration.Authorization.allCases.map(\.rawValue)),
            .defaultsTo(.text(XProviderConfiguration.Authorization.oauth2.rawValue)),
            """
            How users sign in. With "oauth1a" the client id is the consumer key, and a \
            credential is the access token and its secret with a colon between.
            """
        ).only("x").atRestart(),
        Setting(
            .provider,
            "client_secret_credential",
            .text(.credential),
            .optional(example: .text("x-secret")),
            """
            The credential that holds the client secret, or the consumer secret for "oauth1a". \
            Public clients of OAuth 2.0 have none.
            """
        ).only("x").secret().atRestart(),
        Setting(
            .provider,
            "base_url",
            .text(.url),
            .defaultsTo(.text(XProviderConfiguration.defaultBaseURL)),
            """
            The host of the API. Another one is for a stand-in.
            """
        ).only("x"),
    ]
}
