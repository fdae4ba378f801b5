import Lifecycle
import Testing

@testable import Daemon
@testable import Providers
@testable import Settings

@Suite("The kinds of providers")
struct ProviderKindTests {
    static func section(_ kind: String, _ lines: String...) -> String {
        let start = [
            "[[provider]]", "name = \"p\"", "kind = \"\(kind)\"", "client_ids = [\"app\"]",
        ]
        return (start + lines).joined(separator: "\n") + "\n"
    }

    static let secret = #"client_secret_credential = "secret""#

    static func kind(_ text: String) throws -> (any ProviderKind)? {
        try Sample.load(text).providers.first?.kind
    }

    @Test("Facebook needs its secret and knows its hosts")
    func facebook() throws {
        let expected = FacebookKind(
            clientSecretCredential: "secret",
            graphVersion: "v25.0",
            baseURL: "https://graph.facebook.com",
            limitedURL: "https://limited.facebook.com",
            uninstallURL: "https://www.limited.facebook.com"
        )
        let text = Self.section("facebook", Self.secret)
        #expect(try Self.kind(text) as? FacebookKind == expected)
        let credentials = try Sample.load(text).requiredCredentials
        #expect(credentials.filter { $0.usedBy.hasPrefix("provider.") }.map(\.name) == ["secret"])
    }

    @Test("Microsoft takes a secret, or a key with its certificate, and not both")
    func microsoft() throws {
        let key = #"private_key_credential = "key""#
        let digits = String(repeating: "Ab:", count: 31) + "cd"
        let certificate = #"certificate_sha256 = "\#(digits)""#
        let bySecret = try Self.kind(Self.section("microsoft", Self.secret))
        let byKey = try Self.kind(Self.section("microsoft", key, certificate))
        let first = try #require(bySecret as? MicrosoftKind)
        let second = try #require(byKey as? MicrosoftKind)
        #expect(first.tenant == "common" && first.graphTenants.isEmpty && !first.revokesSessions)
        #expect(first.proof == .secret(credential: "secret"))
        let sha256 = String(repeating: "ab", count: 31) + "cd"
        #expect(second.proof == .certificate(keyCredential: "key", sha256: sha256))
        for lines in [
            [], [Self.secret, key, certificate], [Self.secret, key], [key], [certificate],
        ] {
            let text = Self.section("microsoft") + lines.joined(separator: "\n")
            #expect(!Sample.message(text).isEmpty, "\(lines)")
        }
        let tenant = Self.section("microsoft", Self.secret, #"graph_tenants = ["contoso.com"]"#)
        #expect(Sample.message(tenant).contains("graph_tenants"))
    }

    @Test("GitHub Enterprise Server has a path in its API address")
    func github() throws {
        let text = Self.section(
            "github",
            Self.secret,
            #"base_url = "https://git.example/api/v3/""#,
            #"login_url = "https://git.example""#
        )
        let expected = GitHubKind(
            clientSecretCredential: "secret",
            baseURL: "https://git.example/api/v3",
            loginURL: "https://git.example"
        )
        #expect(try Self.kind(text) as? GitHubKind == expected)
    }

    @Test("an admin API makes a user's id enough, where a preset knows it")
    func adminAPI() throws {
        let url = #"admin_url = "https://sso.example.com/admin/""#
        let issuer = #"issuer = "https://sso.example.com""#
        let (client, secret) = (#"admin_client_id = "c""#, #"admin_secret_credential = "s""#)
        let preset = #"preset = "keycloak""#
        let text = Self.section("oauth2", preset, issuer, url, client, secret)
        let kind = try #require(try Self.kind(text) as? OAuth2Kind)
        #expect(kind.profile.adminURL == "https://sso.example.com/admin")
        #expect(kind.traits.extraKinds == [.subject])
        let refused = [
            ([issuer, url], "admin_url"), ([preset, issuer, client, secret], "admin_url"),
            ([preset, issuer, url, client], "admin_secret_credential"),
        ]
        for (lines, expected) in refused {
            let text = Self.section("oauth2") + lines.joined(separator: "\n")
            #expect(Sample.message(text).contains(expected), "\(lines)")
        }
    }

    @Test("X without a secret is a public client, but OAuth 1.0a signs with one")
    func x() throws {
        let expected = XKind(
            authorization: .oauth2,
            clientSecretCredential: nil,
            baseURL: "https://api.x.com"
        )
        #expect(try Self.kind(Self.section("x")) as? XKind == expected)
        let signed = Self.section("x", #"authorization = "oauth1a""#)
        #expect(Sample.message(signed).contains("client_secret_credential"))
        #expect(try Self.kind(signed + Self.secret) != nil)
    }

    @Test("a command has a program and tells users where to go")
    func command() throws {
        let text = Self.section(
            "command",
            #"program = "/usr/local/lib/sso""#,
            #"user_action_url = "https://sso.example.com/apps""#,
            #"user_action_text = "Remove the app.""#
        )
        let expected = CommandKind(
            program: "/usr/local/lib/sso",
            arguments: [],
            canCheck: false,
            revokesWholeGrant: false,
            userActionURL: "https://sso.example.com/apps",
            userActionText: "Remove the app."
        )
        #expect(try Self.kind(text) as? CommandKind == expected)
        #expect(Sample.message(Self.section("command")).contains("program"))
    }

    @Test(
        "a client id with a secret of its own has a section of its own",
        arguments: ["github", "x"]
    )
    func oneClient(kind: String) {
        let text = Self.section(kind, Self.secret)
            .replacing(#"["app"]"#, with: #"["app", "other"]"#)
        #expect(Sample.message(text).contains("its own section"))
    }

    @Test(
        "texts follow the rules of their vendors",
        arguments: [
            (TextRule.apiVersion, "v25.0", true), (.apiVersion, "v25", false),
            (.apiVersion, "25.0", false), (.apiVersion, "v1.0/..", false),
            (.tenant, "common", true), (.tenant, "contoso.onmicrosoft.com", true),
            (.tenant, "aaaabbbb-0000-cccc-1111-dddd2222eeee", true), (.tenant, "contoso", false),
            (.tenant, "a/b.c", false), (.guid, "AAAABBBB-0000-cccc-1111-dddd2222eeee", true),
            (.guid, "aaaabbbb0000cccc1111dddd2222eeee", false),
            (.sha256, String(repeating: "0", count: 64), true),
            (.sha256, String(repeating: "0", count: 63), false),
        ]
    )
    func rules(rule: TextRule, text: String, isGood: Bool) {
        #expect(rule.accepts(text) == isGood)
    }
}
