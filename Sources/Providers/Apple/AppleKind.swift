import Engine
package import Lifecycle
package import Settings

/// Sign in with Apple.
package struct AppleKind: Hashable {
    /// The issuer of id tokens and the audience of client secrets, whatever the base URL is.
    static let issuer = "https://appleid.apple.com"

    let teamID: String
    let keyID: String
    let privateKeyCredential: String
    /// Scheme, host and port, without a slash at the end.
    var baseURL = AppleKind.issuer
}

extension AppleKind: ProviderKind {
    package static let name = "apple"
    package static let directoryWord: String? = "apple.com"
    package static let notificationFormats: [any NotificationFormat.Type] = [
        AppleNotifications.self
    ]
    package static let usualFormat: (any NotificationFormat.Type)? = AppleNotifications.self
    package static let clientIDsNote: String? =
        "For Apple: the bundle ids of the apps and the Services IDs of the web sites."
    package static let settings: [Setting] = [
        .provider("team_id", .text(.appleID), .required(example: .text("ABCDE12345"))) {
            "Team of the client ids."
        },
        .provider("key_id", .text(.appleID), .required(example: .text("KEY1234567"))) {
            "Id of the private key."
        },
        .providerSecret("private_key_credential", .required(example: .text("apple-key.p8"))) {
            """
            The private key: Apple's .p8 file, or the URI of a key in hardware \
            (docs/guides/keys-in-hardware.md).
            """
        },
        .provider("base_url", .text(.origin), .defaultsTo(.text(issuer))) {
            "Host of a stand-in."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        teamID = section.requiredText("team_id")
        keyID = section.requiredText("key_id")
        privateKeyCredential = section.requiredText("private_key_credential")
        baseURL = section.baseURL("base_url") ?? ""
    }

    /// "Verifying a user", Apple: a refresh token is checked at most once a day.
    package var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: true,
            refreshInterval: .seconds(86_400),
            livenessLifetime: .seconds(86_400),
            revokesWholeGrant: true,
            userActionURL: "https://support.apple.com/en-us/102571",
            userActionText:
                "Open Settings, tap your name, then Sign in with Apple, choose the app and tap "
                + "Stop Using. The page of the link also shows how to do it on the web."
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        try AppleProvider(
            self,
            http: setup.http,
            clientIDs: setup.clientIDs,
            signer: try setup.signer(privateKeyCredential, .es256),
            in: setup.environment
        )
    }
}

extension TextRule {
    static let appleID = TextRule("Apple identifier", "10 characters A-Z or 0-9") { text in
        text.utf8.count == 10 && text.utf8.allSatisfy { isUpper($0) || isDigit($0) }
    }
}
