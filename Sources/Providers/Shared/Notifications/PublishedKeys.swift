package import HTTP
package import Lifecycle
package import Logging
package import NIOCore
import NIOHTTP1

/// The key set behind one URL, fetched when a signature has to be checked.
package struct PublishedKeys: Sendable {
    let cache: SigningKeyCache
    private let http: RemoteClient?

    /// - Parameters:
    ///   - url: The address of the key set.
    ///   - settings: How it is reached.
    ///   - eventLoopGroup: Runs the connections; owned by the caller.
    ///   - now: The wall clock.
    ///   - logger: For debug lines of the HTTP client's shutdown.
    /// - Throws: ``SetupError`` when the URL or the CA file cannot be used.
    package init(
        at url: String,
        _ settings: RemoteSettings,
        eventLoopGroup: any EventLoopGroup,
        now: @escaping @Sendable () -> WallTime,
        logger: Logger
    ) throws(SetupError) {
        let base = try RemoteBaseURL(url, settings)
        let endpoint = try RemoteEndpoint(base, path: "", method: .GET)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try RemoteClient(
            settings,
            eventLoopGroup: eventLoopGroup,
            logger: logger
        )
        self.http = http
        cache = SigningKeyCache(now: now) {
            guard case .reply(let reply) = await http.send(RemoteRequest(endpoint)),
                reply.status == 200
            else { return nil }
            return SigningKeySet(reply.body)
        }
    }

    /// Keys that come from elsewhere.
    init(_ cache: SigningKeyCache) {
        self.cache = cache
        http = nil
    }

    func shutdown() async { await http?.shutdown() }
}
