import Engine
import Lifecycle
import Sandbox
import TestSupport
import Vault

@testable import HTTP
@testable import Providers

/// Where a provider of a test is.
struct ProviderPlace: Sendable {
    let base: @Sendable (SandboxProvider) -> String
    let caFile: String?
    let appleKey: String
    var timeout = Duration.seconds(120)
    var endpointHosts: [String] = []

    /// A whole stand-in.
    init(_ sandbox: RunningSandbox, timeout: Duration) {
        base = { sandbox.baseURL(of: $0) }
        caFile = sandbox.authorityFile
        appleKey = sandbox.appleKeyPEM
        self.timeout = timeout
    }

    /// One server for everything.
    init(server: String, caFile: String?) {
        base = { _ in server }
        self.caFile = caFile
        appleKey = Fixtures.serverKey
    }
}

/// A family as the sweep meets it: which stand-in, how it is configured, what its users hold.
enum SweptProvider: String, CaseIterable, Sendable {
    case apple, google, facebook, microsoft, command
    case facebookLimited = "facebook limited"
    case gitHubApp = "github app"
    case gitHubOAuth = "github oauth"
    case xOAuth2 = "x oauth2"
    case xOAuth1 = "x oauth1"
    /// RFC 7662 before and after, at a server that rotates.
    case introspection = "oauth2 introspection"
    /// The refresh grant before and after, at a server that rotates and punishes reuse.
    case refresh = "oauth2 refresh"
    /// RFC 7009 alone, which says yes to everything.
    case blind = "oauth2 alone"

    /// The stand-in; the program of `command` is its own.
    var sandbox: SandboxProvider? {
        switch self {
        case .apple: .apple
        case .google: .google
        case .facebook, .facebookLimited: .facebook
        case .microsoft: .microsoft
        case .gitHubApp, .gitHubOAuth: .github
        case .xOAuth2, .xOAuth1: .x
        case .introspection, .refresh, .blind: .oauth2
        case .command: nil
        }
    }

    /// Whether a revocation is about the user's whole authorization and not about single tokens.
    var endsGrants: Bool {
        switch self {
        case .apple, .google, .facebook, .facebookLimited, .microsoft, .gitHubApp, .gitHubOAuth:
            true
        case .xOAuth2, .xOAuth1, .introspection, .refresh, .blind, .command: false
        }
    }

    var realm: String? {
        switch self {
        case .facebookLimited: "limited"
        case .xOAuth1: "oauth1"
        default: nil
        }
    }

    /// As the stand-in registers it.
    var clientID: String {
        switch self {
        case .apple: AppleHarness.clientID
        case .google: "1234567890-web.apps.googleusercontent.com"
        case .facebook, .facebookLimited: "1234567890123456"
        case .microsoft: "11111111-2222-4333-8444-555555555555"
        case .gitHubApp: "Iv23liSandboxGitHub"
        case .gitHubOAuth: "Ov23liSandboxOAuthApp"
        case .xOAuth2: "x-client"
        case .xOAuth1: "x-consumer"
        case .introspection, .refresh, .blind, .command: "app"
        }
    }

    static let name = ProviderName("swept")

    /// The provider as the daemon would make it.
    func make(
        _ place: ProviderPlace,
        now: @escaping @Sendable () -> WallTime
    ) throws -> any ConnectedProvider {
        var http = RemoteSettings(owner: .provider(Self.name), caFile: place.caFile)
        // Of both the shorter one ends a call.
        http.timeoutConnect = .seconds(120)
        http.timeoutTotal = place.timeout
        switch self {
        case .apple: return try makeApple(place, http, now)
        case .facebook, .facebookLimited: return try makeFacebook(place, http, now)
        case .microsoft: return try makeMicrosoft(place, http, now)
        case .gitHubApp, .gitHubOAuth: return try makeGitHub(place, http, now)
        case .xOAuth2, .xOAuth1: return try makeX(place, http, now)
        case .google, .introspection, .refresh, .blind:
            return try makeOAuth2(place, http, now)
        case .command: preconditionFailure("has no stand-in")
        }
    }
}

// MARK: - Families

extension SweptProvider {
    private typealias Now = @Sendable () -> WallTime

    private func makeApple(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let key = try SigningKey(
            pem: Secret(place.appleKey),
            credential: "test",
            algorithm: .es256
        )
        return try AppleProvider(
            AppleHarness.kind(place.base(.apple)),
            http: http,
            clientIDs: [clientID],
            signer: key,
            in: FamilyHarness.environment(now: now)
        )
    }

    private func makeFacebook(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let url = place.base(.facebook)
        return try FacebookProvider(
            FacebookKind(
                clientSecretCredential: "",
                baseURL: url,
                limitedURL: url,
                uninstallURL: url
            ),
            http: http,
            appID: clientID,
            appSecret: Secret("facebook-app-secret"),
            in: FamilyHarness.environment(now: now)
        )
    }

    private func makeMicrosoft(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let url = place.base(.microsoft)
        return try MicrosoftProvider(
            MicrosoftKind(
                tenant: "common",
                proof: .secret(credential: ""),
                graphTenants: ["c0c0c0c0-0000-4000-8000-000000000001"],
                baseURL: url,
                graphURL: url
            ),
            http: http,
            client: MicrosoftClient(
                clientID: clientID,
                proof: .secret(Secret("microsoft-secret"))
            ),
            in: FamilyHarness.environment(now: now)
        )
    }

    private func makeGitHub(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let url = place.base(.github)
        return try GitHubProvider(
            GitHubKind(clientSecretCredential: "", baseURL: url, loginURL: url),
            http: http,
            clientID: clientID,
            clientSecret: Secret(self == .gitHubApp ? "github-app-secret" : "github-secret"),
            in: FamilyHarness.environment(now: now)
        )
    }

    private func makeX(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let isOAuth1 = self == .xOAuth1
        return try XProvider(
            XKind(
                authorization: isOAuth1 ? .oauth1 : .oauth2,
                clientSecretCredential: nil,
                baseURL: place.base(.x)
            ),
            http: http,
            client: XClient(
                id: clientID,
                authorization: isOAuth1
                    ? .oauth1(consumerSecret: Secret("x-consumer-secret"))
                    : .oauth2(clientSecret: Secret("x-secret"))
            ),
            in: FamilyHarness.environment(now: now)
        )
    }

    private func makeOAuth2(
        _ place: ProviderPlace,
        _ http: RemoteSettings,
        _ now: @escaping Now
    ) throws -> any ConnectedProvider {
        let secret = Secret(self == .google ? "google-secret" : "app-secret")
        var profile: OAuth2Profile = self == .google ? .google : .standard
        switch self {
        case .google:
            let base = place.base(.google)
            profile.tokenURL = base + "/token"
            profile.revocationURL = base + "/revoke"
        case .introspection: profile.check = .introspection
        case .refresh:
            profile.check = .refresh
            profile.rotatesRefreshTokens = true
        default: profile.check = .none
        }
        profile.endpointHosts = place.endpointHosts
        if self != .google { profile.issuer = place.base(.oauth2) }
        return try OAuth2Provider(
            profile,
            http: http,
            clients: [
                OAuth2Client(
                    id: clientID,
                    authentication: self == .google ? .post(secret) : .basic(secret)
                )
            ],
            in: FamilyHarness.environment(now: now)
        )
    }
}
