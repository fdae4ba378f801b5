import Encoding
package import Engine
package import Lifecycle
import NIOHTTP1
import Synchronization

/// Access tokens of a service account: an assertion that we sign is exchanged for a bearer token
/// (RFC 7523 §2.1; "Using OAuth 2.0 for Server to Server Applications", developers.google.com).
///
/// A token is kept until shortly before it runs out and fetched by one caller at a time. In
/// emulator mode there is no account: Firebase's emulators take the token `owner`, and nothing
/// else does.
package final class ServiceAccountTokenSource: Sendable {
    /// A token, or why there is none.
    package enum Answer: Sendable {
        case token(Secret)
        case failure(EffectFailure)
    }

    /// A token is replaced this long before it runs out; longer than any call may take.
    static let margin = Duration.seconds(300)

    /// `nil` for an emulator.
    private let book: FetchedValue<ServiceAccountToken>?
    private let notes: FetchNotes
    private let now: @Sendable () -> WallTime

    /// Prepares the source; the caller shuts the client down.
    ///
    /// - Throws: ``SetupError`` for a key that does not make RS256, or a token URL that assertions
    ///   must not go to.
    package init(
        _ account: ServiceAccountKey,
        signer: any MessageSigner,
        scopes: [String],
        client: RemoteClient,
        settings: RemoteSettings,
        now: @escaping @Sendable () -> WallTime
    ) throws(SetupError) {
        guard signer.algorithm == .rs256 else {
            throw SetupError(kind: .wrongKeyAlgorithm, owner: settings.owner)
        }
        let exchange = AssertionExchange(
            endpoint: try RemoteEndpoint(whole: account.tokenURL, method: .POST, settings),
            account: account,
            scope: scopes.joined(separator: " "),
            signer: signer,
            client: client,
            now: now
        )
        let notes = FetchNotes()
        (self.notes, self.now) = (notes, now)
        book = FetchedValue(lifetime: AssertionExchange.lifetime, now: now) {
            switch await exchange.fetch() {
            case .fetched(let token): return token
            case .failed(let failure):
                notes.note(failure)
                return nil
            }
        }
    }

    /// A source for an emulator, which knows no accounts.
    package init(emulatorWith now: @escaping @Sendable () -> WallTime) {
        book = nil
        notes = FetchNotes()
        self.now = now
    }

    /// A token that lives for some minutes more, or why there is none; `.misconfigured` when Google
    /// refuses the account or the assertion.
    package func token() async -> Answer {
        guard let book else { return .token(Secret("owner")) }
        let rejected = notes.rejected
        let isGood = { @Sendable (token: ServiceAccountToken, time: WallTime) in
            token.expiresAt > time && rejected.map { token.secret.isEqual(to: $0) } != true
        }
        let soon = now() + Self.margin
        let known = await book.get { isGood($0, soon) }
        // One that is nearly over is better than none while Google's token service is down.
        if let known, isGood(known, now()) { return .token(known.secret) }
        return .failure(notes.failure)
    }

    /// Notes that an interface refused a token before its time, so that another one is fetched.
    package func reject(_ token: Secret) { notes.reject(token) }
}

struct ServiceAccountToken: Sendable {
    let secret: Secret
    let expiresAt: WallTime
}

/// What a failed fetch left behind, for those who waited for it.
private final class FetchNotes: Sendable {
    private struct Notes {
        var failure = EffectFailure.unreachable
        var rejected: Secret?
    }

    private let notes = Mutex(Notes())

    var failure: EffectFailure { notes.withLock { $0.failure } }
    var rejected: Secret? { notes.withLock { $0.rejected } }

    func note(_ failure: EffectFailure) { notes.withLock { $0.failure = failure } }

    func reject(_ token: Secret) { notes.withLock { $0.rejected = token } }
}

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

/// The key file of a Google service account, as the console hands it out.
///
/// Fields as in "Create and delete service account keys" (cloud.google.com/iam/docs).
package struct ServiceAccountKey: Sendable {
    /// Becomes `iss`; names a machine, not a person.
    package let clientEmail: String
    /// Becomes `kid`.
    package let keyID: String
    /// Where assertions go, and their `aud`.
    package let tokenURL: String
    package let projectID: String?
    /// PKCS#8 PEM.
    package let privateKey: Secret

    /// Reads the content of a key file; throws `malformedServiceAccount` for any other JSON.
    package init(file: Secret, of owner: RemoteOwner) throws(SetupError) {
        guard let json = JSONValue(file.withBytes { Array($0) }),
            json["type"]?.string == "service_account",
            let email = json["client_email"]?.string, !email.isEmpty,
            let keyID = json["private_key_id"]?.string, !keyID.isEmpty,
            let key = json["private_key"]?.string, !key.isEmpty
        else { throw SetupError(kind: .malformedServiceAccount, owner: owner) }
        clientEmail = email
        self.keyID = keyID
        tokenURL = json["token_uri"]?.string ?? "https://oauth2.googleapis.com/token"
        projectID = json["project_id"]?.string
        privateKey = Secret(key)
    }
}
