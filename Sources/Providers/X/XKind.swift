package import Lifecycle
package import Settings

/// X, by OAuth 2.0 or OAuth 1.0a.
package struct XKind: Hashable {
    /// How users sign in; the value of `authorization`.
    enum Authorization: String, CaseIterable {
        case oauth2
        case oauth1 = "oauth1a"
    }

    let authorization: Authorization
    /// Always there for OAuth 1.0a.
    let clientSecretCredential: String?
    let baseURL: String
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
            """
            Client secret, or consumer secret for "oauth1a". Public clients have none.
            """
        },
        .provider("base_url", .text(.url), .defaultsTo(.text(XSettings.apiURL))) {
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

    package var traits: ProviderTraits {
        XProvider.traits(
            authorization == .oauth1
                ? .oauth1(consumerSecret: Secret("")) : .oauth2(clientSecret: nil)
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let secret = try clientSecretCredential.map(setup.secret)
        let authorization: XSettings.Authorization =
            switch (authorization, secret) {
            case (.oauth1, let secret?): .oauth1(consumerSecret: secret)
            case (.oauth1, nil), (.oauth2, _): .oauth2(clientSecret: secret)
            }
        let settings = XSettings(
            http: setup.http,
            clientID: setup.clientID,
            authorization: authorization,
            baseURL: baseURL
        )
        return try XProvider(settings, in: setup.environment)
    }
}
