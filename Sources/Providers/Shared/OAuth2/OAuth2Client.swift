import Encoding
package import Engine
import HTTP
package import Lifecycle
import Settings

/// One registered client and how it shows who it is (RFC 6749 §2.3).
package struct OAuth2Client: Sendable {
    /// The methods, as registered for `token_endpoint_auth_methods_supported` (RFC 8414 §2).
    package enum Authentication: Sendable {
        /// A public client: its id is all it has.
        case none
        case basic(Secret)
        case post(Secret)
        /// `client_secret_jwt` or `private_key_jwt`, by the signer's algorithm.
        case assertion(any MessageSigner, keyID: String?)
    }

    package let id: String
    let authentication: Authentication

    /// Adds what authenticates the client; answers the header, for a method that has one.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func authenticate(
        _ form: inout FormBody,
        audience: String,
        now: WallTime
    ) throws(VaultError) -> Authorization? {
        switch authentication {
        case .basic(let secret): return .client(id, secret)
        case .none: form.add("client_id", id)
        case .post(let secret):
            form.add("client_id", id)
            form.add("client_secret", secret)
        case .assertion(let signer, let keyID):
            var header: [(StaticString, String)] = []
            if let keyID { header.append(("kid", keyID)) }
            let assertion = ClientAssertion(signer, header: header)
            let token = try assertion.make(for: id, audience: audience, now: now)
            form.add("client_id", id)
            form.add("client_assertion_type", ClientAssertion.type)
            form.add("client_assertion", token)
        }
        return nil
    }
}

/// Makes the JWT that authenticates a client (RFC 7523 §2.2), anew for every call.
///
/// Serves `client_secret_jwt` and `private_key_jwt` (OpenID Connect Core §9) and every vendor that
/// takes the same with a header of its own.
struct ClientAssertion: Sendable {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// A clock ahead of the provider's makes the assertion invalid, so it is dated back this far.
    static let backdating = Duration.seconds(30)
    /// Nothing here lives longer than a call, clocks apart by minutes included.
    static let lifetime = Duration.seconds(300)

    private let members: [(StaticString, String)]
    private let signer: any MessageSigner

    /// The header has `alg` and `typ` besides `members`, which are plain text.
    init(_ signer: any MessageSigner, header members: [(StaticString, String)]) {
        (self.signer, self.members) = (signer, members)
    }

    /// Signs a fresh assertion for the token endpoint or the issuer, as the provider wants.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func make(
        for clientID: String,
        audience: String,
        now: WallTime,
        nonce: String = RandomText.nonce(),
        backdating: Duration = ClientAssertion.backdating
    ) throws(VaultError) -> [UInt8] {
        var claims = JSONBody()
        claims.add("iss", clientID)
        claims.add("sub", clientID)
        claims.add("aud", audience)
        // A server refuses an assertion that it has seen (RFC 7523 §3, point 7).
        claims.add("jti", nonce)
        let issued = Int((now - backdating).unixMilliseconds / 1000)
        claims.add("iat", issued)
        claims.add("nbf", issued)
        claims.add("exp", Int((now + Self.lifetime).unixMilliseconds / 1000))
        return try CompactToken.sign(claims, header: members, by: signer)
    }
}

/// Text that never repeats.
package enum RandomText {
    /// 128 bits of the system's random source in hexadecimal.
    package static let nonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return Hexadecimal.text(bytes)
    }
}

/// The credentials with client secrets, by client id.
struct ClientSecrets: Hashable, Sendable {
    /// For a provider with one client id.
    let single: String?
    let byClientID: [String: String]

    init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let clientIDs = section.texts("client_ids")
        single = section.text("client_secret_credential")
        byClientID = section.map("client_secret_credentials")
        if single != nil, clientIDs.count > 1 {
            problems.report(
                .contradiction,
                "client_secret_credential",
                "there are several client_ids; say which has which secret in "
                    + "client_secret_credentials = { CLIENT_ID = CREDENTIAL }"
            )
        }
        if single != nil, !byClientID.isEmpty {
            problems.report(
                .contradiction,
                "client_secret_credential",
                "client_secret_credentials is given too; one of them is enough"
            )
        }
        for name in byClientID.keys.sorted() where !clientIDs.contains(name) {
            problems.report(
                .unknownValue,
                "client_secret_credentials",
                value: name,
                "it is not one of client_ids"
            )
        }
    }

    /// The credential for a client id; `nil`: a public client.
    func credential(for clientID: String) -> String? { byClientID[clientID] ?? single }
}

extension ClientSecrets {
    static func settings(of kind: String) -> [Setting] {
        [
            .providerSecret(
                "client_secret_credential",
                .optional(example: .text("\(kind)-secret"))
            ) {
                "Client secret of a single client id. Public clients have none."
            },
            .provider(
                "client_secret_credentials",
                .map(.clientID, .credential, 1...64),
                .optional(example: .map(["web-client": "\(kind)-web-secret"]))
            ) {
                "Client secrets, by client id. Others are public."
            }.secret(),
        ]
    }
}

extension NonceRule {
    static let setting = Setting.providerChoice("nonce", defaultsTo: NonceRule.plain) {
        """
        What your applications send as nonce: the raw one, its SHA-256 (hexadecimal or base64url), \
        or any of them.
        """
    }
}
