import Lifecycle

extension SettingsTable {
    /// What only a provider with token revocation as in RFC 7009 has.
    static let oauth2Provider: [Setting] = endpoints + clientSecrets("oauth2") + client + behaviour

    private static let endpoints: [Setting] = [
        Setting(
            .provider,
            "preset",
            .choice(OAuth2Preset.allCases.map(\.rawValue)),
            .optional(example: .text(OAuth2Preset.discord.rawValue)),
            """
            A vendor whose endpoints and habits are known; every other key still replaces what the \
            preset says. docs/providers/presets.md has the table.
            """
        ).only("oauth2").atRestart(),
        Setting(
            .provider,
            "issuer",
            .text(.url),
            .optional(example: .text("https://sso.example.com")),
            """
            The issuer, as its metadata (RFC 8414) and its id tokens write it. The metadata names \
            the endpoints that are not given here. Needed unless preset or revocation_url is given.
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
            "jwks_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/jwks")),
            "The keys that sign id tokens (RFC 7517). Discovered from the issuer unless given."
        ).only("oauth2"),
        Setting(
            .provider,
            "endpoint_hosts",
            .texts(.host, 0...16),
            .defaultsTo(.texts([])),
            """
            Hosts that the issuer's metadata may name besides its own. An endpoint at any other \
            host is not used: what an issuer publishes must not lead tokens elsewhere.
            """
        ).only("oauth2"),
    ]

    private static let client: [Setting] = [
        Setting(
            .provider,
            "client_authentication",
            .choice(ClientAuthentication.allCases.map(\.rawValue)),
            .optional(example: .text(ClientAuthentication.basic.rawValue)),
            """
            How the client shows who it is. Unless given: as the preset says, else \
            client_secret_basic with a secret and none without.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "private_key_credential",
            .text(.credential),
            .optional(example: .text("sso-key.pem")),
            """
            The credential that holds the private key of private_key_jwt, PKCS#8 PEM, or one line \
            with the URI of a key in a TPM or HSM (docs/guides/keys-in-hardware.md).
            """
        ).only("oauth2").secret().atRestart(),
        Setting(
            .provider,
            "private_key_algorithm",
            .choice(ClientKeyAlgorithm.allCases.map(\.rawValue)),
            .defaultsTo(.text(ClientKeyAlgorithm.es256.rawValue)),
            "How that key signs (RFC 7518)."
        ).only("oauth2"),
        Setting(
            .provider,
            "private_key_id",
            .text(.clientID),
            .optional(example: .text("2026-01")),
            "The id of that key at the provider, sent as kid."
        ).only("oauth2"),
        Setting(
            .provider,
            "assertion_audience",
            .choice(AssertionAudience.allCases.map(\.rawValue)),
            .defaultsTo(.text(AssertionAudience.tokenEndpoint.rawValue)),
            "What client_secret_jwt and private_key_jwt are made out to (RFC 7523 section 3)."
        ).only("oauth2"),
    ]

    private static let behaviour: [Setting] = [
        Setting(
            .provider,
            "check",
            .choice(CheckMethod.allCases.map(\.rawValue)),
            .optional(example: .text(CheckMethod.introspection.rawValue)),
            """
            How it is found out whether a token is live, which is what a proof needs: by \
            introspection (the client must be allowed to ask about its own tokens), by a refresh \
            (only where the provider gives out no new refresh token), or not at all. Unless given: \
            as the preset says, else introspection with introspection_url and none without.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "revoke_ends_grant",
            .boolean,
            .optional(example: .boolean(true)),
            """
            Whether the revocation of one token ends everything that the user granted to the \
            client. Say true only when the provider's documentation does. Unless given: as the \
            preset says, else false.
            """
        ).only("oauth2"),
        Setting(
            .provider,
            "rotates_refresh_tokens",
            .boolean,
            .optional(example: .boolean(true)),
            """
            Whether a refresh brings a new refresh token and uses the old one up. Where it may, \
            say true: a token that is refused after an unheard answer proves nothing then. Unless \
            given: as the preset says, else false.
            """
        ).only("oauth2"),
        nonce("oauth2"),
        Setting(
            .provider,
            "user_action_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/account/apps")),
            """
            Where a user can cut the link by hand; shown on receipts. Default: the preset's page, \
            else the issuer, else the host of revocation_url.
            """
        ).only("oauth2"),
    ]
}
