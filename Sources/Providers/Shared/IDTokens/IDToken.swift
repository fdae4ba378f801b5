import Cryptography
import Encoding
import Engine
import HTTP
import Lifecycle

/// An id token taken apart (RFC 7515 §3.1, RFC 7519), nothing about it believed yet.
///
/// Holds a subject and an e-mail address, so every textual view is redacted.
struct IDToken: Sendable, Redacted {
    /// The longest one taken; the spool allows as much for a secret.
    static let sizeMax = 8192

    let algorithm: String
    let keyID: String?
    let signature: [UInt8]
    /// What the signature covers.
    let signedPart: [UInt8]
    /// The header's `typ` (RFC 7519 §5.1).
    let type: String?
    let claims: JSONValue

    /// Splits and decodes the compact form; `nil` for anything that is not exactly one.
    ///
    /// A `crit` header is refused, since no extension is understood here (RFC 7515 §4.1.11).
    init?(_ compact: Secret) {
        guard compact.count <= Self.sizeMax else { return nil }
        let text = compact.withBytes { $0 }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
            let claimBytes = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
            let header = JSONValue(headerBytes), let algorithm = header["alg"]?.string,
            header["crit"] == nil, let claims = JSONValue(claimBytes), case .object = claims
        else { return nil }
        (self.algorithm, self.claims, self.signature) = (algorithm, claims, signature)
        keyID = header["kid"]?.string
        type = header["typ"]?.string
        signedPart = Array(text[..<parts[1].endIndex])
    }

    var issuer: String? { claims["iss"]?.string }

    var nonce: String? { claims["nonce"]?.string }

    /// It has no nonce, and was issued where nonces are not supported.
    ///
    /// The claim is a Boolean or, as others of Apple's, a text.
    var isWithoutNonce: Bool {
        let claim = claims["nonce_supported"]
        return claims["nonce"] == nil && (claim?.bool == false || claim?.string == "false")
    }

    var issuedAt: WallTime? { time("iat") }

    var expiresAt: WallTime? { time("exp") }

    /// When the user last really signed in (OpenID Connect Core §2).
    var authenticatedAt: WallTime? { time("auth_time") }

    /// The time of the event that a security event token is about (RFC 8417 §2.2).
    var eventTime: WallTime? { time("toe") }

    var subject: Secret? {
        guard let subject = claims["sub"]?.string, !subject.isEmpty else { return nil }
        return Secret(subject)
    }

    func text(_ name: String) -> String? { claims[name]?.string }

    /// Whether `aud`, a string or an array of them (RFC 7519 §4.1.3), names the client.
    func isFor(_ clientID: String) -> Bool {
        switch claims["aud"] {
        case .string(let audience): audience == clientID
        case .array(let audiences): audiences.contains { $0.string == clientID }
        default: false
        }
    }

    /// A NumericDate (RFC 7519 §2); `nil` beyond the year 5138, which no clock means.
    private func time(_ name: String) -> WallTime? {
        guard let seconds = claims[name]?.number, (0...1e11).contains(seconds) else { return nil }
        return WallTime(unixMilliseconds: Int64(seconds * 1000))
    }
}

/// The rules for a fresh sign-in (OpenID Connect Core §3.1.3.7), in the order they are checked.
struct IDTokenRules: Sendable {
    /// How far apart the provider's clock and ours may be.
    static let leeway = Duration.seconds(60)

    let provider: ProviderName
    let issuer: IssuerRule
    let nonce: NonceRule
    let keys: SigningKeyCache
    let now: WallTime
    /// Whether a token may say itself that its platform has no nonces (Apple, "Authenticating users
    /// with Sign in with Apple": `nonce_supported`).
    var mayLackNonce = false

    func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard let token = IDToken(signIn.idToken) else { throw broken(.malformedIDToken) }
        switch await keys.judge(token) {
        case .valid: break
        case .bad: throw broken(.badSignature)
        case .unknownKey: throw broken(.unknownKey)
        case .unavailable: throw broken(.keysUnavailable)
        }
        guard issuer.accepts(token) else { throw broken(.wrongIssuer) }
        guard token.isFor(signIn.clientID) else { throw broken(.wrongAudience) }
        guard let expiresAt = token.expiresAt, let issuedAt = token.issuedAt else {
            throw broken(.malformedIDToken)
        }
        guard now < expiresAt + Self.leeway else { throw broken(.expired) }
        guard issuedAt <= now + Self.leeway else { throw broken(.issuedInFuture) }
        guard nonce.binds(token.nonce, to: signIn.rawNonce) || mayLackNonce && token.isWithoutNonce
        else { throw broken(.nonceMismatch) }
        guard let subject = token.subject else { throw broken(.missingSubject) }
        return VerifiedSignIn(
            subject: subject,
            issuedAt: issuedAt,
            expiresAt: expiresAt,
            authenticatedAt: min(token.authenticatedAt ?? issuedAt, issuedAt),
            fingerprint: signIn.idToken.withBytes { SHA256.hash($0) }
        )
    }

    private func broken(_ kind: SignInError.Kind) -> SignInError {
        SignInError(kind: kind, provider: provider)
    }
}

/// Which `iss` an id token may have.
enum IssuerRule: Sendable {
    /// One of these, compared byte for byte (OpenID Connect Core §3.1.3.7, point 2).
    case oneOf(Set<String>)
    /// A text with `{tenantid}` in it, filled with the token's own `tid` (Microsoft's issuer of
    /// many tenants).
    case perTenant(String)

    func accepts(_ token: IDToken) -> Bool {
        guard let issuer = token.issuer else { return false }
        switch self {
        case .oneOf(let issuers): return issuers.contains(issuer)
        case .perTenant(let template):
            guard let tenant = token.text("tid"), !tenant.isEmpty else { return false }
            return issuer == template.replacing("{tenantid}", with: tenant)
        }
    }
}

/// How an application's raw nonce becomes the `nonce` of an id token.
package enum NonceRule: String, Sendable, CaseIterable {
    case plain
    /// SHA-256, in lower-case hexadecimal or base64url.
    case sha256
    case any

    /// Whether `nonce` is bound to `rawNonce`; an empty or missing one never is.
    func binds(_ nonce: String?, to rawNonce: Secret) -> Bool {
        guard let nonce, rawNonce.count > 0 else { return false }
        let claimed = Secret(nonce)
        let isRaw = claimed.isEqual(to: rawNonce)
        let hash = rawNonce.withBytes { SHA256.hash($0) }
        let isEncoded = claimed.isEqual(to: Secret(Base64URL.text(hash)))
        let isHashed = claimed.isEqual(to: Secret(Hexadecimal.text(hash))) || isEncoded
        switch self {
        case .plain: return isRaw
        case .sha256: return isHashed
        case .any: return isRaw || isHashed
        }
    }
}
