package import Lifecycle
package import NIOSSL

/// How one provider or store is reached, whatever its hosts are.
package struct RemoteSettings: Sendable {
    /// Bytes of an answer's body unless told; the largest one that a provider documents, a key
    /// set, is below 8 KiB.
    package static let answerMaxDefault = 65_536

    package let owner: RemoteOwner
    /// Permits `http://` for a loopback host alone.
    package var allowsPlainLoopback: Bool
    /// Permits connections to private, link-local and loopback addresses (RFC 6890).
    package var allowsPrivateAddresses = true
    /// PEM file of the only roots to trust; `nil` trusts the system's.
    package var caFile: String?
    /// Calls at a time; the connection pool is as large.
    package var concurrency: Int
    /// Bytes of an answer's body; a longer answer is dropped unread.
    package var answerMax = RemoteSettings.answerMaxDefault
    /// Name resolution, connect and TLS together, waiting for a free connection included.
    package var timeoutConnect = Duration.seconds(5)
    package var timeoutTotal = Duration.seconds(30)

    package var name: ProviderName { ProviderName(owner.name) }

    /// The defaults are the deadlines that every provider gets unless configured: 5 s is far above
    /// any round trip and below the point where a dead address holds up its neighbours; 30 s is
    /// what vendors' own SDKs wait.
    package init(
        owner: RemoteOwner,
        allowsPlainLoopback: Bool = false,
        caFile: String? = nil,
        concurrency: Int = 64
    ) {
        (self.owner, self.allowsPlainLoopback) = (owner, allowsPlainLoopback)
        (self.caFile, self.concurrency) = (caFile, concurrency)
    }

    package init(name: ProviderName) { self.init(owner: .provider(name)) }
}

extension RemoteSettings {
    /// TLS 1.2 or newer with full verification, by the system's authorities or by those of
    /// ``caFile`` alone.
    ///
    /// - Throws: ``SetupError`` when the file cannot be used.
    package func tlsConfiguration() throws(SetupError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        guard let caFile else { return tls }
        do {
            let roots = try NIOSSLCertificate.fromPEMFile(caFile)
            guard !roots.isEmpty else {
                throw SetupError(kind: .unreadableCAFile, owner: owner)
            }
            tls.trustRoots = .certificates(roots)
        } catch {
            throw SetupError(kind: .unreadableCAFile, owner: owner)
        }
        return tls
    }
}
