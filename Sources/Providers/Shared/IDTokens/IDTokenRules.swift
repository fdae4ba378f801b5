import Cryptography
import Encoding
import Engine
import Lifecycle

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

    /// - Throws: ``SignInError`` for the first rule that is broken.
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
