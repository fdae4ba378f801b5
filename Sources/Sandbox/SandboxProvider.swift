/// The providers that the sandbox plays.
package enum SandboxProvider: String, CaseIterable, Codable, Sendable {
    /// Sign in with Apple, at the root of the sandbox.
    case apple
    case oauth2
    case google
    /// Facebook, with Limited Login.
    case facebook
    /// Microsoft, with Entra tenants, personal accounts and Graph.
    case microsoft
    case github
    /// X, with OAuth 2 and OAuth 1.0a.
    case x
}

extension SandboxProvider {
    /// What a user or the provider can do, in the provider's words; the first is the usual cut.
    ///
    /// Empty where the provider sends no notification.
    package var events: [String] {
        switch self {
        case .apple: AppleEvent.allCases.map(\.rawValue)
        case .oauth2, .google: SecurityEventType.allCases.map(\.rawValue)
        case .facebook: ["deauthorize", "data-deletion"]
        case .github: ["revoked"]
        case .microsoft, .x: []
        }
    }

    /// The events of every provider that has some, as the help prints them.
    package static var eventList: String {
        var groups: [(names: [String], events: [String])] = []
        for provider in allCases where !provider.events.isEmpty {
            if let index = groups.firstIndex(where: { $0.events == provider.events }) {
                groups[index].names.append(provider.rawValue)
            } else {
                groups.append(([provider.rawValue], provider.events))
            }
        }
        return groups.map {
            "\($0.names.joined(separator: ", ")): \($0.events.joined(separator: ", "))."
        }.joined(separator: " ")
    }
}

/// An event of a security event token (RFC 8417), as RISC, CAEP and the OAuth profile name it.
package enum SecurityEventType: String, CaseIterable, Sendable {
    /// Every token of the user is revoked: the link is cut.
    case tokensRevoked = "tokens-revoked"
    case tokenRevoked = "token-revoked"
    case accountPurged = "account-purged"
    case accountDisabled = "account-disabled"
    case accountEnabled = "account-enabled"
    case accountCredentialChangeRequired = "account-credential-change-required"
    /// RISC's way to say that sessions end.
    case sessionsRevoked = "sessions-revoked"
    /// CAEP's way to say that sessions end.
    case sessionRevoked = "session-revoked"
    case verification

    /// Whether the user's grant ends with it.
    var cutsGrant: Bool { self == .tokensRevoked || self == .accountPurged }

    /// The name in `events`.
    var uri: String {
        let profile =
            switch self {
            case .tokensRevoked, .tokenRevoked: "oauth"
            case .sessionRevoked: "caep"
            default: "risc"
            }
        return "https://schemas.openid.net/secevent/\(profile)/event-type/\(rawValue)"
    }
}

/// A provider's endpoint that the sandbox stands in for.
package enum SandboxEndpoint: String, CaseIterable, Codable, Sendable {
    /// Exchange of a code, check of a refresh token.
    case token
    case revoke
    case keys
    /// Metadata: RFC 8414, OpenID Connect Discovery, Google's RISC configuration.
    case discovery
    /// Whether a token or a grant is live: introspection, `debug_token`, the user's profile.
    case check
    case data
}

/// Everything that a sandbox is started with.
package struct SandboxConfiguration: Sendable {
    /// The port at 127.0.0.1; 0 lets the system choose.
    package var port = 0
    /// Gets `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`; `nil` means a temporary
    /// directory that goes away with the sandbox.
    package var directory: String?
    /// The log of calls as JSON lines; `nil` means `logs.jsonl` in the directory.
    package var logFile: String?
    package var apple = AppleConfiguration()
    package var oauth2 = OAuth2Configuration()
    package var google = GoogleConfiguration()
    package var facebook = FacebookConfiguration()
    package var microsoft = MicrosoftConfiguration()
    package var github = GitHubConfiguration()
    package var x = XConfiguration()
    package var cloud = CloudConfiguration()
    package var faults = FaultPlan.none
    /// How many grants, tokens of a kind and log records are kept in memory (about 200 bytes each).
    package var capacity = 1_000_000
    /// The clock, in Unix milliseconds.
    package var wallMilliseconds: @Sendable () -> Int64 = SandboxClock.wallMilliseconds

    package init() {}
}

struct SandboxFamilies: Sendable {
    let apple: AppleFamily
    let cloud: CloudFamily
    let providers: [any GrantFamily]

    init(_ configuration: SandboxConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        apple = try AppleFamily(configuration.apple, tools)
        cloud = CloudFamily(configuration.cloud, tools)
        providers = [
            apple, try OAuth2Family(configuration.oauth2, tools),
            try GoogleFamily(configuration.google, tools),
            try FacebookFamily(configuration.facebook, tools),
            try MicrosoftFamily(configuration.microsoft, tools),
            try GitHubFamily(configuration.github, tools), try XFamily(configuration.x, tools),
        ]
    }

    func family(_ provider: SandboxProvider) -> any GrantFamily {
        guard let family = providers.first(where: { $0.name == provider.rawValue }) else {
            preconditionFailure("every provider has a family")
        }
        return family
    }

    func route(
        method: String,
        path: String
    ) -> (family: any ProviderFamily, endpoint: SandboxEndpoint)? {
        let families: [any ProviderFamily] = providers + [cloud]
        for family in families {
            if let endpoint = family.endpoint(method: method, path: path) {
                return (family, endpoint)
            }
        }
        return nil
    }
}
