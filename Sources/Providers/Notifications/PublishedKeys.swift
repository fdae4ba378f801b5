package import Lifecycle
package import Logging
package import NIOCore
import NIOHTTP1

/// The key set behind one URL, fetched when a signature has to be checked.
package struct PublishedKeys: Sendable {
    let cache: SigningKeyCache
    private let http: ProviderHTTPClient?

    /// - Parameters:
    ///   - url: The address of the key set.
    ///   - settings: How it is reached.
    ///   - eventLoopGroup: Runs the connections; owned by the caller.
    ///   - now: The wall clock.
    ///   - logger: For debug lines of the HTTP client's shutdown.
    /// - Throws: ``ProviderError`` when the URL or the CA file cannot be used.
    package init(
        at url: String,
        _ settings: ProviderHTTPSettings,
        eventLoopGroup: any EventLoopGroup,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) throws(ProviderError) {
        let base = try ProviderBaseURL(url, settings)
        let endpoint = try ProviderEndpoint(base, path: "", method: .GET)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try ProviderHTTPClient(
            settings,
            eventLoopGroup: eventLoopGroup,
            logger: logger
        )
        self.http = http
        cache = SigningKeyCache(now: now) {
            guard case .reply(let reply) = await http.send(ProviderRequest(endpoint)),
                reply.status == 200
            else { return nil }
            return await SigningKeySet(reply.body)
        }
    }

    /// Keys that come from elsewhere.
    init(_ cache: SigningKeyCache) {
        self.cache = cache
        http = nil
    }

    func shutdown() async { await http?.shutdown() }
}
