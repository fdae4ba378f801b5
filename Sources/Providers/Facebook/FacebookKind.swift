package import Lifecycle
package import Settings

/// Facebook Login and Limited Login.
package struct FacebookKind: Hashable {
    let clientSecretCredential: String
    let graphVersion: String
    let baseURL: String
    let limitedURL: String
    let uninstallURL: String
}

extension FacebookKind: ProviderKind {
    package static let name = "facebook"
    package static let directoryWord: String? = "facebook.com"
    package static let notificationFormats: [any NotificationFormat.Type] = [MetaNotifications.self]
    package static let settings: [Setting] = [
        .providerSecret("client_secret_credential", .required(example: .text("facebook-secret"))) {
            "The app secret."
        },
        .provider(
            "graph_version",
            .text(.apiVersion),
            .defaultsTo(.text(FacebookSettings.graphVersion))
        ) { "Version of the Graph API. Meta retires one after about two years." },
        .provider("base_url", .text(.url), .defaultsTo(.text(FacebookSettings.graphURL))) {
            "Host of the Graph API."
        },
        .provider(
            "limited_login_url",
            .text(.url),
            .defaultsTo(.text(FacebookSettings.limitedURL))
        ) { "Host of issuer and keys of Limited Login." },
        .provider("uninstall_url", .text(.url), .defaultsTo(.text(FacebookSettings.uninstallURL))) {
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

    package var traits: ProviderTraits { FacebookProvider.facebookTraits }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        let settings = FacebookSettings(
            http: setup.http,
            appID: setup.clientID,
            appSecret: try setup.secret(clientSecretCredential),
            version: graphVersion,
            graphBaseURL: baseURL,
            limitedBaseURL: limitedURL,
            uninstallBaseURL: uninstallURL
        )
        return try FacebookProvider(settings, in: setup.environment)
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
