package import Lifecycle

/// The values of a provider's `kind`.
///
/// A new family is a case here, rows in the table, and a reader.
package enum ProviderFamily: String, Sendable, CaseIterable {
    case apple, google, facebook, microsoft, github, x, command, oauth2

    /// Whether this version has an adapter for the family; the others are refused with that reason.
    package var isAvailable: Bool {
        switch self {
        case .apple, .google, .facebook, .microsoft, .github, .x, .command, .oauth2: true
        }
    }
}

/// One `[[provider]]` section.
package struct ProviderConfiguration: Hashable, Sendable {
    package let name: ProviderName
    package let kind: ProviderKind
    /// Not empty, without repetition.
    package let clientIDs: [String]
    package let onUnrevocable: OnUnrevocable
    package let revocationDeadline: Duration
    /// Whether tokens are refreshed before they die unused.
    package let keepsTokensAlive: Bool
    /// How long an unused refresh token lives; `nil`: as documented.
    package let tokenLifetime: Duration?
    package let expiryWarning: Duration
    /// Calls at once.
    package let concurrency: Int
    /// `nil`: not limited.
    package let ratePerSecond: Int?
    package let connection: ConnectionConfiguration
    package let notifications: NotificationConfiguration
}

/// What every provider family needs to make calls.
package struct ConnectionConfiguration: Hashable, Sendable {
    package let timeoutConnect: Duration
    package let timeoutTotal: Duration
    /// PEM file of the only certificates to trust; `nil`: the system's.
    package let caFile: String?
    package let allowsPlainHTTP: Bool
}

/// A provider family with what only that family needs.
package enum ProviderKind: Hashable, Sendable {
    case apple(AppleProviderConfiguration)
    case google(GoogleProviderConfiguration)
    case facebook(FacebookProviderConfiguration)
    case microsoft(MicrosoftProviderConfiguration)
    case github(GitHubProviderConfiguration)
    case x(XProviderConfiguration)
    case command(CommandProviderConfiguration)
    case oauth2(OAuth2ProviderConfiguration)

    /// The value of `kind`.
    package var family: ProviderFamily {
        switch self {
        case .apple: .apple
        case .google: .google
        case .facebook: .facebook
        case .microsoft: .microsoft
        case .github: .github
        case .x: .x
        case .command: .command
        case .oauth2: .oauth2
        }
    }

    /// The credentials that the provider needs, each with the key that names it.
    package var credentials: [(name: String, key: String)] {
        switch self {
        case .apple(let apple): [(apple.privateKeyCredential, "private_key_credential")]
        case .google(let google): google.secrets.named
        case .facebook(let facebook):
            [(facebook.clientSecretCredential, "client_secret_credential")]
        case .microsoft(let microsoft): [microsoft.proof.credential]
        case .github(let github): [(github.clientSecretCredential, "client_secret_credential")]
        case .x(let x): x.clientSecretCredential.map { [($0, "client_secret_credential")] } ?? []
        case .command: []
        case .oauth2(let oauth2):
            oauth2.secrets.named
                + (oauth2.privateKey.map { [($0.credential, "private_key_credential")] } ?? [])
        }
    }
}
