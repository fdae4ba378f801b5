import Engine
import Lifecycle

/// Exchanges a signed assertion for a token (RFC 7523 §2.1).
struct AssertionExchange: Sendable {
    enum Result: Sendable {
        case fetched(ServiceAccountToken)
        case failed(EffectFailure)
    }

    /// Google accepts one hour at most, counted from `iat`; its tokens live as long.
    static let lifetime = Duration.seconds(3_600)
    /// A clock ahead of Google's makes an assertion invalid, so it is dated back this far.
    static let backdating = Duration.seconds(30)

    /// RFC 6749 §5.2, RFC 7521 §4.1.1: each of them says that account, key, scope or clock is
    /// wrong.
    static let replies = ReplyTable([
        ReplyRow(200, .tokens, .honoured),
        ReplyRow(400...401, .member("error", .isPresent), .failure(.misconfigured)),
        ReplyRow(403, .member("error", .isPresent), .failure(.misconfigured)),
    ])

    let endpoint: RemoteEndpoint
    let account: ServiceAccountKey
    let scope: String
    let signer: any MessageSigner
    let client: RemoteClient
    let now: @Sendable () -> WallTime

    func fetch() async -> Result {
        let start = now()
        guard let assertion = assertion(at: start) else { return .failed(.misconfigured) }
        var form = FormBody()
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        form.add("assertion", assertion)
        let outcome = await client.send(RemoteRequest(endpoint, .form(form)))
        let reading = Self.replies.read(outcome, now: now())
        if case .failure(let failure) = reading.meaning {
            // The account is refused here, not one of its users.
            return .failed(failure == .rejected ? .unusable : failure)
        }
        guard let grant = reading.grant else { return .failed(.unusable) }
        return .fetched(
            ServiceAccountToken(
                secret: grant.accessToken,
                expiresAt: start + min(grant.lifetime ?? .zero, Self.lifetime)
            )
        )
    }

    /// - Returns: `nil` when the key does not sign.
    private func assertion(at time: WallTime) -> [UInt8]? {
        let issuedAt = time - Self.backdating
        var claims = JSONBody()
        claims.add("iss", account.clientEmail)
        claims.add("scope", scope)
        claims.add("aud", account.tokenURL)
        claims.add("iat", Int(issuedAt.unixMilliseconds / 1000))
        claims.add("exp", Int((issuedAt + Self.lifetime).unixMilliseconds / 1000))
        do {
            return try CompactToken.sign(claims, header: [("kid", account.keyID)], by: signer)
        } catch {
            // The kind is always the same: libcrypto or the key's token failed.
            return nil
        }
    }
}
