import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// An outage that answers politely is nobody's fault, at any provider.
@Suite("A provider that answers everybody alike")
struct OutageFormTests {
    enum Kind: CaseIterable {
        case apple, standard, introspecting, google, github, x, xOAuth1, facebook, microsoft

        func with(
            _ reaction: RawServer.Reaction,
            _ body: (any IdentityProvider, (CredentialKind) -> OpenCredential) async throws -> Void
        ) async throws {
            let react: @Sendable (String) -> RawServer.Reaction = { _ in reaction }
            func credential(_ kind: CredentialKind) -> OpenCredential {
                let keeper = TokenKeeper { _ in true }
                switch self {
                case .apple: return AppleHarness.credential(kind)
                case .standard, .introspecting, .google: return OAuth2Harness.credential(kind)
                case .github: return GitHubTests.credential(kind, keeper: keeper)
                case .x: return XTests.credential(kind, keeper: keeper)
                case .xOAuth1:
                    return kind == .authorizationCode
                        ? XTests.credential(kind) : XTests.credential(.accessToken, "1-a:secret")
                case .facebook: return FacebookTests.credential(kind)
                case .microsoft:
                    return FamilyHarness.credential(
                        kind,
                        "t0ken",
                        client: MicrosoftHarness.client,
                        subject: MicrosoftHarness.work,
                        keeper: keeper
                    )
                }
            }
            switch self {
            case .github:
                try await GitHubTests.with(react: react) { provider, _ in
                    try await body(provider, credential)
                }
            case .x:
                try await XTests.with(react: react) { provider, _ in
                    try await body(provider, credential)
                }
            case .xOAuth1:
                try await XTests.with(XTests.oauth1, react: react) { provider, _ in
                    try await body(provider, credential)
                }
            case .facebook:
                try await FacebookTests.with(react: react) { provider, _ in
                    try await body(provider, credential)
                }
            case .microsoft:
                try await MicrosoftHarness.with(react: react) { provider, _ in
                    try await body(provider, credential)
                }
            case .apple:
                try await RawServer.with(react: react) { server in
                    try await AppleHarness.with(server) { try await body($0, credential) }
                }
            case .standard, .introspecting, .google:
                let check: OAuth2Check? = self == .introspecting ? .introspection : nil
                try await RawServer.with(react: react) { server in
                    let settings = OAuth2Harness.at(
                        server,
                        self == .google ? .google : .standard,
                        check: check
                    )
                    try await OAuth2Harness.with(settings) { try await body($0, credential) }
                }
            }
        }
    }

    static let forms: [RawServer.Reaction] = [
        .json(403, #"{"message":"Forbidden"}"#), .http(403), Golden.html(403), Golden.html(200),
        .http(429), .http(500), .http(503), .json(404, #"{"detail":"Not Found"}"#),
        .bytesThenClose([]),
    ]

    @Test(
        "nothing is known of any token or code, and a check says so",
        arguments: Kind.allCases,
        forms
    )
    func outage(_ kind: Kind, _ form: RawServer.Reaction) async throws {
        try await kind.with(form) { provider, credential in
            for token in [CredentialKind.refreshToken, .accessToken].map(credential) {
                for _ in 1...2 {
                    let checked = await provider.check(token)
                    #expect(checked.failure?.isOfAll == true, "check: \(checked)")
                    let revoked = await provider.revoke(token)
                    #expect(revoked.failure?.isOfAll == true, "revoke: \(revoked)")
                }
            }
            let exchanged = await provider.exchange(credential(.authorizationCode))
            #expect(exchanged.failure?.isOfAll == true, "exchange: \(exchanged)")
            #expect(await provider.problem()?.failure.isOfAll == true)
        }
    }
}

extension EffectFailure {
    /// Whether it says nothing of the user who is asked about.
    fileprivate var isOfAll: Bool {
        switch self {
        case .unreachable, .throttled, .lost, .unusable, .refusesAll: true
        case .rejected, .refused, .misconfigured, .notConfigured, .sealBroken, .vaultSealed, .keys,
            .blocked:
            false
        }
    }
}
