import Lifecycle

extension SettingsTable {
    /// What only a provider with token revocation as in RFC 7009 has.
    static let oauth2Provider: [Setting] = [
        Setting(
            .provider,
            "issuer",
            .text(.url),
            .optional(example: .text("https://sso.example.com")),
            """
            The issuer, whose metadata names the endpoints (RFC 8414). Needed unless \
            revocation_url is given.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "revocation_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/oauth2/revoke")),
            "The revocation endpoint (RFC 7009). Discovered from the issuer unless given."
        ).only("oauth2"),
        Setting(
            .provider,
            "introspection_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/oauth2/introspect")),
            """
            The introspection endpoint (RFC 7662), which proves that a token is gone. Discovered \
            from the issuer unless given.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "token_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/oauth2/token")),
            """
            The token endpoint, where authorization codes are exchanged (RFC 6749). Discovered \
            from the issuer unless given.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "client_secret_credential",
            .text(.credential),
            .optional(example: .text("sso-secret")),
            "The credential that holds the client secret. Public clients have none."
        ).only("oauth2").secret().atRestart(),
        Setting(
            .provider,
            "client_authentication",
            .choice(ClientAuthentication.allCases.map(\.rawValue)),
            .defaultsTo(.text(ClientAuthentication.basic.rawValue)),
            "How the client secret is sent (RFC 6749 section 2.3.1). Not used without a secret."
        ).only("oauth2"),
    ]
}
