package import Lifecycle
package import Settings

/// Facebook Login and Limited Login.
package struct FacebookKind: Hashable {
    static let graphURL = "https://graph.facebook.com"
    /// Where Limited Login publishes its metadata and keys.
    static let limitedHost = "https://limited.facebook.com"
    /// Where Limited Login users are uninstalled.
    static let uninstallHost = "https://www.limited.facebook.com"
    /// The version that Meta's reference showed last.
    static let latestVersion = "v25.0"

    let clientSecretCredential: String
    var graphVersion = FacebookKind.latestVersion
    var baseURL = FacebookKind.graphURL
    var limitedURL = FacebookKind.limitedHost
    var uninstallURL = FacebookKind.uninstallHost
}

extension FacebookKind: ProviderKind {
    package static let name = "facebook"
    package static let directoryWord: String? = "facebook.com"
    package static let notificationFormats: [any NotificationFormat.Type] = [MetaNotifications.self]
    package static let settings: [Setting] = [
        .providerSecret("client_secret_credential", .required(example: .text("facebook-secret"))) {
            "The app secret."
        },
        .provider("graph_version", .text(.apiVersion), .defaultsTo(.text(latestVersion))) {
            "Version of the Graph API. Meta retires one after about two years."
        },
        .provider("base_url", .text(.url), .defaultsTo(.text(graphURL))) {
            "Host of the Graph API."
        },
        .provider("limited_login_url", .text(.url), .defaultsTo(.text(limitedHost))) {
            "Host of issuer and keys of Limited Login."
        },
        .provider("uninstall_url", .text(.url), .defaultsTo(.text(uninstallHost))) {
            "Host that uninstalls the app for users of Limited Login."
        },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        problems.requireSingleClient(section)
        clientSecretCredential = section.requiredText("client_secret_credential")
        graphVersion = section.requiredText("graph_version")
        baseURL = section.baseURL("base_url") ?? ""
        limitedURL = section.baseURL("limited_login_url") ?? ""
        uninstallURL = section.baseURL("uninstall_url") ?? ""
    }

    /// There is no refresh token, and a check is not proof of a removal.
    package var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: .seconds(86_400),
            // An access token that lived yesterday proves nothing about a removal today.
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            refusesUnknownTokens: true,
            extraKinds: [.idToken, .subject],
            // A long-lived token; the app's own token revokes where the user's id is known.
            tokenClock: TokenClock(
                .seconds(60 * 86_400),
                kind: .accessToken,
                isRenewable: false,
                isMootWithSubject: true
            ),
            userActionURL: "https://www.facebook.com/settings?tab=applications",
            userActionText:
                "Open Settings & privacy, Settings, Apps and websites on Facebook, choose the app "
                + "and select Remove."
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        try FacebookProvider(
            self,
            http: setup.http,
            appID: setup.clientID,
            appSecret: try setup.secret(clientSecretCredential),
            in: setup.environment
        )
    }
}

extension TextRule {
    static let apiVersion = TextRule(
        "API version",
        "'v' and two numbers with a dot between, such as v25.0"
    ) { text in
        let numbers = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.first == 0x76 && numbers.count == 2
            && numbers.allSatisfy { UInt16($0) != nil && $0.utf8.allSatisfy(isDigit) }
    }
}
