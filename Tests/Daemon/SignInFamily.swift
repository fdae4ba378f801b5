import Testing

/// A provider with id tokens: how it is configured, and what its tokens say.
struct SignInFamily: Sendable, CustomTestStringConvertible {
    /// The members of a token by name, in JSON.
    typealias Claims = [String: String?]

    let testDescription: String
    /// The section without its name and the client ids; the argument is the stand-in's address.
    let section: @Sendable (String) -> String
    /// What `iss` says; the argument is the stand-in's address.
    let issuer: @Sendable (String) -> String
    var client = "app-1"
    var subject = "sub-1"
    var claims: Claims = ["sub": #""sub-1""#]
    /// Somebody else, and nobody at all.
    var stranger: Claims = ["sub": #""sub-2""#]
    var nobody: Claims = ["sub": nil]
    /// The provider hands on what the application hashed.
    var hashesNonce = false
    /// Apple and Facebook hand on whatever they were given, and both forms are usual.
    var takesAnyNonce = false
    var signsWithP256 = false

    /// SHA-256 of the raw nonce `raw`, in lower-case hexadecimal.
    static let hashedNonce = "d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"
    static let secret = #"client_secret_credential = "secret""#
    private static let tenant = "11111111-2222-4333-8444-555555555555"
    private static let object = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"

    static let all = [
        apple, google, microsoft, facebook, discovered, hashed, elliptic, line, kakao,
    ]

    /// Issues none, so it is not one of ``all``.
    static let plain = SignInFamily(
        testDescription: "OAuth 2 without an issuer",
        section: {
            """
            kind = "oauth2"
            token_url = "\($0)/token"
            revocation_url = "\($0)/revoke"
            user_action_url = "https://idp.example.com/apps"
            \(secret)
            """
        },
        issuer: { $0 }
    )

    static let apple = SignInFamily(
        testDescription: "Apple",
        section: {
            """
            kind = "apple"
            team_id = "ABCDE12345"
            key_id = "KEY1234567"
            private_key_credential = "apple-key.p8"
            base_url = "\($0)"
            """
        },
        issuer: { _ in "https://appleid.apple.com" },
        hashesNonce: true,
        takesAnyNonce: true
    )

    static let google = SignInFamily(
        testDescription: "Google",
        section: { "kind = \"google\"\n\(secret)\nbase_url = \"\($0)\"" },
        issuer: { _ in "https://accounts.google.com" }
    )

    /// Who it is says `oid` with `tid`, whatever `sub` says.
    static let microsoft = SignInFamily(
        testDescription: "Microsoft",
        section: {
            "kind = \"microsoft\"\n\(secret)\ntenant = \"\(tenant)\"\nbase_url = \"\($0)\""
        },
        issuer: { "\($0)/\(tenant)/v2.0" },
        client: "99999999-8888-4777-8666-555555555555",
        subject: "\(object).\(tenant)",
        claims: [
            "sub": #""sub-1""#, "oid": "\"\(object)\"", "tid": "\"\(tenant)\"",
        ],
        stranger: ["oid": #""aaaaaaaa-bbbb-4ccc-8ddd-000000000000""#],
        nobody: ["oid": nil]
    )

    static let facebook = SignInFamily(
        testDescription: "Facebook Limited Login",
        section: { "kind = \"facebook\"\n\(secret)\nlimited_login_url = \"\($0)\"" },
        issuer: { $0 },
        client: "1234567890",
        takesAnyNonce: true
    )

    static let discovered = SignInFamily(
        testDescription: "OpenID Connect, all from the issuer's metadata",
        section: { "kind = \"oauth2\"\nissuer = \"\($0)\"" },
        issuer: { $0 }
    )

    static let hashed = SignInFamily(
        testDescription: "OpenID Connect with a hashed nonce",
        section: { "kind = \"oauth2\"\nnonce = \"sha256\"\nissuer = \"\($0)\"" },
        issuer: { $0 },
        hashesNonce: true
    )

    static let elliptic = SignInFamily(
        testDescription: "OpenID Connect with ES256",
        section: { "kind = \"oauth2\"\nissuer = \"\($0)\"" },
        issuer: { $0 },
        signsWithP256: true
    )

    static let line = SignInFamily(
        testDescription: "LINE",
        section: { preset("line", "https://access.line.me", $0) },
        issuer: { _ in "https://access.line.me" },
        signsWithP256: true
    )

    static let kakao = SignInFamily(
        testDescription: "Kakao",
        section: { preset("kakao", "https://kauth.kakao.com", $0) },
        issuer: { _ in "https://kauth.kakao.com" }
    )

    private static func preset(_ name: String, _ issuer: String, _ url: String) -> String {
        """
        kind = "oauth2"
        preset = "\(name)"
        \(secret)
        issuer = "\(issuer)"
        jwks_url = "\(url)/keys"
        """
    }
}
