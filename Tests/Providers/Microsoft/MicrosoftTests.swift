import Encoding
import Engine
import Lifecycle
import Testing
import Vault

@testable import HTTP
@testable import Providers

@Suite("Microsoft")
struct MicrosoftTests {
    typealias Harness = MicrosoftHarness

    @Test(
        "a tenant is a word, a GUID or a domain",
        arguments: [
            ("common", MicrosoftTenant.common), ("Organizations", .organizations),
            ("consumers", .consumers),
            ("AAAABBBB-0000-cccc-1111-dddd2222eeee", .directory(Harness.tenant)),
            ("contoso.onmicrosoft.com", .domain("contoso.onmicrosoft.com")),
            ("contoso", nil), ("", nil), ("a/b.c", nil), ("..", nil), ("a..b", nil),
        ]
    )
    func tenants(_ text: String, _ tenant: MicrosoftTenant?) {
        #expect(MicrosoftTenant(text) == tenant)
    }

    static let refreshes: [(String, CheckAnswer)] = [
        (#"{"error":"invalid_grant","error_codes":[700082]}"#, .dead),
        (#"{"error":"invalid_grant","error_codes":[50173]}"#, .dead),
        (#"{"error":"invalid_grant","error_codes":[50076]}"#, .failure(.rejected)),
        (#"{"error":"invalid_grant"}"#, .failure(.rejected)),
        (#"{"error":"interaction_required","error_codes":[50079]}"#, .failure(.rejected)),
        (#"{"error":"invalid_client","error_codes":[7000215]}"#, .failure(.misconfigured)),
        (#"{"error":"invalid_request","error_codes":[90002]}"#, .failure(.misconfigured)),
        (#"{"error":"temporarily_unavailable"}"#, .failure(.unusable)),
    ]

    @Test("a refresh token is dead only with a code that says so", arguments: refreshes)
    func refresh(_ body: String, _ answer: CheckAnswer) async throws {
        try await Harness.with(answering: .json(400, body)) { provider, _ in
            #expect(await provider.check(Harness.credential()) == answer)
        }
    }

    @Test("the new refresh token is kept where that is possible; the old one stays good")
    func rotation() async throws {
        let tokens = #"{"token_type":"Bearer","access_token":"a","refresh_token":"new"}"#
        try await Harness.with(answering: .json(200, tokens)) { provider, _ in
            let kept = KeptTokens()
            #expect(await provider.check(Harness.credential(keeper: kept.keeper)) == .live)
            #expect(kept.all == ["new"])
            #expect(await provider.check(Harness.credential()) == .live)
            let unkept = KeptTokens(isWorking: false)
            #expect(
                await provider.check(Harness.credential(keeper: unkept.keeper)) == .failure(.lost)
            )
        }
    }

    @Test("a code brings tokens, and the user by object id and tenant")
    func exchange() async throws {
        let late = LateText()
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            .json(
                200,
                #"{"token_type":"Bearer","access_token":"a","refresh_token":"r","#
                    + #""id_token":"\#(late.text)"}"#
            )
        }
        for (tid, subject) in [(Harness.tenant, Harness.work), (Harness.other, "-")] {
            try await Harness.with(react: react) { provider, server in
                let issuer = "\(FamilyHarness.url(server))/\(Harness.tenant)/v2.0"
                let claims = IDTokenGenerator.claims([
                    "iss": #""\#(issuer)""#, "aud": #""\#(Harness.client)""#,
                    "oid": #""\#(Harness.user)""#, "tid": #""\#(tid)""#,
                ])
                late.set(try IDTokenGenerator.token(claims: claims))
                let answer = await provider.exchange(Harness.credential(.authorizationCode))
                #expect(answer.summary == "exchanged refresh=true access=true subject=\(subject)")
                let request = try #require(server.requests.first)
                #expect(request.hasPrefix("POST /common/oauth2/v2.0/token "))
                #expect(FamilyHarness.field("client_secret", of: request) == "client-secret")
            }
        }
    }

    @Test("a code that Microsoft refuses is refused")
    func refusedCode() async throws {
        let refusal = #"{"error":"invalid_grant","error_codes":[54005]}"#
        try await Harness.with(answering: .json(400, refusal)) { provider, _ in
            let answer = await provider.exchange(Harness.credential(.authorizationCode))
            #expect(answer.summary == "refused")
        }
    }

    @Test("a certificate signs an assertion for the very token endpoint, by PS256")
    func assertion() async throws {
        let signer = try SigningKey(
            pem: Secret(Fixtures.rsaKey),
            credential: "test",
            algorithm: .ps256
        )
        let thumbprint = [UInt8](repeating: 0xab, count: 32)
        let client = MicrosoftClient(
            clientID: Harness.client,
            proof: .certificate(thumbprint: thumbprint, signer: signer),
            makeNonce: { "nonce" }
        )
        let url = "https://login.microsoftonline.com/common/oauth2/v2.0/token"
        let form = try #require(client.form(for: url, now: IDTokenGenerator.now))
        let request = String(decoding: form.bytes, as: UTF8.self)
        #expect(
            FamilyHarness.field("client_assertion_type", of: request)
                == "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
        )
        let token = try #require(FamilyHarness.field("client_assertion", of: request))
        let parts = token.split(separator: ".").map { Base64URL.decode(Array($0.utf8)) ?? [] }
        try #require(parts.count == 3)
        #expect(
            String(decoding: parts[0], as: UTF8.self)
                == #"{"alg":"PS256","typ":"JWT","#
                + #""x5t#S256":"q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s"}"#
        )
        let claims = try #require(JSONValue(parts[1]))
        #expect(claims["aud"]?.string == url)
        #expect(claims["iss"]?.string == Harness.client)
        #expect(claims["sub"]?.string == Harness.client)
        #expect(claims["jti"]?.string == "nonce")
        #expect(claims["nbf"]?.number == 1_800_000_000)
        #expect(claims["exp"]?.number == 1_800_000_300)
        #expect(parts[2].count == 256)
    }

    @Test("a certificate key for another algorithm is refused at once")
    func wrongKey() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in .http(200) }
        let proof = MicrosoftClient.Proof.certificate(
            thumbprint: [UInt8](repeating: 1, count: 32),
            signer: BlankSigner()
        )
        await #expect(throws: SetupError.self) {
            try await Harness.with(proof: proof, react: react) { _, _ in }
        }
    }

    /// What a sign-in claims, where it is accepted, and what is wrong with it.
    struct Claim: Sendable, CustomTestStringConvertible {
        let tenant: String
        let tid: String
        var issuerTid: String?
        var oid: String? = MicrosoftHarness.user
        var kind: SignInError.Kind?

        var testDescription: String { "\(tenant) \(tid) \(kind.map { "\($0)" } ?? "fine")" }
    }

    static let claims = [
        Claim(tenant: "common", tid: Harness.tenant),
        Claim(tenant: "common", tid: MicrosoftTenant.personal),
        Claim(tenant: "common", tid: Harness.tenant, issuerTid: Harness.other, kind: .wrongIssuer),
        Claim(tenant: "organizations", tid: Harness.tenant),
        Claim(tenant: "organizations", tid: MicrosoftTenant.personal, kind: .wrongIssuer),
        Claim(tenant: "consumers", tid: MicrosoftTenant.personal),
        Claim(tenant: "consumers", tid: Harness.tenant, kind: .wrongIssuer),
        Claim(tenant: Harness.tenant, tid: Harness.tenant),
        Claim(tenant: Harness.tenant, tid: Harness.other, kind: .wrongIssuer),
        Claim(tenant: "contoso.com", tid: Harness.tenant),
        Claim(tenant: "contoso.com", tid: Harness.other, kind: .wrongIssuer),
        Claim(tenant: "common", tid: Harness.tenant, oid: nil, kind: .missingSubject),
    ]

    @Test("a fresh sign-in is held to the issuer of its own tenant", arguments: claims)
    func signIn(_ claim: Claim) async throws {
        let late = LateText()
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("openid-configuration")
                ? .json(200, #"{"issuer":"\#(late.text)/\#(Harness.tenant)/v2.0"}"#)
                : .json(200, IDTokenGenerator.jwks)
        }
        try await Harness.with(tenant: claim.tenant, react: react) { provider, server in
            late.set(FamilyHarness.url(server))
            let token = try IDTokenGenerator.token(
                claims: IDTokenGenerator.claims([
                    "iss": #""\#(late.text)/\#(claim.issuerTid ?? claim.tid)/v2.0""#,
                    "aud": #""\#(Harness.client)""#, "tid": #""\#(claim.tid)""#,
                    "oid": claim.oid.map { #""\#($0)""# }, "nonce": #""raw""#,
                ])
            )
            var broken: SignInError.Kind?
            do throws(SignInError) {
                let verified = try await provider.verify(
                    SignIn(
                        clientID: Harness.client,
                        idToken: Secret(token),
                        rawNonce: Secret("raw")
                    )
                )
                #expect(verified.subject.exposeText() == "\(Harness.user).\(claim.tid)")
            } catch {
                broken = error.kind
            }
            #expect(broken == claim.kind)
        }
    }

    @Test("personal accounts and tenants without Graph have no revocation at all")
    func traits() async throws {
        try await Harness.with(tenant: "consumers", answering: .http(200)) { provider, _ in
            #expect(provider.traits.hasNoRevocationAPI)
            #expect(provider.traits.userActionURL == "https://account.live.com/consent/Manage")
        }
        let react: @Sendable (String) -> RawServer.Reaction = { _ in .http(200) }
        try await Harness.with(graphTenants: [], react: react) { provider, _ in
            #expect(provider.traits.hasNoRevocationAPI)
        }
        try await Harness.with(answering: .http(200)) { provider, _ in
            #expect(!provider.traits.hasNoRevocationAPI)
        }
    }

    private static let short = "00000000-0000-0000-0003-332eca7ea810.\(MicrosoftTenant.personal)"

    /// Firebase's `rawId`, and whether it is the user of the vault's subject.
    @Test(
        "Firebase's name for a user is the object id, without the tenant",
        arguments: [
            (Harness.user, Harness.work, true), (Harness.user.uppercased(), Harness.work, true),
            (Harness.principal, Harness.work, false), (Harness.work, Harness.work, false),
            ("66f33332eca7ea81", Harness.personal, true),
            ("66F33332ECA7EA81", Harness.personal, true),
            ("66f33332eca7ea82", Harness.personal, false), ("", Harness.personal, false),
            ("00000000-0000-0000-66f3-3332eca7ea81", Harness.personal, true),
            ("0003332eca7ea810", short, true), ("3332eca7ea810", short, true),
            ("0003332eca7ea811", short, false),
            ("66f33332eca7ea81", "00000000-0000-0000-66f3-3332eca7ea81.\(Harness.tenant)", false),
            ("old-name", "old-name", true), ("old-name", "other", false),
        ]
    )
    func nameInADirectory(name: String, subject: String, isSame: Bool) async throws {
        for tenant in ["common", "contoso.example"] {
            try await Harness.with(tenant: tenant, answering: .http(500)) { provider, _ in
                #expect(provider.isName(Secret(name), of: Secret(subject)) == isSame)
            }
        }
        try await Harness.with(tenant: Harness.other, answering: .http(500)) { provider, _ in
            let isText = !subject.contains("-0") && !subject.contains("-b")
            #expect(provider.isName(Secret(name), of: Secret(subject)) == (isSame && isText))
        }
    }
}
