package import Lifecycle

/// How one provider is reached, whatever its hosts are.
package struct ProviderHTTPSettings: Sendable {
    package let name: ProviderName
    /// Permits `http://` for a loopback host, and for no other.
    package var allowsPlainLoopback: Bool
    /// PEM file of the only roots to trust; `nil` trusts the system's.
    package var caFile: String?
    /// The most calls at a time; the connection pool is as large.
    package var concurrency: Int
    /// Name resolution, connect and TLS together, waiting for a free connection included.
    package var timeoutConnect: Duration
    /// The whole call.
    package var timeoutTotal: Duration

    /// The defaults are the deadlines that every provider gets unless configured: 5 s is far above
    /// any round trip and below the point where a dead address holds up its neighbours; 30 s is
    /// what vendors' own SDKs wait.
    package init(
        name: ProviderName,
        allowsPlainLoopback: Bool = false,
        caFile: String? = nil,
        concurrency: Int = 64
    ) {
        self.name = name
        self.allowsPlainLoopback = allowsPlainLoopback
        self.caFile = caFile
        self.concurrency = concurrency
        timeoutConnect = .seconds(5)
        timeoutTotal = .seconds(30)
    }
}
