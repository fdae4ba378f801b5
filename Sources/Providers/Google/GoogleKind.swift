import HTTP
package import Lifecycle
package import Settings

/// Google: OAuth 2 with Google's profile.
package struct GoogleKind: Hashable {
    let secrets: ClientSecrets
    /// One host for all endpoints instead of Google's, for a stand-in.
    let baseURL: String?
    let nonce: NonceRule
}

extension GoogleKind: ProviderKind {
    package static let name = "google"
    package static let directoryWord: String? = "google.com"
    package static let notificationFormats: [any NotificationFormat.Type] = [SecurityEvents.self]
    package static let usualFormat: (any NotificationFormat.Type)? = SecurityEvents.self
    package static let settings: [Setting] =
        ClientSecrets.settings(of: name) + [
            Setting.providerURL("base_url", example: "https://stand-in.example.com/google") {
                "Address of a stand-in."
            },
            NonceRule.setting,
        ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        secrets = ClientSecrets(section, &problems)
        baseURL = section.baseURL("base_url")
        nonce = section.requiredChoice("nonce")
    }

    package var traits: ProviderTraits { OAuth2Profile.google.traits }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let clients = try setup.clientIDs.map { clientID in
            let secret = try secrets.credential(for: clientID).map(setup.secret)
            return OAuth2Client(
                id: clientID,
                authentication: secret.map { .post($0) } ?? OAuth2Client.Authentication.none
            )
        }
        var profile = OAuth2Profile.google
        profile.nonce = nonce
        if let baseURL {
            profile.tokenURL = baseURL + "/token"
            profile.revocationURL = baseURL + "/revoke"
            profile.keysURL = baseURL + "/oauth2/v3/certs"
        }
        return try OAuth2Provider(
            profile,
            http: setup.http,
            clients: clients,
            in: setup.environment
        )
    }
}

extension GoogleKind: SecurityEventTransmitter {
    package static let vendor = "Google"
    /// Google writes its issuer in three ways
    /// ("Protect user accounts with Cross-Account Protection", and OpenID Connect).
    package static let issuers = [
        "https://accounts.google.com/", "https://accounts.google.com", "accounts.google.com",
    ]
    /// Named by accounts.google.com/.well-known/risc-configuration.
    package static let keysURL = "https://www.googleapis.com/oauth2/v3/certs"
}

extension OAuth2Profile {
    /// Google.
    ///
    /// Revocation needs no client and ends every scope of every client of the Cloud project for
    /// that user ("Using OAuth 2.0 to Access Google APIs"; "OpenID Connect"). A token that is not
    /// known any more is 400 `invalid_token`, which proves nothing by itself: a refresh token also
    /// dies unused after six months, and as the oldest of more than 100, while the grant lives. So
    /// it is proof only for a token that was live when the revocation began.
    package static let google = OAuth2Profile(
        issuer: "https://accounts.google.com",
        moreIssuers: ["accounts.google.com"],
        hasMetadata: false,
        tokenURL: "https://oauth2.googleapis.com/token",
        revocationURL: "https://oauth2.googleapis.com/revoke",
        keysURL: "https://www.googleapis.com/oauth2/v3/certs",
        prefersPost: true,
        revocation: RevocationCall(
            hasHint: false,
            client: .absent,
            replies: ReplyTable([
                ReplyRow(200, .empty, .honoured),
                ReplyRow(200, .object, .honoured),
                ReplyRow(400, .error(["invalid_token"]), .refused),
            ])
        ),
        // Google gives out no new refresh token for a refresh.
        check: .refresh,
        sessionErrors: ["invalid_rapt", "rapt_required"],
        revokesWholeGrant: true,
        refusesUnknownTokens: true,
        // Six months without use ("Using OAuth 2.0 to Access Google APIs").
        tokenClock: TokenClock(.seconds(180 * 86_400)),
        userActionURL: "https://myaccount.google.com/connections",
        userActionText: "Open your Google Account, Data & privacy, Third-party apps & services, "
            + "choose the app and delete its connections."
    )
}
