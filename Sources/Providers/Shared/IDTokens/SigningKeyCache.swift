package import HTTP
import Lifecycle
import NIOHTTP1

/// Keeps a provider's key set for an hour; a key id that the set lacks fetches it again, at most
/// once a minute.
struct SigningKeyCache: Sendable {
    static let lifetime = Duration.seconds(3600)

    private let keys: FetchedValue<SigningKeySet>

    /// `fetch` is bounded in time by itself.
    init(
        now: @escaping @Sendable () -> WallTime,
        fetch: @escaping @Sendable () async -> SigningKeySet?
    ) {
        keys = FetchedValue(lifetime: Self.lifetime, now: now, fetch: fetch)
    }

    /// The set, fetched where it lacks `keyID` and that may help; `nil` when it cannot be read.
    func set(for keyID: String) async -> SigningKeySet? {
        await keys.get(where: { $0.contains(keyID) })
    }

    /// Checks a signature.
    ///
    /// The key decides the algorithm: what the token says about it must only agree.
    nonisolated func judge(_ token: IDToken) async -> TokenSignature {
        guard SigningKeySet.algorithms.contains(token.algorithm) else { return .bad }
        guard let keyID = token.keyID else { return .unknownKey }
        guard let keys = await set(for: keyID) else { return .unavailable }
        guard keys.contains(keyID) else { return .unknownKey }
        return keys.verify(token) ? .valid : .bad
    }
}

/// What the published keys say about a token's signature.
enum TokenSignature: Sendable {
    case valid
    case bad
    /// No published key has the token's key id.
    case unknownKey
    /// The keys cannot be read now.
    case unavailable
}

/// The key set behind one URL, fetched when a signature has to be checked.
package struct PublishedKeys: Sendable {
    let cache: SigningKeyCache
    private let http: RemoteClient?

    /// - Throws: ``SetupError`` when the URL or the CA file cannot be used.
    package init(
        at url: String,
        _ settings: RemoteSettings,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let base = try RemoteBaseURL(url, settings)
        let endpoint = try RemoteEndpoint(base, path: "", method: .GET)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try RemoteClient(settings, in: environment)
        self.http = http
        cache = SigningKeyCache(now: environment.now) { await http.keySet(at: endpoint) }
    }

    init(_ cache: SigningKeyCache) {
        self.cache = cache
        http = nil
    }

    /// Why the signature of a token is not good; `nil` when it is.
    func problem(with token: IDToken) async -> NotificationRefusal.Kind? {
        switch await cache.judge(token) {
        case .valid: nil
        case .bad: .badSignature
        case .unknownKey: .unknownKey
        case .unavailable: .keysUnavailable
        }
    }

    func shutdown() async { await http?.shutdown() }
}
