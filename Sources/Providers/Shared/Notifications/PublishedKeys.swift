package import HTTP
import NIOHTTP1

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
