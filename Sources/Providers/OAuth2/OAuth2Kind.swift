import Engine
package import Lifecycle
package import Settings

/// Any provider with token revocation as in RFC 7009, and every preset.
package struct OAuth2Kind {
    struct Key {
        let credential: String
        let algorithm: SigningAlgorithm
        /// `kid`, when the provider has several keys of the client.
        let id: String?
    }

    let preset: String?
    let secrets: ClientSecrets
    /// `nil`: as the preset says, else basic with a secret and none without.
    let authentication: ClientAuthentication?
    let key: Key?
    let profile: OAuth2Profile
    let adminClientID: String?
    let adminSecret: String?
}

extension OAuth2Kind: ProviderKind {
    package static let name = "oauth2"
    package static let summary =
        "any provider with token revocation as in RFC 7009, and every preset"
    package static let notificationFormats: [any NotificationFormat.Type] = [
        SharedSecretNotifications<KakaoNotificationReceiver>.self
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        preset = section.text("preset")
        let usual = preset.flatMap { OAuth2Profile.presets[$0] } ?? .standard
        Self.checkIssuer(section, preset.map { _ in usual }, &problems)
        secrets = ClientSecrets(section, &problems)
        authentication = section.choice("client_authentication")
        key = section.text("private_key_credential").map {
            Key(
                credential: $0,
                algorithm: section.choice("private_key_algorithm") ?? .es256,
                id: section.text("private_key_id")
            )
        }
        profile = Self.profile(section, over: usual)
        adminClientID = section.text("admin_client_id")
        adminSecret = section.text("admin_secret_credential")
        checkAuthentication(section, &problems)
        checkAdmin(&problems)
    }

    package var traits: ProviderTraits { profile.traits }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        try OAuth2Provider(
            profile,
            http: setup.http,
            clients: try clients(setup),
            admin: try adminAccess(setup),
            in: setup.environment
        )
    }

    private func adminAccess(_ setup: ProviderSetup) throws -> AdminAPI.Access {
        guard let secret = try adminSecret.map(setup.secret) else { return .open }
        guard let adminClientID else { return .token(secret) }
        let proof: OAuth2Client.Authentication =
            profile.prefersPost ? .post(secret) : .basic(secret)
        return .client(OAuth2Client(id: adminClientID, authentication: proof))
    }

    private func clients(_ setup: ProviderSetup) throws -> [OAuth2Client] {
        let signer = try key.map { try setup.signer($0.credential, $0.algorithm) }
        return try setup.clientIDs.map { clientID in
            let secret = try secrets.credential(for: clientID).map(setup.secret)
            let usual: ClientAuthentication = profile.prefersPost ? .post : .basic
            let method = authentication ?? (secret == nil ? .none : usual)
            let authentication: OAuth2Client.Authentication? =
                switch method {
                case .none: OAuth2Client.Authentication.none
                case .basic: secret.map { .basic($0) }
                case .post: secret.map { .post($0) }
                case .secretJWT:
                    try secret.map { .assertion(try setup.signer(with: $0), keyID: nil) }
                case .privateKeyJWT: signer.map { .assertion($0, keyID: key?.id) }
                }
            // checkAuthentication has refused a method without what it is made of.
            return OAuth2Client(id: clientID, authentication: authentication ?? .none)
        }
    }
}

// MARK: - Reading

extension OAuth2Kind {
    private static func checkIssuer(
        _ section: SettingsSection,
        _ profile: OAuth2Profile?,
        _ problems: inout SectionProblems
    ) {
        let hasAddress = section.text("issuer") != nil || section.text("revocation_url") != nil
        guard section.text("issuer") == nil, profile?.needsIssuer ?? !hasAddress else { return }
        problems.report(
            .missingKey,
            "issuer",
            profile == nil
                ? "give preset, or issuer, which names the endpoints, or revocation_url"
                : "this preset is for an issuer of your own"
        )
    }

    private static func profile(
        _ section: SettingsSection,
        over usual: OAuth2Profile
    ) -> OAuth2Profile {
        var profile = usual
        profile.issuer = section.text("issuer") ?? usual.issuer
        profile.tokenURL = section.text("token_url") ?? usual.tokenURL
        profile.revocationURL = section.text("revocation_url") ?? usual.revocationURL
        let introspectionURL = section.text("introspection_url")
        profile.introspectionURL = introspectionURL ?? usual.introspectionURL
        profile.keysURL = section.text("jwks_url") ?? usual.keysURL
        profile.adminURL = section.baseURL("admin_url")
        profile.endpointHosts = section.texts("endpoint_hosts")
        let usualCheck = introspectionURL == nil ? usual.check : .introspection
        profile.check = section.choice("check") ?? usualCheck
        profile.revokesWholeGrant =
            section.optionalFlag("revoke_ends_grant") ?? usual.revokesWholeGrant
        profile.rotatesRefreshTokens =
            section.optionalFlag("rotates_refresh_tokens") ?? usual.rotatesRefreshTokens
        profile.assertionAudienceIsIssuer = section.text("assertion_audience") == "issuer"
        profile.nonce = section.requiredChoice("nonce")
        profile.userActionURL = section.text("user_action_url") ?? usual.userActionURL
        return profile
    }

    private func checkAdmin(_ problems: inout SectionProblems) {
        if profile.adminURL == nil, (adminSecret ?? adminClientID) != nil {
            problems.report(.missingKey, "admin_url", "admin_client_id and its secret are for it")
        }
        if profile.adminURL != nil, profile.grants == nil {
            let known = OAuth2Profile.presets.filter { $0.value.grants != nil }.keys.sorted()
            problems.report(
                .contradiction,
                "admin_url",
                "only these presets have an admin API: \(known.joined(separator: ", "))"
            )
        }
        if adminClientID != nil, adminSecret == nil {
            problems.report(.missingKey, "admin_secret_credential", "admin_client_id needs it")
        }
    }

    private func checkAuthentication(
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) {
        switch authentication {
        case .privateKeyJWT where key == nil:
            problems.report(
                .missingKey,
                "private_key_credential",
                "client_authentication \"private_key_jwt\" needs it"
            )
        case .basic, .post, .secretJWT:
            for clientID in section.texts("client_ids")
            where secrets.credential(for: clientID) == nil {
                problems.report(
                    .missingKey,
                    "client_secret_credential",
                    "client '\(clientID)' has no secret, and client_authentication needs one"
                )
            }
        case .privateKeyJWT, .some(.none), nil:
            if key != nil, authentication != .privateKeyJWT {
                problems.report(
                    .contradiction,
                    "private_key_credential",
                    "only client_authentication \"private_key_jwt\" uses it"
                )
            }
        }
    }
}

extension SettingsSection {
    fileprivate func optionalFlag(_ name: String) -> Bool? {
        values[name].map { $0 == .boolean(true) }
    }
}

/// How a client shows who it is; names as registered for RFC 8414
/// `token_endpoint_auth_methods_supported`.
enum ClientAuthentication: String, Sendable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    case none
}

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
        .providerURL("admin_url", example: "https://sso.example.com/admin/realms/app") {
            "Base URL of the admin API, which revokes by a user's id (docs/providers/presets.md)."
        },
        .provider("admin_client_id", .text(.clientID), .optional(example: .text("expunged"))) {
            "Client that gets its own tokens for admin_url (RFC 6749 section 4.4)."
        },
        .providerSecret("admin_secret_credential", .optional(example: .text("sso-admin"))) {
            "Secret of admin_client_id; without one, a token for admin_url."
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
