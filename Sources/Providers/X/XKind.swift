package import Lifecycle
package import Settings

/// X, by OAuth 2.0 or OAuth 1.0a.
package struct XKind: Hashable {
    /// How users sign in; the value of `authorization`.
    enum Authorization: String, CaseIterable {
        case oauth2
        case oauth1 = "oauth1a"
    }

    static let apiURL = "https://api.x.com"

    let authorization: Authorization
    /// Always there for OAuth 1.0a.
    let clientSecretCredential: String?
    var baseURL = XKind.apiURL
}

extension XKind: ProviderKind {
    package static let name = "x"
    package static let directoryWord: String? = "twitter.com"
    package static let settings: [Setting] = [
        .providerChoice("authorization", defaultsTo: Authorization.oauth2) {
            """
            How users sign in; with "oauth1a" the client id is the consumer key, and a credential \
            is TOKEN:SECRET.
            """
        },
        .providerSecret("client_secret_credential", .optional(example: .text("x-secret"))) {
            "Client secret, or consumer secret for \"oauth1a\". Public clients have none."
        },
        .provider("base_url", .text(.url), .defaultsTo(.text(apiURL))) {
            "Host of the API, or of a stand-in."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        problems.requireSingleClient(section)
        authorization = section.requiredChoice("authorization")
        clientSecretCredential = section.text("client_secret_credential")
        baseURL = section.baseURL("base_url") ?? ""
        if authorization == .oauth1, clientSecretCredential == nil {
            problems.report(
                .missingKey,
                "client_secret_credential",
                "\"oauth1a\" signs with the consumer secret"
            )
        }
    }

    /// A refresh spends the refresh token, so only one that is refused for the last time is asked
    /// about.
    ///
    /// OAuth 1.0a answers error 89 for an unknown token; what revoking one by OAuth 2.0 answers is
    /// not documented.
    package var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: .seconds(86_400),
            livenessLifetime: .zero,
            revokesWholeGrant: false,
            refusesUnknownTokens: authorization == .oauth1,
            rotatesRefreshTokens: true,
            asksRefusedTokens: authorization == .oauth2,
            tokenClock: TokenClock(.seconds(180 * 86_400)),
            userActionURL: "https://x.com/settings/connected_apps",
            userActionText:
                "Open Settings and privacy, Security and account access, Apps and sessions,"
                + " Connected apps on X, choose the app and select Revoke app permissions."
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let secret = try clientSecretCredential.map(setup.secret)
        let authorization: XClient.Authorization =
            switch (authorization, secret) {
            case (.oauth1, let secret?): .oauth1(consumerSecret: secret)
            case (.oauth1, nil), (.oauth2, _): .oauth2(clientSecret: secret)
            }
        return try XProvider(
            self,
            http: setup.http,
            client: XClient(id: setup.clientID, authorization: authorization),
            in: setup.environment
        )
    }
}
