import Engine
package import Settings

extension OAuth2Kind {
    package static let settings: [Setting] =
        endpoints + ClientSecrets.settings(of: name) + client + behaviour

    private static let endpoints: [Setting] = [
        .provider(
            "preset",
            .choice(OAuth2Profile.presets.keys.sorted()),
            .optional(example: .text("discord"))
        ) {
            """
            Vendor whose endpoints and behavior the service knows (docs/providers/presets.md). \
            Every other key overrides the preset.
            """
        },
        .providerURL("issuer", example: "https://sso.example.com") {
            """
            Issuer, exactly as its metadata (RFC 8414) and id tokens write it. The metadata \
            supplies endpoints that are not set. Required without preset and revocation_url.
            """
        },
        .providerURL("revocation_url", example: "https://sso.example.com/oauth2/revoke") {
            "Revocation endpoint (RFC 7009)."
        },
        .providerURL("introspection_url", example: "https://sso.example.com/oauth2/introspect") {
            "Introspection endpoint (RFC 7662), which proves that a token is revoked."
        },
        .providerURL("token_url", example: "https://sso.example.com/oauth2/token") {
            "Token endpoint for authorization codes (RFC 6749)."
        },
        .providerURL("jwks_url", example: "https://sso.example.com/jwks") {
            "Keys that sign id tokens (RFC 7517)."
        },
        .provider("endpoint_hosts", .texts(.host, 0...16), .defaultsTo(.texts([]))) {
            "Hosts that the issuer's metadata may name besides its own."
        },
    ]

    private static let client: [Setting] = [
        .provider(
            "client_authentication",
            .choice(ClientAuthentication.allCases.map(\.rawValue)),
            .optional(example: .text(ClientAuthentication.basic.rawValue))
        ) {
            """
            How the client authenticates. Default: as the preset says, else client_secret_basic \
            with a secret and none without.
            """
        },
        .providerSecret("private_key_credential", .optional(example: .text("sso-key.pem"))) {
            "The key for private_key_jwt: PKCS#8 PEM, or the URI of a key in hardware."
        },
        .provider(
            "private_key_algorithm",
            .choice([SigningAlgorithm.es256, .rs256, .ps256].map(\.rawValue)),
            .defaultsTo(.text(SigningAlgorithm.es256.rawValue))
        ) { "Signature algorithm of that key (RFC 7518)." },
        .provider("private_key_id", .text(.clientID), .optional(example: .text("2026-01"))) {
            "Id of that key at the provider, sent as kid."
        },
        .provider(
            "assertion_audience",
            .choice(["token_endpoint", "issuer"]),
            .defaultsTo(.text("token_endpoint"))
        ) { "Audience of client_secret_jwt and private_key_jwt (RFC 7523 section 3)." },
    ]

    private static let behaviour: [Setting] = [
        .provider(
            "check",
            .choice(OAuth2Check.allCases.map(\.rawValue)),
            .optional(example: .text(OAuth2Check.introspection.rawValue))
        ) {
            """
            How to find out whether a token is live (docs/providers/oauth2.md). Default: the \
            preset's, else introspection with introspection_url, else none.
            """
        },
        .provider("revoke_ends_grant", .boolean, .optional(example: .boolean(true))) {
            """
            Whether revoking one token ends the user's grant, as the provider documents. Default: \
            as the preset says, else false.
            """
        },
        .provider("rotates_refresh_tokens", .boolean, .optional(example: .boolean(true))) {
            """
            Whether a refresh may end the old refresh token. Default: as the preset says, else \
            false.
            """
        },
        NonceRule.setting,
        .providerURL("user_action_url", example: "https://sso.example.com/account/apps") {
            """
            Page where users can remove the link. Default: the preset's page, else the issuer, \
            else the host of revocation_url.
            """
        },
    ]
}
