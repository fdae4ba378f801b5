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

/// A token and its end.
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
